package verdict

import (
	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/candidates"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/language"
)

// Inbound is one inbound of a case, and what the policies come to there.
type Inbound struct {
	cases.Inbound
	Program language.Program

	reading *Reading
	// second is the second opinion on a request.
	second func(policy.Request) policy.Decision
	index  func() *candidates.Index
	locate func() locate
}

// locate says which lines decide a request.
type locate func(policy.Request) (decides, shadow string)

func (r *Reading) locateOn(in policy.Inbound) locate {
	if locator, ok := r.set.(capability.Locator); ok {
		return locator.Locate(in)
	}
	return func(policy.Request) (string, string) { return "", "" }
}

// normalization returns how the listener normalizes paths on the Envoy that judges.
func (in Inbound) normalization() policy.PathNormalization {
	n := in.reading.Case.Normalization
	n.KeepDotParameters = !in.reading.envoy.Fixed(behavior.DotParameters)
	return n
}

// Decide is [policy.Decide] of the inbound's program, for many requests to many rules.
func (in Inbound) Decide(r policy.Request) policy.Decision {
	return in.index().Decide(placed(r, in.Inbound))
}

// Explain is [policy.Explain] of the inbound's program. The traces have the rules that the
// request can meet.
func (in Inbound) Explain(r policy.Request) (policy.Decision, []policy.Trace) {
	r = placed(r, in.Inbound)
	return policy.Explain(in.index().Narrow(&r), r)
}

// Reading returns the reading that the inbound is of.
func (in Inbound) Reading() *Reading { return in.reading }

// Locate returns "file:line" of what decides a request of the inbound, and of what decides
// in the shadow. It is "" where no line does.
func (in Inbound) Locate(r policy.Request) (decides, shadow string) {
	return in.locate()(r)
}

// Surface says which requests reach the inbound, from callers of any trust domain: whether
// a trust domain is trusted is a question of mTLS, and the policies decide for all of them.
func (in Inbound) Surface() classes.Surface {
	own := ""
	if all := in.reading.Case.TrustDomains; len(all) > 0 {
		own = all[0].Name()
	}
	return classes.Surface{OwnDomain: own, Protocol: in.Protocol, Normalization: in.reading.Case.Normalization, Ports: []uint16{in.Port}, Destination: in.IP, TrustedHops: in.TrustedHops, Tokens: &in.Program.Tokens}
}

// TrustedSurface says which requests reach the inbound from callers of the trust domains
// that it trusts.
func (in Inbound) TrustedSurface() classes.Surface {
	s := in.Surface()
	for _, td := range in.reading.Case.TrustDomains {
		s.TrustDomains = append(s.TrustDomains, td.Name())
	}
	return s
}

// Authorizers are those that the policies of the inbound ask, by the names of their providers.
func (in Inbound) Authorizers() map[string]authorizer.Authorizer {
	out := map[string]authorizer.Authorizer{}
	for _, gate := range in.Program.Gates {
		if gate.Asks != nil {
			out[gate.Asks.Provider] = *gate.Asks
		}
	}
	return out
}

// MeshNormalization returns how the mesh of the policies normalizes paths, whatever the case
// states, and false for policies that say nothing of it.
func (in Inbound) MeshNormalization() (policy.PathNormalization, bool) {
	normalizer, ok := in.reading.set.(capability.Normalizer)
	if !ok {
		return policy.PathNormalization{}, false
	}
	n, _ := normalizer.Normalization()
	return n, true
}
