package attribute

import (
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// Identity is the peer as Envoy's UriSanInput presents it to a matcher: all URI SANs
// joined by commas, and the empty text for a TLS caller without any. An exact match
// therefore never meets a certificate with two URI SANs, and a prefix sees the first
// one only. The input is
// envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput.
var Identity = add(&policy.Attribute{
	Name:   "identity",
	Phrase: "identity",
	Layer:  policy.L4,
	Text: func(r *policy.Request) (string, bool) {
		if len(r.URIs) == 1 {
			return r.URIs[0], true
		}
		return strings.Join(r.URIs, ","), true
	},
	Always: true,
	Kinds:  []policy.MatchKind{policy.Exact, policy.Prefix, policy.Suffix, policy.Contains, policy.Regex},
	Forms:  []policy.Form{policy.Ordered},
})
