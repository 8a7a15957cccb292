package attribute

import "github.com/meshproof/meshproof/policy"

// DNSSAN is all DNS SANs of the peer's certificate joined by commas, as
// envoy.extensions.matching.common_inputs.ssl.v3.DnsSanInput presents them to a matcher.
// A caller without any has no such text, so that no match meets it: measured on Envoy,
// unlike for [Identity]. A gate of named rules has no principal for DNS SANs alone, see
// [URISAN].
var DNSSAN = add(&policy.Attribute{
	Name:      "dns-san",
	Phrase:    "DNS SANs",
	Layer:     policy.L4,
	Value:     func(r *policy.Request, i int) (string, bool) { return valueAt(r.DNS, i) },
	Separator: ",",
	Kinds:     []policy.MatchKind{policy.Exact, policy.Prefix},
	Forms:     []policy.Form{policy.Ordered},
})
