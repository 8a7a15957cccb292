package sidecar

import (
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matchingv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/matching/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/matcher/action/v3"
	faultv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/fault/v3"
	localratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"
	connectionlimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/connection_limit/v3"
	networklimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/local_ratelimit/v3"
	setfilterstatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/set_filter_state/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
)

// otherFilter is a filter that is no RBAC filter.
type otherFilter struct {
	unknown dump.Unknown
	// judgesBefore is the number of RBAC filters in front of it.
	judgesBefore int
	// contained is set where it is harmless behind RBAC, and rewrites where it may change the
	// path or the method there.
	contained, rewrites bool
	// refuses is set where it is harmless in front of RBAC, too: it lets nobody in, and changes nothing that RBAC sees.
	refuses bool
}

// setPosition sets the place of the filter and adds it to the reason.
func (s *otherFilter) setPosition(p dump.Position) {
	s.unknown.Position = p
	s.unknown.Reason += "; " + p.String()
}

// knownRefusals lists the fields by which a filter delays some requests and connections, and answers some without the workload. What a
// fault takes from headers of callers, and from runtime keys, is not among them. A limit may be anything: it only refuses.
var knownRefusals = messages.Closed{
	"envoy.extensions.filters.http.fault.v3.HTTPFault": {
		messages.Read: "abort delay response_rate_limit headers",
		measures:      "disable_downstream_cluster_stats",
	},
	"envoy.extensions.filters.http.fault.v3.FaultAbort":                  {answers: "http_status grpc_status response_body percentage"},
	"envoy.extensions.filters.common.fault.v3.FaultDelay":                {limits: "fixed_delay percentage"},
	"envoy.extensions.filters.common.fault.v3.FaultRateLimit":            {messages.Read: "fixed_limit", limits: "percentage"},
	"envoy.extensions.filters.common.fault.v3.FaultRateLimit.FixedLimit": {limits: "limit_kbps"},
	// Kuma selects callers by a header.
	"envoy.config.route.v3.HeaderMatcher": {messages.Read: "safe_regex_match string_match", limits: "name invert_match"},
	"envoy.type.matcher.v3.StringMatcher": {messages.Read: "safe_regex", limits: "exact prefix suffix contains ignore_case"},
	"envoy.type.matcher.v3.RegexMatcher":  {limits: "regex"},
	// Those who follow Istio's own example have it in front. A header of a request that it lets pass is not among them.
	"envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit": {
		measures: "stat_prefix",
		limits: `token_bucket filter_enabled filter_enforced descriptors stage rate_limits vh_rate_limits max_dynamic_descriptors
			local_rate_limit_per_downstream_connection local_cluster_rate_limit always_consume_default_token_bucket`,
		answers: "status response_headers_to_add enable_x_ratelimit_headers enable_retry_after_header rate_limited_as_resource_exhausted",
	},
	// Kuma has faults for some callers behind conditions, which may skip them.
	"envoy.extensions.common.matching.v3.ExtensionWithMatcher":             {messages.Read: "extension_config xds_matcher"},
	"envoy.config.core.v3.TypedExtensionConfig":                            {messages.Read: "typed_config", measures: "name"},
	"xds.core.v3.TypedExtensionConfig":                                     {messages.Read: "typed_config", measures: "name"},
	"xds.type.matcher.v3.Matcher":                                          {messages.Read: "matcher_list on_no_match"},
	"xds.type.matcher.v3.Matcher.OnMatch":                                  {messages.Read: "action matcher"},
	"xds.type.matcher.v3.Matcher.MatcherList":                              {messages.Read: "matchers"},
	"xds.type.matcher.v3.Matcher.MatcherList.FieldMatcher":                 {messages.Read: "predicate on_match"},
	"xds.type.matcher.v3.Matcher.MatcherList.Predicate":                    {messages.Read: "single_predicate or_matcher and_matcher not_matcher"},
	"xds.type.matcher.v3.Matcher.MatcherList.Predicate.PredicateList":      {messages.Read: "predicate"},
	"xds.type.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate":    {messages.Read: "input", limits: "value_match"},
	"envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput":           {},
	"envoy.extensions.matching.common_inputs.network.v3.ServerNameInput":   {},
	"envoy.extensions.filters.common.matcher.action.v3.SkipFilter":         {},
	"envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit": {measures: "stat_prefix", limits: "max_connections delay runtime_enabled"},
	"envoy.extensions.filters.network.local_ratelimit.v3.LocalRateLimit":   {measures: "stat_prefix share_key", limits: "token_bucket runtime_enabled"},
}

var checkRefusals = knownRefusals.Checker()

// refusesAlone reports whether a filter does nothing but delay and end requests and connections.
func refusesAlone(m proto.Message) bool {
	switch m.(type) {
	case *faultv3.HTTPFault, *localratelimitv3.LocalRateLimit, *connectionlimitv3.ConnectionLimit, *networklimitv3.LocalRateLimit:
		return refusesInWhole(m)
	}
	return mayBeSkipped(m)
}

// refusesInWhole reports whether all that stands in a filter is known only to refuse.
func refusesInWhole(m proto.Message) (refuses bool) {
	refuses = true
	checkRefusals(m.ProtoReflect(), nil, func(*messages.Path, string) { refuses = false })
	return refuses
}

// mayBeSkipped reports whether a filter is one for faults that only delay and end requests, behind conditions which may skip it.
func mayBeSkipped(m proto.Message) bool {
	wrapped, ok := m.(*matchingv3.ExtensionWithMatcher)
	if !ok || !refusesInWhole(m) {
		return false
	}
	inside, faults, err := messages.Unpack(wrapped.GetExtensionConfig().GetTypedConfig())
	_, ok = inside.(*faultv3.HTTPFault)
	return ok && err == nil && len(faults) == 0
}

// knownState lists the fields of a filter that keeps a text about a connection.
var knownState = messages.Closed{
	"envoy.extensions.filters.network.set_filter_state.v3.Config":          {messages.Read: "on_new_connection on_downstream_tls_handshake"},
	"envoy.extensions.filters.common.set_filter_state.v3.FilterStateValue": {messages.Read: "format_string", apart: "object_key factory_key", measures: "read_only skip_if_empty"},
	"envoy.config.core.v3.SubstitutionFormatString":                        {messages.Read: "text_format_source"},
	"envoy.config.core.v3.DataSource":                                      {measures: "inline_string"},
}

var checkState = knownState.Checker()

// keepsOwnState reports whether a filter does nothing but keep texts under Kuma's own keys, as Kuma 2.14 does for its MeshTimeout and
// MeshRateLimit with a match by SPIFFE ID. Envoy acts on keys of its own alone; what else asks for one is told.
func keepsOwnState(m proto.Message) bool {
	filter, keeps := m.(*setfilterstatev3.Config)
	if !keeps {
		return false
	}
	checkState(filter.ProtoReflect(), nil, func(*messages.Path, string) { keeps = false })
	for _, value := range append(slices.Clip(filter.OnNewConnection), filter.OnDownstreamTlsHandshake...) {
		keeps = keeps && strings.HasPrefix(value.GetObjectKey(), "kuma.") && value.FactoryKey == "envoy.string"
	}
	return keeps
}

// refusal is a filter that does nothing but delay and end requests, with the number of RBAC filters in front of it.
type refusal struct {
	name         string
	judgesBefore int
}

// replacedRefusal returns a filter in front of RBAC that refuses alone, where routes have another one in its place that may do more; ""
// for none.
func (c *chain) replacedRefusal(config *routev3.RouteConfiguration) (found string) {
	eachOverride(config, func(name string, packed *anypb.Any) {
		inFront := slices.ContainsFunc(c.refusals, func(r refusal) bool { return r.name == name && r.judgesBefore < c.judges })
		if inFront && !overridesByRefusal(packed) {
			found = name
		}
	})
	return found
}

// overridesByRefusal reports whether what a route has in the place of a filter only refuses, or switches the filter off.
func overridesByRefusal(packed *anypb.Any) bool {
	m, faults, err := messages.Unpack(packed)
	if of, wraps := m.(*routev3.FilterConfig); wraps && err == nil && len(faults) == 0 {
		if of.Disabled {
			return true
		}
		m, faults, err = messages.Unpack(of.Config)
	}
	return err == nil && len(faults) == 0 && refusesAlone(m)
}
