package verdict

import (
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy"
)

// TrustDomainOf returns the name of the trust domain of a SPIFFE ID, or of its beginning up to a slash; "" for none.
func TrustDomainOf(text string) string {
	rest, isID := strings.CutPrefix(text, "spiffe://")
	name, _, whole := strings.Cut(rest, "/")
	if td, err := spiffeid.TrustDomainFromString(name); isID && whole && err == nil {
		return td.Name()
	}
	return ""
}

// TrustDomains returns the names of the trust domains that the rules of a program name, in order.
func TrustDomains(p policy.Program) (named []string) {
	for c := range p.Conditions() {
		if is, ok := c.(policy.Is); ok {
			if td := TrustDomainOf(is.Match.Value); td != "" {
				named = append(named, td)
			}
		}
	}
	slices.Sort(named)
	return slices.Compact(named)
}
