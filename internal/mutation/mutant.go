// Package mutation measures whether a suite notices mistakes. It makes one mistake at a time
// in the compiled policies of a case and runs the case. A mistake that the case passes with
// survives: it shows what the case does not test.
//
// The mistakes are mistakes of real compilers and control planes: a deny after an allow, an
// exact match that became a prefix, a lost rule, and others; see [Kind]. A change that
// changes no decision is no mistake. [classes.Of] finds such changes, so no list of them is
// needed. Changes that Envoy refuses do not count either. The package guarantees that a
// mutant counts as killed only when a real Envoy ran it and the case failed.
package mutation

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/xds"
)

// Mutant is one inbound with one mistake.
type Mutant struct {
	Kind Kind
	// Where tells the place of the mistake, such as "gate 1, rule 2: deny by p when ...".
	Where string
	// Program is the program of the mutant.
	Program policy.Program
	// Fault is a mistake outside of the filters.
	Fault suite.Fault
}

// Exclusions counts changes that are no mistakes.
type Exclusions struct {
	// Equivalent mutants decide like the original.
	Equivalent int
	// Invalid mutants are no program, or Envoy refuses them.
	Invalid int
}

// kindLimit is the highest number of mutants of one kind on one inbound. In a list of five
// thousand identities, the first and the last few show as much as all.
const kindLimit = 24

// Mutants returns the mutants of a program that differ from the original on the surface of
// its inbound: for some class of requests, the decision, the deciding policy or the shadow
// differs. It counts the other mutants.
func Mutants(surface classes.Surface, original policy.Program) (mutants []Mutant, excluded Exclusions) {
	var all []Mutant
	for _, gate := range placeGates(original) {
		all = append(all, gateMutants(original, gate)...)
	}
	all = append(all, swapMutants(original)...)
	if len(original.Gates) > 0 {
		all = append(all, Mutant{Kind: WrongFilter, Where: "every filter"})
	}
	for _, m := range limitKinds(all) {
		_, invalid := m.Compile()
		switch {
		case m.Program.Check() != nil || invalid != nil:
			excluded.Invalid++
		case !m.differs(surface, original):
			excluded.Equivalent++
		default:
			mutants = append(mutants, m)
		}
	}
	mutants = append(mutants, Mutant{Kind: StaleTrust, Where: "the validation secret", Program: original, Fault: suite.Fault{StaleTrust: true}})
	if surface.Protocol.Layer() == policy.L7 {
		if rawPathsDiffer(surface, original) {
			mutants = append(mutants, Mutant{Kind: RawPaths, Where: "the listener", Program: original, Fault: suite.Fault{RawPaths: true}})
		} else {
			excluded.Equivalent++
		}
	}
	return mutants, excluded
}

// rawPathsDiffer reports whether some path and its normalized form get different decisions.
func rawPathsDiffer(surface classes.Surface, p policy.Program) bool {
	cover := classes.Of(surface, p)
	return slices.ContainsFunc(cover.Classes, func(c classes.Class) bool {
		raw := c.Witness
		var ok bool
		raw.Path, ok = verdict.Detour(surface.Normalization, c.Witness.Path)
		return ok && policy.Decide(p, raw) != policy.Decide(p, c.Witness)
	})
}

// differs reports whether any class of requests gets another decision from the mutant.
func (m Mutant) differs(surface classes.Surface, original policy.Program) bool {
	cover := classes.Of(surface, original, m.Program)
	return slices.ContainsFunc(cover.Classes, func(c classes.Class) bool {
		return policy.Decide(original, c.Witness) != policy.Decide(m.Program, c.Witness)
	})
}

// Changes reports whether the mutant should change the result of a request.
func (m Mutant) Changes(original policy.Program, q proof.Asked) bool {
	switch {
	case m.Fault.StaleTrust:
		return q.Want != cases.HandshakeFailure && !q.From.Plaintext
	case m.Fault.RawPaths:
		raw := q.Seen
		raw.Path = q.Path
		return q.Judged && q.Path != "" && q.Path != q.Seen.Path && policy.Decide(original, raw) != policy.Decide(original, q.Seen)
	default:
		return q.Judged && policy.Decide(m.Program, q.Seen) != policy.Decide(original, q.Seen)
	}
}

// limitKinds limits the mutants of each kind, and keeps the first and the last ones.
func limitKinds(all []Mutant) []Mutant {
	count, seen := map[Kind]int{}, map[Kind]int{}
	for _, m := range all {
		count[m.Kind]++
	}
	return slices.DeleteFunc(all, func(m Mutant) bool {
		n := seen[m.Kind]
		seen[m.Kind]++
		return n >= kindLimit/2 && n < count[m.Kind]-kindLimit/2
	})
}

// Compile returns the filters of the mutant.
func (m Mutant) Compile() (xds.Filters, error) {
	filters, err := xds.Compile(m.Program)
	if err != nil {
		return xds.Filters{}, fmt.Errorf("mutation: %s at %s: %w", m.Kind, m.Where, err)
	}
	return filters, nil
}

// Kind is a kind of mistake.
type Kind uint8

// The kinds of mistakes.
const (
	// DenyMoved moves a deny after the last allow of its list.
	DenyMoved Kind = iota
	// ExactToPrefix compares only the beginning of a value.
	ExactToPrefix
	// LastRuleLost drops the last rule of a list.
	LastRuleLost
	// NoMatchDropped drops the verdict for requests that no rule matches.
	NoMatchDropped
	// NoMatchInverted inverts the verdict for requests that no rule matches.
	NoMatchInverted
	// ShadowSwapped enforces the shadow, and only observes the enforced rules.
	ShadowSwapped
	// AndToOr asks for one of several conditions instead of all.
	AndToOr
	// ExceptionDropped asks for all but one of several conditions: it leaves a negative one out.
	ExceptionDropped
	// EndMissed moves an end of a range of ports by one, or that of a block of addresses by one
	// bit of its length.
	EndMissed
	// NotDropped asks for what a condition excludes.
	NotDropped
	// EndsExchanged compares the beginning of a value in place of its end.
	EndsExchanged
	// DotUnescaped lets a dot of a regular expression stand for any character. The expression
	// is that of the policy, or one that a compiler makes of a value.
	DotUnescaped
	// ExactToPresent asks whether there is a value at all.
	ExactToPresent
	// PresentToEmpty asks for the empty value in place of any.
	PresentToEmpty
	// PrefixToExact compares the whole value in place of its beginning.
	PrefixToExact
	// SegmentsToPrefix compares a beginning that may end within a segment.
	SegmentsToPrefix
	// ContainsToPrefix looks for a text at the beginning alone.
	ContainsToPrefix
	// TemplateToPrefix compares the beginning in front of the first wildcard.
	TemplateToPrefix
	// Unanchored looks for a regular expression anywhere in the value.
	Unanchored
	// CaseCompared compares letters with their case.
	CaseCompared
	// PortIgnored compares hosts without their port.
	PortIgnored
	// OrToAnd asks that a request has all of several values, such as lines of a header, in place
	// of one of them.
	OrToAnd
	// ClaimDropped does not ask for one of several claims of a token.
	ClaimDropped
	// NoInspector leaves the TLS inspector out, so that Envoy knows no server name.
	NoInspector
	// RawPaths judges paths without normalization.
	RawPaths
	// WrongFilter configures the filter of another protocol, which judges nothing.
	WrongFilter
	// StaleTrust keeps the CAs from before a rotation in Envoy.
	StaleTrust

	kinds
)

var kindNames = [kinds]string{
	DenyMoved: "deny moved behind an allow", ExactToPrefix: "exact turned prefix", LastRuleLost: "last rule lost",
	NoMatchDropped: "no-match dropped", NoMatchInverted: "no-match inverted", ShadowSwapped: "shadow swapped with enforced",
	AndToOr: "and turned or", ExceptionDropped: "exception dropped", EndMissed: "end of a range missed",
	NotDropped: "not dropped", EndsExchanged: "suffix turned prefix", DotUnescaped: "dot taken for any character",
	ExactToPresent: "exact turned present", PresentToEmpty: "present turned empty", PrefixToExact: "prefix turned exact",
	SegmentsToPrefix: "segments turned prefix", ContainsToPrefix: "contains turned prefix", TemplateToPrefix: "template turned prefix",
	Unanchored: "regular expression not anchored", CaseCompared: "case of letters compared", PortIgnored: "port of a host ignored",
	OrToAnd: "or turned and over several values", ClaimDropped: "claim not asked for",
	NoInspector: "server name not read", RawPaths: "path without normalization", WrongFilter: "wrong kind of filter", StaleTrust: "stale trust bundle",
}

// String names the mistake in a few words.
func (k Kind) String() string { return kindNames[k] }

// Kinds returns all kinds.
func Kinds() []Kind {
	out := make([]Kind, kinds)
	for k := range out {
		out[k] = Kind(k)
	}
	return out
}
