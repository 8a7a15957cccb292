package authentication

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// stated is a rule that applies to an inbound.
type stated struct {
	jwtRule
	policy Policy
}

// issuer is the issuer of the rule, as [Demand] adds it.
func (s stated) issuer() token.Issuer {
	return token.Issuer{Name: s.Issuer, Places: s.places()}
}

// Check refuses what the lab cannot show of an inbound with this program. The lab writes no header, so no rule may
// write one that the program asks for, or in which a token is read: Envoy takes such a header out of each request,
// also of one without a token (jwt_authn, Extractor::sanitizeHeaders). And of two rules for one issuer
// Istio takes the one that was made first, so what a policy sees may not hang on it.
func Check(ps []Policy, in policy.Inbound, rootNamespace string, program policy.Program) error {
	var rules []stated
	for _, p := range ps {
		if in.Protocol.Layer() == policy.L4 || p.missReason(in.Workload, rootNamespace) != nil {
			continue
		}
		for _, rule := range p.resource.Spec.Rules {
			rules = append(rules, stated{rule, p})
		}
	}
	for i, rule := range rules {
		for _, to := range rule.writes() {
			if asks(program, ofHeader(to.Header)) {
				return fmt.Errorf("%s %s writes a claim into the header %s, and a policy asks for it: meshproof cannot judge that, so ask for the claim itself, as request.auth.claims[…]", kind, rule.policy, to.Header)
			}
			if j := slices.IndexFunc(rules, func(other stated) bool { return other.readsIn(to.Header) }); j >= 0 {
				return fmt.Errorf("%s %s writes a claim into the header %s, and %s reads tokens there: Envoy takes the header out of each request, and finds no token: write another header", kind, rule.policy, to.Header, rules[j].policy)
			}
		}
		for _, other := range rules[:i] {
			if why := rule.hangsOn(other, program); why != "" {
				return fmt.Errorf("%s %s and %s read tokens of the issuer %q, and %s: Istio takes the one that was made first, and a policy asks for it: state the same in both", kind, other.policy, rule.policy, rule.Issuer, why)
			}
		}
	}
	return nil
}

// readsIn reports whether tokens of the rule are read in the header.
func (s stated) readsIn(header string) bool {
	return slices.ContainsFunc(s.issuer().LooksAt(), func(p token.Place) bool {
		return p.Kind == token.InHeader && p.Name == header || p.Kind == token.InCookie && header == "cookie"
	})
}

// hangsOn says why policies of the program see something else where another rule takes a token in the place of
// this one, and "" where they do not.
func (s stated) hangsOn(other stated, program policy.Program) string {
	if s.Issuer != other.Issuer || s.Forward == other.Forward && slices.Equal(s.SpaceDelimitedClaims, other.SpaceDelimitedClaims) {
		return ""
	}
	for _, p := range s.issuer().LooksAt() {
		at := slices.IndexFunc(other.issuer().LooksAt(), func(q token.Place) bool { return q.Kind == p.Kind && q.Name == p.Name })
		switch {
		case at < 0:
			continue
		case s.Forward != other.Forward && (p.Kind == token.InHeader && asks(program, ofHeader(p.Name)) || p.Kind == token.InParameter && asks(program, ofHeader(":path"))):
			return "one alone leaves them in the request (forwardOriginalToken)"
		}
		for _, name := range slices.Concat(s.SpaceDelimitedClaims, other.SpaceDelimitedClaims) {
			if slices.Contains(s.SpaceDelimitedClaims, name) != slices.Contains(other.SpaceDelimitedClaims, name) && !slices.Contains(spaced, name) && asks(program, ofClaim(name)) {
				return fmt.Sprintf("one alone parts the claim %s at its spaces (spaceDelimitedClaims)", name)
			}
		}
	}
	return ""
}

// asks reports whether the program has a condition of some kind.
func asks(program policy.Program, wanted func(*policy.Attribute) bool) bool {
	for c := range program.Conditions() {
		if is, ok := c.(policy.Is); ok && wanted(is.Attribute) {
			return true
		}
	}
	return false
}

// ofHeader returns what tells the attributes of a header. The host of a request is one too.
func ofHeader(name string) func(*policy.Attribute) bool {
	whole := attribute.Header(name)
	return func(a *policy.Attribute) bool {
		return a == whole || strings.HasSuffix(a.Family, "header") && a.Key == name
	}
}

// ofClaim returns what tells the attributes of a claim that stands at the top of a token.
func ofClaim(name string) func(*policy.Attribute) bool {
	return func(a *policy.Attribute) bool {
		path, _ := claim.Path(a.Key)
		return a.Family == "claim" && len(path) > 0 && path[0] == name
	}
}
