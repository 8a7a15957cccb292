package mutation

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/xds"
)

// Mutant is one inbound with one mistake.
type Mutant struct {
	Kind Kind
	// Where tells the place of the mistake, such as "gate 1, rule 2: deny by p when ...".
	Where string
	// Program is what the mutant decides by.
	Program policy.Program
	// Fault is a mistake beside the filters.
	Fault suite.Fault
	// strip leaves out a no-match of what was compiled from the original.
	strip *stripped
}

// Left counts what is no mistake that a case could notice.
type Left struct {
	// Equivalent mutants decide like the original.
	Equivalent int
	// Invalid ones are no program, or none that Envoy takes: nobody could run them.
	Invalid int
}

// mostOfAKind bounds the mutants of one kind on one inbound: of a list of five thousand
// identities, each turned prefix, the first and the last few tell as much as all.
const mostOfAKind = 24

// Mutants returns the mutants of a program that its inbound tells from the original: of
// some class of requests the decision, the policy that decides, or the shadow differs.
// The others are counted.
func Mutants(on classes.Surface, original policy.Program) (mutants []Mutant, left Left) {
	var all []Mutant
	for place, gate := range gates(original) {
		all = append(all, ofGate(original, place, gate)...)
	}
	all = append(all, swapped(original)...)
	if len(original.Gates) > 0 {
		all = append(all, Mutant{Kind: WrongFilter, Where: "every filter"})
	}
	for _, m := range thinned(all) {
		switch {
		case m.Program.Check() != nil:
			left.Invalid++
		case !m.differs(on, original):
			left.Equivalent++
		default:
			mutants = append(mutants, m)
		}
	}
	mutants = append(mutants, Mutant{Kind: StaleTrust, Where: "the validation secret", Program: original, Fault: suite.Fault{StaleTrust: true}})
	if on.Protocol.Layer() == policy.L7 {
		if rawPathsDiffer(on, original) {
			mutants = append(mutants, Mutant{Kind: RawPaths, Where: "the listener", Program: original, Fault: suite.Fault{RawPaths: true}})
		} else {
			left.Equivalent++
		}
	}
	return mutants, left
}

// rawPathsDiffer reports whether a path that is judged as written is decided otherwise
// than the one that the listener makes of it.
func rawPathsDiffer(on classes.Surface, p policy.Program) bool {
	cover := classes.Of(on, p)
	return slices.ContainsFunc(cover.Classes, func(c classes.Class) bool {
		raw := c.Witness
		raw.Path = "/." + raw.Path
		normal, err := on.Normalization.Apply(raw.Path)
		return err == nil && normal == c.Witness.Path && policy.Decide(p, raw) != policy.Decide(p, c.Witness)
	})
}

// differs reports whether any class of requests tells the mutant from the original.
func (m Mutant) differs(on classes.Surface, original policy.Program) bool {
	cover := classes.Of(on, original, m.Program)
	return slices.ContainsFunc(cover.Classes, func(c classes.Class) bool {
		return policy.Decide(original, c.Witness) != policy.Decide(m.Program, c.Witness)
	})
}

// Tells reports whether a request should tell the mutant from the original.
func (m Mutant) Tells(original policy.Program, q proof.Asked) bool {
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

// thinned bounds the mutants of each kind, and keeps those at both ends.
func thinned(all []Mutant) []Mutant {
	count, seen := map[Kind]int{}, map[Kind]int{}
	for _, m := range all {
		count[m.Kind]++
	}
	return slices.DeleteFunc(all, func(m Mutant) bool {
		n := seen[m.Kind]
		seen[m.Kind]++
		return n >= mostOfAKind/2 && n < count[m.Kind]-mostOfAKind/2
	})
}

// Compile returns the filters of the mutant.
func (m Mutant) Compile() (xds.Filters, error) {
	program := m.Program
	if m.strip != nil {
		program = m.strip.original
	}
	filters, err := xds.Compile(program)
	if err != nil {
		return xds.Filters{}, fmt.Errorf("mutation: %s at %s: %w", m.Kind, m.Where, err)
	}
	if m.strip != nil {
		m.strip.from(filters)
	}
	return filters, nil
}
