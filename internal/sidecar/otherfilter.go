package sidecar

import (
	faultv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/fault/v3"
	"google.golang.org/protobuf/proto"

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

// knownFaults lists the fields by which a filter delays some requests, and answers some without the workload. What it takes from
// headers of callers, and from runtime keys, is not among them.
var knownFaults = messages.Closed{
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
}

var checkFaults = knownFaults.Checker()

// refusesAlone reports whether a filter does nothing but delay and end requests.
func refusesAlone(m proto.Message) bool {
	fault, refuses := m.(*faultv3.HTTPFault)
	if refuses {
		checkFaults(fault.ProtoReflect(), nil, func(*messages.Path, string) { refuses = false })
	}
	return refuses
}
