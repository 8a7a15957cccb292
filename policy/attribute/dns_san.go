package attribute

import (
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// DNSSAN is all DNS SANs of the peer's certificate joined by commas, as
// envoy.extensions.matching.common_inputs.ssl.v3.DnsSanInput presents them to a matcher.
// A caller without any has no such text, so that no match meets it: measured on Envoy,
// unlike for [Identity]. A gate of named rules has no principal for DNS SANs alone, see
// [URISAN].
var DNSSAN = add(&policy.Attribute{
	Name:   "dns-san",
	Phrase: "DNS SANs",
	Layer:  policy.L4,
	Text:   func(r *policy.Request) (string, bool) { return strings.Join(r.DNS, ","), len(r.DNS) > 0 },
	Kinds:  []policy.MatchKind{policy.Exact, policy.Prefix, policy.Suffix, policy.Contains, policy.Regex},
	Forms:  []policy.Form{policy.Ordered},
})
