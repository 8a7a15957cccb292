package diff

import (
	"slices"

	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// askFor reports whether the policies of either side ask for one of some attributes.
func askFor(was, is verdict.Inbound, attributes ...*policy.Attribute) bool {
	for _, p := range []policy.Program{was.Program.Program, is.Program.Program} {
		for c := range p.Conditions() {
			if is, ok := c.(policy.Is); ok && slices.Contains(attributes, is.Attribute) {
				return true
			}
		}
	}
	return false
}

// seenOtherwise says what the policies ask for and see otherwise than before, because the listener
// has changed.
func seenOtherwise(was, is verdict.Inbound) (out []string) {
	old, recent := was.Surface(), is.Surface()
	if old.Normalization != recent.Normalization && askFor(was, is, attribute.Path, attribute.Header(":path")) {
		out = append(out, "the two listeners normalize paths differently, and requests whose paths are not normalized are not compared")
	}
	if old.TrustedHops != recent.TrustedHops && askFor(was, is, attribute.RemoteAddress) {
		out = append(out, "the two listeners trust different entries of x-forwarded-for, and the remote addresses of requests that have the header are not compared")
	}
	return out
}

// otherTokens says in which way the new policies demand other tokens of requests, and "" where they demand the same. A token that
// is forwarded counts where the policies, which come behind, ask for what has it.
func otherTokens(was, is verdict.Inbound) string {
	old, recent := was.Program.Tokens, is.Program.Tokens
	if is.Protocol.Layer() != policy.L7 {
		return ""
	}
	if places := placesOf(old, recent); !askFor(was, is, places...) {
		old, recent = old.Unforwarded(), recent.Unforwarded()
	}
	return old.Difference(recent)
}

// placesOf are what may have a token, or is written anew where a token is taken out.
func placesOf(demands ...token.Demand) (out []*policy.Attribute) {
	for _, demand := range demands {
		for _, issuer := range demand.Issuers {
			for _, place := range issuer.LooksAt() {
				switch place.Kind {
				case token.InHeader:
					out = append(out, attribute.Header(place.Name))
				case token.InParameter:
					out = append(out, attribute.Header(":path"), attribute.Query)
				case token.InCookie:
					out = append(out, attribute.Header("cookie"))
				}
			}
		}
	}
	return out
}
