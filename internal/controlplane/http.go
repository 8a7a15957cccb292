package controlplane

import (
	"fmt"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	statevaluev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/set_filter_state/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	setstatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/set_filter_state/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/internal/authorizerfilter"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/normalization"
	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/internal/tokenfilter"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// CallerHeader is the request header that tells the upstream which caller sent a request.
// Its value is the source address that the caller plays, and behind a space the secret of the
// upstream. Envoy overwrites what a caller writes there.
const CallerHeader = "x-meshproof-caller"

// The secret stands in the metadata of the cluster, so no listener has it.
const (
	secretNamespace = "meshproof"
	secretKey       = "secret"
	shownSecret     = " %CLUSTER_METADATA(" + secretNamespace + ":" + secretKey + ")%"
	callerFormat    = "%DOWNSTREAM_REMOTE_ADDRESS%"
)

// callerFormat returns the text that names the caller of a request. Where a header gives the
// remote address, only the connection knows the address that the caller plays.
func (i Inbound) callerFormat() string {
	if i.TrustedHops > 0 {
		return "%FILTER_STATE(" + callerState + ":PLAIN)%"
	}
	return callerFormat
}

// callerState is the filter state of a connection that has the address of its caller.
const callerState = "meshproof.caller"

// rememberCaller keeps the address of the caller for the requests of a connection.
func rememberCaller() *setstatev3.Config {
	return &setstatev3.Config{OnNewConnection: []*statevaluev3.FilterStateValue{{
		Key: &statevaluev3.FilterStateValue_ObjectKey{ObjectKey: callerState},
		// The factory makes a text.
		FactoryKey: "envoy.string",
		Value: &statevaluev3.FilterStateValue_FormatString{FormatString: &corev3.SubstitutionFormatString{
			Format: &corev3.SubstitutionFormatString_TextFormatSource{TextFormatSource: &corev3.DataSource{
				Specifier: &corev3.DataSource_InlineString{InlineString: callerFormat},
			}},
		}},
	}}}
}

// httpManager builds the HTTP connection manager of an inbound. The manager takes the
// address of the caller from the connection, unless the inbound trusts a header. It adds only
// [CallerHeader] and XFCC to the request.
func (i Inbound) httpManager(auth xds.Filters) (*hcmv3.HttpConnectionManager, error) {
	_, places := placesOf(auth)
	routes, err := i.routeConfig(auth, places)
	if err != nil {
		return nil, err
	}
	hcm := &hcmv3.HttpConnectionManager{
		StatPrefix:                  i.Stat,
		CodecType:                   hcmv3.HttpConnectionManager_HTTP2,
		UseRemoteAddress:            wrapperspb.Bool(true),
		XffNumTrustedHops:           uint32(i.TrustedHops),
		SkipXffAppend:               true,
		GenerateRequestId:           wrapperspb.Bool(false),
		DelayedCloseTimeout:         durationpb.New(0),
		StreamIdleTimeout:           i.patience(),
		AccessLog:                   []*accesslogv3.AccessLog{i.requestLog()},
		RouteSpecifier:              &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: routes},
		ForwardClientCertDetails:    hcmv3.HttpConnectionManager_SANITIZE_SET,
		SetCurrentClientCertDetails: &hcmv3.HttpConnectionManager_SetCurrentClientCertDetails{Uri: true},
	}
	if i.Protocol == policy.HTTP {
		hcm.CodecType = hcmv3.HttpConnectionManager_HTTP1
	}
	normalization.Set(hcm, i.Normalization)
	// Istio asks an authorizer before it verifies a token.
	tokens := i.addTokens
	for n, filter := range auth.HTTP {
		if !places[n].Asks {
			if err := tokens(hcm); err != nil {
				return nil, err
			}
			tokens = func(*hcmv3.HttpConnectionManager) error { return nil }
		}
		if places[n].Logs {
			if err := addHTTPFilter(hcm, observerName(n), observeLog(filter.Rules, places[n])); err != nil {
				return nil, err
			}
		}
		if err := addHTTPFilter(hcm, httpFilterName(n), placedHTTP(filter, places[n])); err != nil {
			return nil, err
		}
		if a, ok := auth.HTTPAsks[n]; ok {
			asks := authorizerfilter.HTTP(a, prefixOf(places[n]), controlPlaneService())
			if err := addHTTPFilter(hcm, fmt.Sprintf("envoy.filters.http.ext_authz.%d", n), asks); err != nil {
				return nil, err
			}
		}
	}
	if err := tokens(hcm); err != nil {
		return nil, err
	}
	return hcm, addHTTPFilter(hcm, "envoy.filters.http.router", &routerv3.Router{})
}

// addTokens adds the filter that verifies tokens, if the inbound reads any.
func (i Inbound) addTokens(hcm *hcmv3.HttpConnectionManager) error {
	if !i.Tokens.Reads() {
		return nil
	}
	filter, err := tokenfilter.Filter(i.Tokens)
	if err != nil {
		return err
	}
	return addHTTPFilter(hcm, rbac.TokenFilter, filter)
}

func addHTTPFilter(hcm *hcmv3.HttpConnectionManager, name string, config proto.Message) error {
	packed, err := messages.Pack(config)
	if err != nil {
		return err
	}
	hcm.HttpFilters = append(hcm.HttpFilters, &hcmv3.HttpFilter{
		Name:       name,
		ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: packed},
	})
	return nil
}

// httpFilterName returns the name that a route gives to the filter that it replaces.
func httpFilterName(index int) string {
	if index == 0 {
		return "envoy.filters.http.rbac"
	}
	return fmt.Sprintf("envoy.filters.http.rbac.%d", index)
}

// observerName returns the name of the filter that observes a filter that only logs.
func observerName(index int) string { return fmt.Sprintf("meshproof.effective_policy.%d", index) }

// observeLog returns a filter whose shadow allows what the given rules log. Its counters
// count what was logged: Envoy has no other counter for that.
func observeLog(rules *rbacv3.RBAC, place xds.FilterPlace) *httprbacv3.RBAC {
	return &httprbacv3.RBAC{ShadowRules: allowing(rules), ShadowRulesStatPrefix: effectivePrefix + prefixOf(place)}
}

// routeConfig returns the routes that replace the filters at the given places, and a route
// for all other requests, unless the inbound serves its routes only.
func (i Inbound) routeConfig(auth xds.Filters, places []xds.FilterPlace) (*routev3.RouteConfiguration, error) {
	routes := make([]*routev3.Route, 0, len(auth.Routes)+1)
	for _, route := range auth.Routes {
		filters := make(map[string]*anypb.Any, len(places))
		for n, place := range places {
			// Without a filter, Envoy asks nothing at this place.
			var replacement, observer *httprbacv3.RBAC
			if n < len(route.HTTP) {
				replacement = placedHTTP(route.HTTP[n], place)
				observer = observeLog(replacement.Rules, place)
			}
			var err error
			if filters[httpFilterName(n)], err = messages.Pack(&httprbacv3.RBACPerRoute{Rbac: replacement}); err != nil {
				return nil, err
			}
			if place.Logs {
				if filters[observerName(n)], err = messages.Pack(&httprbacv3.RBACPerRoute{Rbac: observer}); err != nil {
					return nil, err
				}
			}
		}
		routes = append(routes, &routev3.Route{
			Name: route.Name, Match: route.Match, Action: i.toUpstream(), TypedPerFilterConfig: filters,
		})
	}
	if !auth.RoutesOnly {
		routes = append(routes, &routev3.Route{Match: &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: ""}}, Action: i.toUpstream()})
	}
	return &routev3.RouteConfiguration{
		Name: "inbound",
		VirtualHosts: []*routev3.VirtualHost{{
			Name:    "inbound",
			Domains: []string{"*"},
			Routes:  routes,
		}},
		RequestHeadersToAdd: []*corev3.HeaderValueOption{{
			Header:       &corev3.HeaderValue{Key: CallerHeader, Value: i.callerFormat() + shownSecret},
			AppendAction: corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD,
		}},
	}, nil
}

// toUpstream does not repeat a request of an outbound: an application that breaks its answer
// is then what a case asks for.
func (i Inbound) toUpstream() *routev3.Route_Route {
	action := &routev3.RouteAction{ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: upstreamHTTP}, Timeout: i.patience()}
	if !i.BehindOutbounds {
		// A pooled connection may end just as Envoy uses it again. This happens behind
		// every policy. A request that arrived twice would be found.
		action.RetryPolicy = &routev3.RetryPolicy{RetryOn: "reset,connect-failure", NumRetries: wrapperspb.UInt32(3)}
	}
	return &routev3.Route_Route{Route: action}
}
