// Package mistake makes the mistakes of real compilers and control planes in a program, one at
// a time: a deny after an allow, an exact match that became a prefix, a lost rule, and others;
// see [Kind].
//
// It guarantees that a request shows the mistake, or that none can: then no class of the two programs
// tells the mistake from the original. It sends nothing.
package mistake

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// Mistake is a program with one mistake.
type Mistake struct {
	Kind Kind
	// Where tells the place of the mistake, such as "gate 1, rule 2: deny by p when ...".
	Where string
	// Program is the program with the mistake.
	Program policy.Program
}

// kindLimit is the highest number of mutants of one kind on one inbound. In a list of five
// thousand identities, the first and the last few show as much as all.
const kindLimit = 24

// valueLimit is the same for mistakes that can be made in each text that a policy compares.
const valueLimit = 8

// most returns the highest number of mistakes of the kind on one inbound.
func (k Kind) most() int {
	switch k {
	case CaseIgnored, DomainIgnored, DomainMistaken:
		return valueLimit
	default:
		return kindLimit
	}
}

// Enumerate makes the mistakes in a program. Some of them change no decision, and some are no valid
// program.
func Enumerate(original policy.Program) []Mistake {
	var all []Mistake
	for _, gate := range placeGates(original) {
		all = append(all, inGate(original, gate)...)
	}
	all = append(all, inRoutes(original)...)
	all = append(all, swapped(original)...)
	if len(original.Gates) > 0 {
		all = append(all, Mistake{Kind: WrongFilter, Where: "every filter"})
	}
	return limitKinds(all)
}

// Shown returns a request on a surface that the original and the mistake decide differently: in
// the decision, the deciding policy or the shadow. Policies are not asked about all requests:
// judges tells of which. It returns false where their classes have none, or where the mistake
// is no valid program.
func (m Mistake) Shown(on classes.Surface, judges func(policy.Request) bool, original policy.Program) (policy.Request, bool) {
	if m.Program.Check() != nil {
		return policy.Request{}, false
	}
	cover := classes.Cut(on, original, m.Program)
	i := slices.IndexFunc(cover.Classes, func(c classes.Class) bool {
		return judges(c.Witness) && m.Changes(original, c.Witness)
	})
	if i < 0 {
		return policy.Request{}, false
	}
	return cover.Classes[i].Witness, true
}

// Changes reports whether the original and the mistake decide a request differently.
func (m Mistake) Changes(original policy.Program, r policy.Request) bool {
	return policy.Decide(original, r) != policy.Decide(m.Program, r)
}

// limitKinds limits the mistakes of each kind, and keeps the first and the last ones.
func limitKinds(all []Mistake) []Mistake {
	count, seen := map[Kind]int{}, map[Kind]int{}
	for _, m := range all {
		count[m.Kind]++
	}
	return slices.DeleteFunc(all, func(m Mistake) bool {
		n := seen[m.Kind]
		seen[m.Kind]++
		return n >= m.Kind.most()/2 && n < count[m.Kind]-m.Kind.most()/2
	})
}
