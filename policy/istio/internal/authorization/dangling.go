package authorization

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
)

// References returns what the policies of an inbound name and the set does not have: an authorizer where no mesh config
// is stated, and the RequestAuthentication that reads the tokens they ask for. Both usually stand in another folder.
func References(ps []Policy, in policy.Inbound, opts Options, demand token.Demand) (out capability.References) {
	for _, p := range ps {
		if p.missReason(in.Workload, opts) != nil {
			continue
		}
		spec, _ := p.doc.Lookup("spec")
		text := fmt.Sprint(p.observes, spec.Flow())
		out.Policies = append(out.Policies, text)
		if p.asksUnknown(opts) {
			out.Unknown = append(out.Unknown, text)
			out.Dangling = append(out.Dangling, fmt.Sprintf("the authorizer %q of %s, and no mesh config says what it is: state extensionProviders", p.resource.Spec.Provider.Name, p))
		}
		if in.Protocol.Layer() == policy.L7 && p.lacksIssuer(demand) {
			out.Dangling = append(out.Dangling, fmt.Sprintf("a RequestAuthentication for tokens of which %s speaks: add it to both folders", p))
		}
	}
	slices.Sort(out.Policies)
	slices.Sort(out.Unknown)
	return out
}

// asksUnknown reports whether the policy asks an authorizer where no mesh config is stated that describes one.
func (p Policy) asksUnknown(opts Options) bool {
	return p.resource.Spec.Action == actionCustom && len(opts.Providers) == 0
}

// WithoutUnknown returns the policies without those that ask an authorizer which no mesh config describes.
func WithoutUnknown(ps []Policy, opts Options) []Policy {
	return slices.DeleteFunc(slices.Clone(ps), func(p Policy) bool { return p.asksUnknown(opts) })
}

// lacksIssuer reports whether the policy speaks of tokens, or of an issuer, and the inbound reads none of these.
func (p Policy) lacksIssuer(demand token.Demand) bool {
	for t := range p.terms {
		switch of := t.subject.name; {
		case of == "requestPrincipals":
			if !demand.Reads() || slices.ContainsFunc(slices.Concat(t.values, t.not), func(value string) bool { return !isIssued(value, demand) }) {
				return true
			}
		case strings.HasPrefix(of, "request.auth.") && !demand.Reads():
			return true
		}
	}
	return false
}

// isIssued reports whether an issuer whose tokens are read may give a principal, which is "issuer/subject". A star
// stands at the beginning or at the end.
func isIssued(principal string, demand token.Demand) bool {
	begin, starred := strings.CutSuffix(principal, "*")
	return strings.HasPrefix(principal, "*") || slices.ContainsFunc(demand.Issuers, func(of token.Issuer) bool {
		return of.Name == "" || strings.HasPrefix(principal, of.Name+"/") || starred && strings.HasPrefix(of.Name+"/", begin)
	})
}

// TrustedHops is how many entries of x-forwarded-for the sidecars trust: the last one, which every caller may write,
// as Istio's listeners for inbounds have neither use_remote_address nor a number of trusted hops. It is 0 where no policy asks
// for the remote address.
func TrustedHops(ps []Policy) int {
	for _, p := range ps {
		for t := range p.terms {
			if t.subject.name == "remoteIpBlocks" {
				return 1
			}
		}
	}
	return 0
}
