package sidecar

import (
	"fmt"
	"slices"
	"strings"

	mutationrulesv3 "github.com/envoyproxy/go-control-plane/envoy/config/common/mutation_rules/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	apikeyauthv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/api_key_auth/v3"
	basicauthv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/basic_auth/v3"
	compressorv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/compressor/v3"
	decompressorv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/decompressor/v3"
	transcoderv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/grpc_json_transcoder/v3"
	grpcwebv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/grpc_web/v3"
	headertometadatav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_to_metadata/v3"
	localratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"
	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ratelimit/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
	"github.com/meshproof/meshproof/xds/lift"
)

// rewritten is a setting of a listener that changes what the filters see of an attribute. The
// lab sends its requests to a listener without it.
type rewritten struct {
	attribute func(*policy.Attribute) bool
	setting   string
	// inFront is set where it changes what the filter for tokens reads, too.
	inFront bool
}

// rewritesOf returns the settings of a connection manager that change requests in front of all
// filters, see envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.
func rewritesOf(m *hcmv3.HttpConnectionManager) (out []rewritten) {
	host := func(a *policy.Attribute) bool { return a == attribute.Host }
	http1, common := m.GetHttpProtocolOptions(), m.GetCommonHttpProtocolOptions()
	for _, s := range []struct {
		set       bool
		attribute func(*policy.Attribute) bool
		setting   string
	}{
		{m.StripMatchingHostPort, host, "strip_matching_host_port"},
		{m.GetStripAnyHostPort(), host, "strip_any_host_port"},
		{m.StripTrailingHostDot, host, "strip_trailing_host_dot"},
		{http1.GetAcceptHttp_10() && http1.GetDefaultHostForHttp_10() != "", host, "default_host_for_http_10"},
		{m.GetAddUserAgent().GetValue(), isHeader("user-agent"), "add_user_agent"},
		{m.Via != "", isHeader("via"), "via"},
		{m.AppendXForwardedPort, isHeader("x-forwarded-port"), "append_x_forwarded_port"},
		{true, isHeader("x-request-id"), "generate_request_id"},
		{common.GetHeadersWithUnderscoresAction() != corev3.HttpProtocolOptions_ALLOW, hasUnderscore, "headers_with_underscores_action"},
	} {
		if s.set {
			out = append(out, rewritten{s.attribute, s.setting, true})
		}
	}
	return out
}

// removes returns that routes take headers away from requests that come from outside.
func removes(r *routev3.RouteConfiguration) rewritten {
	names := make([]string, len(r.GetInternalOnlyHeaders()))
	for i, name := range r.GetInternalOnlyHeaders() {
		names[i] = strings.ToLower(name)
	}
	return rewritten{isHeader(names...), "internal_only_headers", true}
}

// changes returns which headers routes add and remove behind the filters, in requests or in copies of them: the workload
// sees others than they have judged.
func changes(r *routev3.RouteConfiguration) rewritten {
	var names []string
	anyName := false
	eachMessage(r, func(m proto.Message) {
		switch m := m.(type) {
		case *routev3.RouteAction:
			if m.AppendXForwardedHost {
				names = append(names, "x-forwarded-host")
			}
		case *mutationrulesv3.HeaderMutation:
			names = append(names, strings.ToLower(m.GetRemove()), strings.ToLower(m.GetAppend().GetHeader().GetKey()))
			anyName = anyName || m.GetRemoveOnMatch() != nil
		}
		of, ok := m.(headerMutator)
		if !ok {
			return
		}
		for _, added := range of.GetRequestHeadersToAdd() {
			names = append(names, strings.ToLower(added.GetHeader().GetKey()))
		}
		for _, removed := range of.GetRequestHeadersToRemove() {
			names = append(names, strings.ToLower(removed))
		}
	})
	of := isHeader(names...)
	changed := func(a *policy.Attribute) bool { return of(a) || anyName && isAnyHeader(a) }
	return rewritten{changed, "request_headers_to_add or request_headers_to_remove of a route, or request_headers_mutations of its copies, behind the filter", false}
}

// changesHost returns whether routes give the workload another host than the filters have judged.
func changesHost(r *routev3.RouteConfiguration) rewritten {
	changed := false
	eachMessage(r, func(m proto.Message) {
		switch m := m.(type) {
		case *routev3.RouteAction:
			changed = changed || m.GetHostRewriteSpecifier() != nil
		case *routev3.WeightedCluster_ClusterWeight:
			changed = changed || m.GetHostRewriteSpecifier() != nil
		case *routev3.RouteAction_RequestMirrorPolicy:
			// A copy has the suffix -shadow behind its host, unless the policy says otherwise.
			changed = changed || m.HostRewriteLiteral != "" || !m.DisableShadowHostSuffixAppend
		}
	})
	return rewritten{func(a *policy.Attribute) bool { return changed && a == attribute.Host }, "host_rewrite of a route or of its copies, behind the filter", false}
}

// changesByScript returns which headers a script writes or takes away.
func changesByScript(source *corev3.DataSource) rewritten {
	names, _ := headersOf(source)
	return rewritten{isHeader(names...), "a script that writes it", false}
}

// changesByFilter returns which headers a filter, or what a route says of one, writes behind RBAC.
func changesByFilter(m proto.Message) (rewritten, bool) {
	if _, asks := m.(*ratelimitv3.RateLimit); asks {
		anyHeader := func(a *policy.Attribute) bool { return isAnyHeader(a) || a == attribute.Host }
		return rewritten{anyHeader, "a service for limits, which may answer with headers to add, behind the filter", false}, true
	}
	names, ok := namesByFilter(m)
	return rewritten{isHeader(names...), "a filter that writes it, behind the filter", false}, ok
}

// changesLine reports whether a filter, or what a route says of one, may write the path or the method behind RBAC, as if they were headers.
func changesLine(m proto.Message) bool {
	names, _ := namesByFilter(m)
	return slices.ContainsFunc(names, func(name string) bool { return name == ":path" || name == ":method" })
}

// namesByFilter returns the names of the headers, in lower case; false for a filter that writes none.
func namesByFilter(m proto.Message) (names []string, ok bool) {
	switch m := m.(type) {
	case *basicauthv3.BasicAuth:
		names = []string{m.ForwardUsernameHeader}
	case *apikeyauthv3.ApiKeyAuth:
		names = []string{m.GetForwarding().GetHeader()}
	case *apikeyauthv3.ApiKeyAuthPerRoute:
		names = []string{m.GetForwarding().GetHeader()}
	case *grpcwebv3.GrpcWeb:
		names = []string{"content-type", "te", "grpc-accept-encoding"}
	case *transcoderv3.GrpcJsonTranscoder:
		names = []string{"content-type", "te"}
	case *compressorv3.Compressor, *decompressorv3.Decompressor:
		names = []string{"accept-encoding", "content-encoding"}
	case *headertometadatav3.Config:
		for _, rule := range m.RequestRules {
			if rule.Remove {
				names = append(names, rule.Header)
			}
		}
	case *localratelimitv3.LocalRateLimit:
		for _, added := range m.RequestHeadersToAddWhenNotEnforced {
			names = append(names, added.GetHeader().GetKey())
		}
	default:
		return nil, false
	}
	for i, name := range names {
		names[i] = strings.ToLower(name)
	}
	return names, true
}

// hidesKeys reports whether a filter, or what a route says of one, takes the key of a caller out of the headers, the query or
// the cookies behind RBAC.
func hidesKeys(m proto.Message) bool {
	of, ok := m.(interface {
		GetForwarding() *apikeyauthv3.Forwarding
	})
	return ok && of.GetForwarding().GetHideCredentials()
}

// headerMutator is a part of a route configuration.
type headerMutator interface {
	GetRequestHeadersToAdd() []*corev3.HeaderValueOption
	GetRequestHeadersToRemove() []string
}

// isHeader returns what tells the attributes of headers, whose names are in lower case. The host of a request is one, under two names.
func isHeader(names ...string) func(*policy.Attribute) bool {
	host := slices.Contains(names, ":authority") || slices.Contains(names, "host")
	return func(a *policy.Attribute) bool {
		return isAnyHeader(a) && slices.Contains(names, a.Key) || host && a == attribute.Host
	}
}

func hasUnderscore(a *policy.Attribute) bool { return isAnyHeader(a) && strings.Contains(a.Key, "_") }

// isAnyHeader reports whether an attribute is a header, by line or as one text.
func isAnyHeader(a *policy.Attribute) bool {
	family := attribute.Header("x").Family
	return a.Family == family || a.Family == "joined-"+family
}

// tellRewritten tells about the settings that change what an HTTP filter asks for.
func (c *chain) tellRewritten() {
	if len(c.rewritten) == 0 {
		return
	}
	p, _ := lift.Program(xds.Filters{HTTP: c.inbound.Filters.HTTP, Routes: c.inbound.Filters.Routes}, 0)
	for _, r := range c.rewritten {
		for condition := range p.Conditions() {
			if is, ok := condition.(policy.Is); ok && r.attribute(is.Attribute) {
				c.tellIdle(dump.Opaque, "", "", fmt.Sprintf("a filter asks for the %s, and the listener changes it (%s): the lab's listener does not", is.Attribute.Name, r.setting))
				break
			}
		}
		for _, header := range c.tokenHeaders() {
			if r.inFront && r.attribute(header) {
				c.tellIdle(dump.Opaque, "", "", fmt.Sprintf("tokens are in the %s, and the listener changes it (%s) in front of the filter that verifies them: a request with a token is judged as one without", header.Name, r.setting))
			}
		}
	}
}

// tokenHeaders returns the headers in which the inbound looks for tokens.
func (c *chain) tokenHeaders() (out []*policy.Attribute) {
	for _, issuer := range c.inbound.Tokens.Issuers {
		for _, place := range issuer.LooksAt() {
			switch place.Kind {
			case token.InHeader:
				out = append(out, attribute.Header(place.Name))
			case token.InCookie:
				out = append(out, attribute.Header("cookie"))
			}
		}
	}
	return out
}
