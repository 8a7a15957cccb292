// Package probe asks an Envoy how it behaves where releases differ. [Chain] is a filter
// chain for a listener of the lab, and [Ask] sends the questions of all behaviours over one
// connection to it.
//
// It guarantees that an answer is the answer of the filter: a request that must be refused
// and a request that must pass go before the questions. Anything else than these answers is
// an error, never a behaviour.
package probe

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/messages"
)

const (
	refusedPath = "/refused"
	headerLines = "x-meshproof-lines"
	regexBytes  = "x-meshproof-regex"
	routeLines  = "x-meshproof-route"
	duration    = "x-meshproof-duration"
)

// question is a request that an Envoy with the fix refuses, and an Envoy without it serves.
type question struct {
	path, headers string
	// rule is what the filter refuses, nil where a route does it.
	rule *rbacv3.Permission
	// route are the headers by which a route of its own refuses, nil where the filter does it.
	route []*routev3.HeaderMatcher
}

var questions = [...]question{
	behavior.DotParameters: {
		path: "/x/..;y=1" + refusedPath,
		rule: &rbacv3.Permission{Rule: &rbacv3.Permission_UrlPath{UrlPath: &matcherv3.PathMatcher{
			Rule: &matcherv3.PathMatcher_Path{Path: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: refusedPath}}},
		}}},
	},
	behavior.HeaderLines: {
		path: "/", headers: headerLines + ": one\r\n" + headerLines + ": two\r\n",
		rule: header(headerLines, &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: "one"}}),
	},
	behavior.RegexBytes: {
		path: "/", headers: regexBytes + ": x\xff\r\n",
		rule: header(regexBytes, &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: "x."}}}),
	},
	behavior.RouteLines: {
		path: "/", headers: routeLines + ": one\r\n" + routeLines + ": two\r\n",
		route: []*routev3.HeaderMatcher{matcher(routeLines, &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: "one"}})},
	},
	// An Envoy with the fix drops the header before it looks for a route.
	behavior.StreamDuration: {
		path: "/", headers: duration + ": 1\r\n" + behavior.StreamDurationHeader + ": 1000\r\n",
		route: []*routev3.HeaderMatcher{present(duration, true), present(behavior.StreamDurationHeader, false)},
	},
}

func header(name string, value *matcherv3.StringMatcher) *rbacv3.Permission {
	return &rbacv3.Permission{Rule: &rbacv3.Permission_Header{Header: matcher(name, value)}}
}

func matcher(name string, value *matcherv3.StringMatcher) *routev3.HeaderMatcher {
	return &routev3.HeaderMatcher{Name: name, HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: value}}
}

func present(name string, is bool) *routev3.HeaderMatcher {
	return &routev3.HeaderMatcher{Name: name, HeaderMatchSpecifier: &routev3.HeaderMatcher_PresentMatch{PresentMatch: is}}
}

// Chain returns the filter chain of the questions: it refuses what the rules and the routes
// of the questions name, and answers 200 to everything else. It has no match.
func Chain() *listenerv3.FilterChain {
	refused := &rbacv3.Policy{Principals: []*rbacv3.Principal{{Identifier: &rbacv3.Principal_Any{Any: true}}}}
	var routes []*routev3.Route
	for _, q := range questions {
		if q.route != nil {
			routes = append(routes, answer(http.StatusForbidden, q.route...))
		} else {
			refused.Permissions = append(refused.Permissions, q.rule)
		}
	}
	manager := &hcmv3.HttpConnectionManager{
		StatPrefix:    "probe",
		CodecType:     hcmv3.HttpConnectionManager_HTTP1,
		NormalizePath: wrapperspb.Bool(true),
		HttpFilters: []*hcmv3.HttpFilter{
			httpFilter("envoy.filters.http.rbac", &httprbacv3.RBAC{Rules: &rbacv3.RBAC{
				Action: rbacv3.RBAC_DENY, Policies: map[string]*rbacv3.Policy{"refused": refused},
			}}),
			httpFilter("envoy.filters.http.router", &routerv3.Router{}),
		},
		RouteSpecifier: &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: &routev3.RouteConfiguration{
			VirtualHosts: []*routev3.VirtualHost{{Name: "probe", Domains: []string{"*"}, Routes: append(routes, answer(http.StatusOK))}},
		}},
	}
	return &listenerv3.FilterChain{Name: "probe", Filters: []*listenerv3.Filter{{
		Name:       "envoy.filters.network.http_connection_manager",
		ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: pack(manager)},
	}}}
}

// answer is a route that answers by itself to the requests that have the headers.
func answer(status uint32, headers ...*routev3.HeaderMatcher) *routev3.Route {
	return &routev3.Route{
		Match:  &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}, Headers: headers},
		Action: &routev3.Route_DirectResponse{DirectResponse: &routev3.DirectResponseAction{Status: status}},
	}
}

func httpFilter(name string, config proto.Message) *hcmv3.HttpFilter {
	return &hcmv3.HttpFilter{Name: name, ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: pack(config)}}
}

func pack(m proto.Message) *anypb.Any { return messages.MustPack(m) }

// Ask asks all questions over a connection to the chain, one after the other: Envoy closes
// a connection on which many requests wait. The error says which answer was none.
func Ask(conn io.ReadWriter) (behavior.Set, error) {
	reader := bufio.NewReader(conn)
	fail := func(err error) (behavior.Set, error) {
		return behavior.Set{}, fmt.Errorf("probe: ask Envoy how it behaves: %w", err)
	}
	for _, control := range []struct {
		path    string
		refused bool
	}{{refusedPath, true}, {"/", false}} {
		refused, err := question{path: control.path}.ask(conn, reader)
		if err == nil && refused != control.refused {
			err = errors.New("the RBAC filter does not do what its rules say")
		}
		if err != nil {
			return fail(fmt.Errorf("control %s: %w", control.path, err))
		}
	}
	var out behavior.Set
	for _, b := range behavior.All {
		refused, err := questions[b].ask(conn, reader)
		if err != nil {
			return fail(fmt.Errorf("%s: %w", b, err))
		}
		out = out.Change(b, refused)
	}
	return out, nil
}

// ask sends the question, and reports whether it is refused.
func (q question) ask(to io.Writer, from *bufio.Reader) (refused bool, err error) {
	if _, err := fmt.Fprintf(to, "GET %s HTTP/1.1\r\nhost: probe\r\n%s\r\n", q.path, q.headers); err != nil {
		return false, err
	}
	answer, err := http.ReadResponse(from, nil)
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return false, err
	}
	switch answer.StatusCode {
	case http.StatusForbidden, http.StatusOK:
		return answer.StatusCode == http.StatusForbidden, nil
	default:
		return false, fmt.Errorf("the answer is %d, neither 200 nor 403", answer.StatusCode)
	}
}
