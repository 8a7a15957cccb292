package main

import (
	"encoding/json"
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tcpproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// question has the fields of the metadata under "meshproof" that this control plane reads.
type question struct {
	Inbound struct {
		Name     string          `json:"name"`
		Port     uint16          `json:"port"`
		Protocol policy.Protocol `json:"protocol"`
		Workload policy.Workload `json:"workload"`
	} `json:"inbound"`
	Policies []json.RawMessage `json:"policies"`
	Options  json.RawMessage   `json:"options"`
}

// options reads the options as the dialects of meshproof do. JSON is YAML.
func (q question) options() (out language.Options, err error) {
	var named struct {
		TrustDomain string `json:"trustDomain"`
	}
	if err := json.Unmarshal(q.Options, &named); err != nil {
		return out, err
	}
	if out.TrustDomain, err = spiffeid.TrustDomainFromString(named.TrustDomain); err != nil {
		return out, err
	}
	docs, err := manifest.Parse("options", q.Options)
	if err != nil {
		return out, err
	}
	out.Document = docs[0].WithoutKey("trustDomain")
	return out, nil
}

// listenerFor compiles the policies of a node.
func listenerFor(node *corev3.Node) ([]*anypb.Any, error) {
	text, err := protojson.Marshal(node.GetMetadata().GetFields()["meshproof"])
	if err != nil {
		return nil, err
	}
	var q question
	if err := json.Unmarshal(text, &q); err != nil {
		return nil, err
	}
	var docs []manifest.Document
	for _, raw := range q.Policies {
		// JSON is YAML.
		read, err := manifest.Parse("policy", raw)
		if err != nil {
			return nil, err
		}
		docs = append(docs, read...)
	}
	options, err := q.options()
	if err != nil {
		return nil, err
	}
	set, err := dialect.Parse(docs, options)
	if err != nil {
		return nil, err
	}
	in := policy.Inbound{Workload: q.Inbound.Workload, Name: q.Inbound.Name, Port: q.Inbound.Port, Protocol: q.Inbound.Protocol}
	filters, err := xds.Compile(set.Program(in).Program)
	if err != nil {
		return nil, err
	}
	listener, err := buildListener(in, filters)
	if err != nil {
		return nil, err
	}
	resource, err := anypb.New(listener)
	return []*anypb.Any{resource}, err
}

// buildListener returns a listener with the authorization filters before the filter that they guard.
func buildListener(in policy.Inbound, filters xds.Filters) (*listenerv3.Listener, error) {
	chain := &listenerv3.FilterChain{}
	for _, rbac := range filters.Network {
		rbac.StatPrefix = "rbac"
		if err := addFilter(chain, "envoy.filters.network.rbac", rbac); err != nil {
			return nil, err
		}
	}
	if in.Protocol.Layer() == policy.L4 {
		err := addFilter(chain, "envoy.filters.network.tcp_proxy", &tcpproxyv3.TcpProxy{
			StatPrefix: "app", ClusterSpecifier: &tcpproxyv3.TcpProxy_Cluster{Cluster: "app"},
		})
		return newListener(in, chain), err
	}
	hcm := &hcmv3.HttpConnectionManager{
		StatPrefix:     "app",
		RouteSpecifier: &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: &routev3.RouteConfiguration{Name: "app"}},
		// Without these settings a caller could choose the spelling of the judged path.
		NormalizePath:                wrapperspb.Bool(true),
		MergeSlashes:                 true,
		PathWithEscapedSlashesAction: hcmv3.HttpConnectionManager_REJECT_REQUEST,
	}
	addHTTP := func(name string, m proto.Message) error {
		config, err := anypb.New(m)
		hcm.HttpFilters = append(hcm.HttpFilters, &hcmv3.HttpFilter{Name: name, ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: config}})
		return err
	}
	for _, rbac := range filters.HTTP {
		if err := addHTTP("envoy.filters.http.rbac", rbac); err != nil {
			return nil, err
		}
	}
	if err := addHTTP("envoy.filters.http.router", &routerv3.Router{}); err != nil {
		return nil, err
	}
	return newListener(in, chain), addFilter(chain, "envoy.filters.network.http_connection_manager", hcm)
}

// addFilter adds a network filter to the chain.
func addFilter(chain *listenerv3.FilterChain, name string, m proto.Message) error {
	config, err := anypb.New(m)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	chain.Filters = append(chain.Filters, &listenerv3.Filter{Name: name, ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: config}})
	return nil
}

// newListener returns an inbound listener with one filter chain.
func newListener(in policy.Inbound, chain *listenerv3.FilterChain) *listenerv3.Listener {
	return &listenerv3.Listener{
		Name: fmt.Sprintf("inbound:10.0.0.1:%d", in.Port), TrafficDirection: corev3.TrafficDirection_INBOUND,
		Address: &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
			Address: "10.0.0.1", PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: uint32(in.Port)},
		}}},
		FilterChains: []*listenerv3.FilterChain{chain},
	}
}
