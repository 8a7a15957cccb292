package xds

import (
	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/policy"
)

// CallerHeader is the request header in which the upstream learns which caller a
// request came from: the source address that the caller plays. Envoy overwrites
// what a caller puts there.
const CallerHeader = "x-meshproof-caller"

// httpManager builds the HTTP connection manager of an inbound. It takes the
// caller's address from the connection, never from a header, and it adds nothing
// to the request but [CallerHeader] and XFCC.
func (i Inbound) httpManager(auth Filters) (*hcmv3.HttpConnectionManager, error) {
	hcm := &hcmv3.HttpConnectionManager{
		StatPrefix:                  i.Stat,
		CodecType:                   hcmv3.HttpConnectionManager_HTTP2,
		UseRemoteAddress:            wrapperspb.Bool(true),
		SkipXffAppend:               true,
		GenerateRequestId:           wrapperspb.Bool(false),
		NormalizePath:               wrapperspb.Bool(!i.Normalization.Raw),
		MergeSlashes:                !i.Normalization.KeepSlashes,
		DelayedCloseTimeout:         durationpb.New(0),
		AccessLog:                   []*accesslogv3.AccessLog{requestLog()},
		RouteSpecifier:              &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: routes()},
		ForwardClientCertDetails:    hcmv3.HttpConnectionManager_SANITIZE_SET,
		SetCurrentClientCertDetails: &hcmv3.HttpConnectionManager_SetCurrentClientCertDetails{Uri: true},
	}
	if i.Protocol == policy.HTTP {
		hcm.CodecType = hcmv3.HttpConnectionManager_HTTP1
	}
	switch i.Normalization.EscapedSlashes {
	case policy.RejectEscapedSlashes:
		hcm.PathWithEscapedSlashesAction = hcmv3.HttpConnectionManager_REJECT_REQUEST
	case policy.KeepEscapedSlashes:
		hcm.PathWithEscapedSlashesAction = hcmv3.HttpConnectionManager_KEEP_UNCHANGED
	case policy.UnescapeSlashes:
		hcm.PathWithEscapedSlashesAction = hcmv3.HttpConnectionManager_UNESCAPE_AND_FORWARD
	}
	for _, filter := range auth.HTTP {
		if err := addHTTPFilter(hcm, "envoy.filters.http.rbac", filter); err != nil {
			return nil, err
		}
	}
	return hcm, addHTTPFilter(hcm, "envoy.filters.http.router", &routerv3.Router{})
}

func addHTTPFilter(hcm *hcmv3.HttpConnectionManager, name string, config proto.Message) error {
	packed, err := toAny(config)
	if err != nil {
		return err
	}
	hcm.HttpFilters = append(hcm.HttpFilters, &hcmv3.HttpFilter{
		Name:       name,
		ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: packed},
	})
	return nil
}

func routes() *routev3.RouteConfiguration {
	return &routev3.RouteConfiguration{
		Name: "inbound",
		VirtualHosts: []*routev3.VirtualHost{{
			Name:    "inbound",
			Domains: []string{"*"},
			Routes: []*routev3.Route{{
				Match:  &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: ""}},
				Action: &routev3.Route_Route{Route: &routev3.RouteAction{ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: upstreamHTTP}}},
			}},
		}},
		RequestHeadersToAdd: []*corev3.HeaderValueOption{{
			Header:       &corev3.HeaderValue{Key: CallerHeader, Value: "%DOWNSTREAM_REMOTE_ADDRESS%"},
			AppendAction: corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD,
		}},
	}
}
