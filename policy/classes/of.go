package classes

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// Of cuts the requests to one inbound into classes that each of the programs decides
// alike. Two programs give the classes by which they can be compared. The shadows of a
// program must stand in the order of their places, as [policy.Program.Check] says.
//
// Callers, paths and methods are combined only where a program goes on to ask for one
// after it knows the other: the cut follows a program rule by rule, and cuts no further
// what is decided. It asks for the names of a caller one by one in the same way: n tags
// of which the last one decides make n+1 classes, and two to the power of n only where
// the rules tell as many apart. A matcher that is hidden by others makes no class, but a
// neighbour of one. Memory grows linearly with the number of classes; beyond 1,048,576
// the cover says that it is not complete.
func Of(on Surface, programs ...policy.Program) *Cover { return cut(maxClasses, on, programs) }

// maxClasses bounds the memory of a cover.
const maxClasses = 1 << 20

func cut(limit int, on Surface, programs []policy.Program) *Cover {
	s := surveyOf(programs)
	c := &Cover{layer: on.Protocol.Layer(), programs: programs}
	c.cutDimensions(on, &s)
	b := newBuilder(c, limit)
	for _, p := range programs {
		b.programs = append(b.programs, compiler{axes: c.axes, sets: c.names != nil, marked: s.perName}.program(p))
	}
	for _, when := range s.opaque {
		c.Sampled = append(c.Sampled, fmt.Sprintf("condition %q: requests that meet it were not looked for", when))
	}
	c.root = b.build(noRef)
	c.Dimensions = c.dimensions(&s)
	if s.mixed() {
		c.Sampled = append(c.Sampled, "callers with several names: the rules look at each name by itself, and at all of them as one text")
	}
	c.hide(b.used)
	return c
}

// start returns the state of a request before anything is asked.
func (c *Cover) start() []view {
	state := make([]view, len(c.axes))
	for d, a := range c.axes {
		if a != nil {
			state[d] = view{settled: a.settled, cell: a.start}
		}
	}
	return state
}

// cutDimensions cuts each dimension, and looks for witnesses. A dimension has no axis
// where requests need no value of it and no program looks at it.
func (c *Cover) cutDimensions(on Surface, s *survey) {
	c.axes = make([]*axis, len(table()))
	c.axes[callers] = c.cutCallers(on, s)
	for d, of := range table() {
		r := of[0]
		if d == callers || r.usual == nil && len(s.leaves[d]) == 0 {
			continue
		}
		a := newAxis(r.space(on), patternsOf(s.leaves[d]))
		usual := ""
		if r.usual != nil {
			usual = r.usual(on)
		}
		a.prefer(usual)
		if r.attribute.Layer == policy.L7 && c.layer == policy.L4 {
			// On L4 there is nothing to know of a request: its attributes are empty.
			a.settled, a.start = true, a.find(a.key(""))
		}
		c.axes[d] = a
	}
}

// cutCallers cuts the callers: by one text each where that is enough, and otherwise as
// sets of names.
func (c *Cover) cutCallers(on Surface, s *survey) *axis {
	space := callerSpace{perName: s.perName, joined: s.joined, trusted: on.TrustDomains, known: on.TrustDomains}
	if len(space.known) == 0 {
		space.known = trustDomainsOf(s.leaves[callers])
	}
	patterns := patternsOf(s.leaves[callers])
	switch {
	case !s.perName:
		a := newAxis(&space, patterns)
		a.start = a.firstCaller()
		return a
	case s.mixed() || !s.combines():
		single := space
		marked := []pattern{{nameMark, policy.Prefix}}
		for _, l := range s.leaves[callers] {
			marked = append(marked, l.markedPattern())
		}
		a := newAxis(&single, marked)
		a.start = a.firstCaller()
		// A caller with a name that is no SPIFFE ID has another one in front.
		if s.mixed() || len(a.unreachable) == 0 || len(a.unreachable) == 1 && !a.reachable(a.rest) {
			return a
		}
	}
	space.perName = false
	c.names = newNames(&space, patterns)
	return c.names.axis
}

func patternsOf(leaves []leaf) []pattern {
	out := make([]pattern, 0, len(leaves)+1)
	for _, l := range leaves {
		out = append(out, l.pattern)
	}
	return out
}

func (c *Cover) dimensions(s *survey) []Dimension {
	var out []Dimension
	for d, a := range c.axes {
		if a == nil || len(s.leaves[d]) == 0 || a.settled {
			continue
		}
		dim := Dimension{Name: a.name(), Matchers: distinct(s.leaves[d]), Cells: len(a.patterns) - len(a.unreachable)}
		for _, r := range table()[d] {
			dim.Attributes = append(dim.Attributes, r.attribute)
		}
		for _, cell := range slices.Sorted(maps.Keys(a.unreachable)) {
			dim.Unreachable = append(dim.Unreachable, Unreachable{c.cellText(d, cell), a.unreachable[cell]})
		}
		out = append(out, dim)
	}
	return out
}

func distinct(leaves []leaf) int {
	seen := make(map[leaf]struct{}, len(leaves))
	for _, l := range leaves {
		seen[l] = struct{}{}
	}
	return len(seen)
}
