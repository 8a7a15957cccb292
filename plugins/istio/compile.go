package main

import (
	"cmp"
	"encoding/json"
	"fmt"

	httpauthz "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	networkauthz "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/ext_authz/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	meshconfig "istio.io/api/mesh/v1alpha1"
	"istio.io/istio/pilot/pkg/config/memory"
	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/pkg/security/authz/builder"
	"istio.io/istio/pilot/pkg/security/trustdomain"
	"istio.io/istio/pkg/config"
	"istio.io/istio/pkg/config/host"
	"istio.io/istio/pkg/config/mesh"
	"istio.io/istio/pkg/config/schema/collections"
	"istio.io/istio/pkg/util/protomarshal"
)

// watcher gives istiod a mesh config that does not change.
type watcher struct {
	model.Watcher
	config *meshconfig.MeshConfig
}

func (w watcher) Mesh() *meshconfig.MeshConfig { return w.config }

// meshConfig is Istio's default with the options of a case.
func (o options) meshConfig() (*meshconfig.MeshConfig, error) {
	out := mesh.DefaultMeshConfig()
	out.RootNamespace = cmp.Or(o.Istio.RootNamespace, out.RootNamespace)
	out.TrustDomain = cmp.Or(o.Istio.TrustDomain, o.TrustDomain, out.TrustDomain)
	out.TrustDomainAliases = o.Istio.TrustDomainAliases
	for _, provider := range o.Istio.ExtensionProviders {
		read := &meshconfig.MeshConfig_ExtensionProvider{}
		if err := protomarshal.ApplyJSON(string(provider), read); err != nil {
			return nil, fmt.Errorf("read an entry of extensionProviders: %w", err)
		}
		out.ExtensionProviders = append(out.ExtensionProviders, read)
	}
	return out, nil
}

// compile returns the filters that istiod sends to the sidecar of an inbound.
func compile(in inbound, policies []config.Config, opts options) (filters, error) {
	own, err := opts.meshConfig()
	if err != nil {
		return filters{}, err
	}
	store := memory.Make(collections.Pilot)
	for _, one := range policies {
		if _, err := store.Create(one); err != nil {
			return filters{}, fmt.Errorf("store %s/%s: %w", one.Namespace, one.Name, err)
		}
	}
	push := &model.PushContext{
		Mesh:          own,
		AuthzPolicies: model.GetAuthorizationPolicies(&model.Environment{ConfigStore: store, Watcher: watcher{config: own}}),
	}
	proxy := &model.Proxy{
		Type: model.SidecarProxy, ConfigNamespace: in.Workload.Namespace, Labels: in.Workload.Labels,
		Metadata: &model.NodeMetadata{Namespace: in.Workload.Namespace, Labels: in.Workload.Labels},
	}
	// The services of all authorizers are there.
	push.ServiceIndex.HostnameAndNamespace = map[host.Name]map[string]*model.Service{}
	for _, provider := range own.ExtensionProviders {
		name := host.Name(provider.GetEnvoyExtAuthzGrpc().GetService())
		push.ServiceIndex.HostnameAndNamespace[name] = map[string]*model.Service{"default": {Hostname: name}}
	}
	selected := push.AuthzPolicies.ListAuthorizationPolicies(model.PolicyMatcherForProxy(proxy).WithRootNamespace(own.RootNamespace))
	var out filters
	// A sidecar has the filters of CUSTOM in front.
	for _, custom := range []bool{true, false} {
		made := builder.New(trustdomain.NewBundle(own.TrustDomain, own.TrustDomainAliases), push, selected, builder.Option{IsCustomBuilder: custom})
		if made == nil {
			continue
		}
		if in.Protocol == "tcp" {
			for _, filter := range made.BuildTCP() {
				if out.Network, err = appendRBAC(out.Network, filter.GetTypedConfig()); err != nil {
					return filters{}, err
				}
			}
			continue
		}
		for _, filter := range made.BuildHTTP() {
			if out.HTTP, err = appendRBAC(out.HTTP, filter.GetTypedConfig()); err != nil {
				return filters{}, err
			}
		}
	}
	return out, nil
}

// appendRBAC adds a filter of RBAC. The protocol has no words for the filter that asks an
// authorizer, which stands behind the RBAC filter of CUSTOM.
func appendRBAC(to []json.RawMessage, packed *anypb.Any) ([]json.RawMessage, error) {
	message, err := packed.UnmarshalNew()
	if err != nil {
		return nil, fmt.Errorf("read a filter of Istio: %w", err)
	}
	switch message.(type) {
	case *httpauthz.ExtAuthz, *networkauthz.ExtAuthz:
		return to, nil
	}
	text, err := printMessage(message)
	return append(to, text), err
}

func printMessage(m proto.Message) (json.RawMessage, error) {
	return protojson.MarshalOptions{}.Marshal(m)
}
