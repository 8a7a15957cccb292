package lift

import (
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/policy"
)

// reading is a condition as far as package policy can say it.
type reading struct {
	// when is the part that can be said; nil for nothing.
	when policy.Condition
	// complete is set where that part is all of it.
	complete bool
}

// nothing is the reading of a condition that cannot be said at all.
var nothing reading

func exactly(c policy.Condition) reading { return reading{when: c, complete: true} }

// partly takes a condition that is close to a condition that cannot be said. A condition
// that always or never holds tells nothing.
func partly(c policy.Condition) reading {
	switch c := c.(type) {
	case policy.Constant:
		return nothing
	case policy.Is:
		switch {
		case c.Attribute.Always && c.Match == (policy.Match{Kind: policy.Prefix}):
			return nothing
		case c.Match.Kind == policy.Segments && c.Match.Segment() == "":
			return nothing
		}
	}
	return reading{when: c}
}

func (r reading) is(c policy.Constant) bool { return r.complete && r.when == policy.Condition(c) }

func allOf(of []reading) reading { return joined(of, policy.Always) }

func anyOf(of []reading) reading { return joined(of, policy.Never) }

// joined returns the And of readings where the neutral constant is Always, and the Or where
// it is Never. An operand that cannot be said is left out, so that the others are asked.
func joined(of []reading, neutral policy.Constant) reading {
	out := reading{complete: true}
	kept := make([]policy.Condition, 0, len(of))
	for _, r := range of {
		switch {
		case r.is(!neutral):
			return r
		case r.is(neutral):
			continue
		}
		out.complete = out.complete && r.complete
		and, isAnd := r.when.(policy.And)
		or, isOr := r.when.(policy.Or)
		switch {
		case isAnd && neutral == policy.Always:
			kept = append(kept, and...)
		case isOr && neutral == policy.Never:
			kept = append(kept, or...)
		case r.when != nil:
			kept = append(kept, r.when)
		}
	}
	switch {
	case len(kept) == 0 && out.complete:
		out.when = neutral
	case len(kept) == 0:
	case len(kept) == 1:
		out.when = kept[0]
	case neutral == policy.Always:
		out.when = policy.And(kept)
	default:
		out.when = policy.Or(kept)
	}
	return out
}

func negated(of reading) reading {
	switch when := of.when.(type) {
	case nil:
	case policy.Constant:
		of.when = !when
	case policy.Not:
		of.when = when.Condition
	default:
		of.when = policy.Not{Condition: when}
	}
	return of
}

// term is an operand: a reading, or a comparison of the path. Several comparisons of the
// path in an Or say more together than each alone.
type term struct {
	reading
	// path is set for a comparison of the path.
	path *comparison
}

// comparison compares the path with texts. Where it is raw, it compares the query too.
type comparison struct {
	text
	raw  bool
	path *messages.Path
}

// anyTerm returns the Or of the terms.
func (t *translator) anyTerm(terms []term) reading {
	var out []reading
	var compared [2][]*comparison
	var places [2]int
	for _, of := range terms {
		if of.path == nil {
			out = append(out, of.reading)
			continue
		}
		kind := 0
		if of.path.raw {
			kind = 1
		}
		if len(compared[kind]) == 0 {
			places[kind] = len(out)
			out = append(out, nothing)
		}
		compared[kind] = append(compared[kind], of.path)
	}
	for kind, comparisons := range compared {
		if len(comparisons) > 0 {
			out[places[kind]] = t.paths(comparisons, kind == 1)
		}
	}
	return anyOf(out)
}

// allTerm returns the And of the terms.
func (t *translator) allTerm(terms []term) reading {
	out := make([]reading, len(terms))
	for i, of := range terms {
		out[i] = t.anyTerm([]term{of})
	}
	return allOf(out)
}

// unsaid notes something that cannot be said at all.
func (t *translator) unsaid(at *messages.Path, reason string) reading {
	t.lost.add(at, reason)
	return nothing
}
