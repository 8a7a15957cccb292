// Package mutation measures whether a suite notices mistakes. It makes one mistake at a time
// in the compiled policies of a case and runs the case. A mistake that the case passes with
// survives: it shows what the case does not test.
//
// The mistakes are mistakes of real compilers and control planes: a deny after an allow, an
// exact match that became a prefix, a lost rule, and others; see
// [mistake.Kind]. A change that changes no decision is no mistake. [mistake.Mistake.Shown] finds
// such changes, so no list of them is needed. Changes that Envoy refuses do not count either. The package guarantees that a
// mutant counts as killed only when a real Envoy ran it and the case failed.
package mutation

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/xds"
)

// Mutant is one inbound with one mistake.
type Mutant struct {
	mistake.Mistake
	// Fault is a mistake outside of the filters.
	Fault suite.Fault
	// tokens is what the inbound demands of tokens.
	tokens token.Demand
	// changes reports whether a mistake of the listener should change the result of a request; nil for
	// other mistakes.
	changes func(proof.Asked) bool
}

// Exclusions counts changes that are no mistakes.
type Exclusions struct {
	// Equivalent mutants decide like the original.
	Equivalent int
	// Invalid mutants are no program, or Envoy refuses them.
	Invalid int
}

// Mutants returns the mutants of a program that differ from the original on the surface of
// its inbound: for some class of requests, the decision, the deciding policy or the shadow
// differs. It counts the other mutants. Policies are not asked about all requests: judges tells
// of which.
func Mutants(surface classes.Surface, judges func(policy.Request) bool, original policy.Program) (mutants []Mutant, excluded Exclusions) {
	return mutantsOf(mistake.Enumerate(original), surface, judges, original)
}

// mutantsOf returns those of some mistakes in a program that differ from the original, and those beside its rules.
func mutantsOf(mistakes []mistake.Mistake, surface classes.Surface, judges func(policy.Request) bool, original policy.Program) (mutants []Mutant, excluded Exclusions) {
	for _, m := range mistakes {
		mutant := Mutant{Mistake: m}
		_, invalid := mutant.Compile()
		_, differs := m.Shown(surface, judges, original)
		switch {
		case m.Program.Check() != nil || invalid != nil:
			excluded.Invalid++
		case !differs:
			excluded.Equivalent++
		default:
			mutants = append(mutants, mutant)
		}
	}
	add := func(k mistake.Kind, where string, fault suite.Fault) {
		mutants = append(mutants, Mutant{Mistake: mistake.Mistake{Kind: k, Where: where, Program: original}, Fault: fault, tokens: demandOf(surface)})
	}
	// An inbound that takes no TLS has no CAs.
	if judges(policy.Request{URIs: []string{"spiffe://any.caller"}}) {
		add(mistake.StaleTrust, "the validation secret", suite.Fault{StaleTrust: true})
	}
	if surface.Protocol.Layer() == policy.L7 {
		if rawPathsDiffer(surface, original) {
			add(mistake.RawPaths, "the listener", suite.Fault{RawPaths: true})
		} else {
			excluded.Equivalent++
		}
	}
	if surface.Protocol.Layer() == policy.L7 && slices.ContainsFunc(demandOf(surface).Issuers, func(i token.Issuer) bool { return len(i.Audiences) > 0 }) {
		add(mistake.AudienceIgnored, "the filter for tokens", suite.Fault{AnyAudience: true})
	}
	return mutants, excluded
}

func demandOf(s classes.Surface) token.Demand {
	if s.Tokens == nil {
		return token.Demand{}
	}
	return *s.Tokens
}

// rawPathsDiffer reports whether some path and its normalized form get different decisions.
func rawPathsDiffer(surface classes.Surface, p policy.Program) bool {
	cover := classes.Cut(surface, p)
	return slices.ContainsFunc(cover.Classes, func(c classes.Class) bool {
		raw := c.Witness
		var ok bool
		raw.Path, ok = verdict.Detour(surface.Normalization, c.Witness.Path)
		return ok && policy.Decide(p, raw) != policy.Decide(p, c.Witness)
	})
}

// Changes reports whether the mutant should change the result of a request.
func (m Mutant) Changes(original policy.Program, q proof.Asked) bool {
	switch {
	case m.changes != nil:
		return m.changes(q)
	case m.Fault.StaleTrust:
		return q.Want != cases.HandshakeFailure && !q.From.Plaintext
	case m.Fault.AnyAudience:
		return m.tokens.Refuses(q.Token) != m.Fault.Tokens(m.tokens).Refuses(q.Token)
	case m.Fault.RawPaths:
		raw := q.Seen
		raw.Path = q.Path
		return q.Judged && q.Path != "" && q.Path != q.Seen.Path && policy.Decide(original, raw) != policy.Decide(original, q.Seen)
	default:
		return q.Judged && m.Mistake.Changes(original, q.Seen)
	}
}

// Compile returns the filters of the mutant.
func (m Mutant) Compile() (xds.Filters, error) {
	filters, err := xds.Compile(m.Program)
	if err != nil {
		return xds.Filters{}, fmt.Errorf("mutation: %s at %s: %w", m.Kind, m.Where, err)
	}
	return filters, nil
}
