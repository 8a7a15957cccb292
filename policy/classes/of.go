package classes

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// Of cuts the requests to one inbound into classes that each of the programs
// decides alike; two programs give the classes by which they can be compared.
//
// Callers, paths and methods are combined only where a program goes on to ask for
// one after it knows the other: it is followed rule by rule, and what is decided is
// not cut any further. The names of a caller are asked for one by one in the same
// way: of n tags, the last of which decides, there are n+1 classes, and two to the
// power of n only where the rules tell as many apart. A matcher that is never asked,
// as others hide it, makes no class, but a neighbour of one. Memory grows linearly with the number of classes;
// beyond 1,048,576 the cover says that it is not complete.
func Of(on Surface, programs ...policy.Program) *Cover { return classes(maxClasses, on, programs) }

// maxClasses bounds the memory of a cover.
const maxClasses = 1 << 20

func classes(limit int, on Surface, programs []policy.Program) *Cover {
	s := surveyOf(programs)
	c := &Cover{layer: on.Protocol.Layer(), programs: programs}
	c.cut(on, &s)
	b := newBuilder(c, limit)
	for _, p := range programs {
		b.courses = append(b.courses, compiler{axes: &c.axes, sets: c.names != nil, marked: s.perName}.program(p))
	}
	for _, when := range s.opaque {
		c.Sampled = append(c.Sampled, fmt.Sprintf("condition %q: requests that meet it were not looked for", when))
	}
	c.root = b.build(c.start(), nobody)
	c.Dimensions = c.dimensions(&s)
	if s.mixed() {
		c.Sampled = append(c.Sampled, "callers with several names: the rules look at each name by itself, and at all of them as one text")
	}
	c.hide(b.used)
	return c
}

// start is the state of a request of which nothing is known. On L4 there is
// nothing to know of path and method: they are empty.
func (c *Cover) start() state {
	var at state
	for d, a := range c.axes {
		at[d].cell = a.start
		if d != callers && c.layer == policy.L4 {
			at[d].settled, at[d].cell = true, a.find(a.key(""))
		}
	}
	return at
}

// cut cuts the dimensions, and looks for witnesses.
func (c *Cover) cut(on Surface, s *survey) {
	method := "GET"
	if on.Protocol == policy.GRPC {
		method = "POST"
	}
	c.axes[callers] = c.callers(on, s)
	c.axes[paths] = newAxis(pathSpace{on.Normalization}, s.patterns(paths, leaf.bare))
	c.axes[methods] = newAxis(methodSpace{tokens: on.Protocol != policy.HTTP}, s.patterns(methods, leaf.bare))
	c.axes[paths].prefer("/")
	c.axes[methods].prefer(method)
}

// callers cuts the callers: by one text each where that is enough, and otherwise as
// sets of names.
func (c *Cover) callers(on Surface, s *survey) *axis {
	space := callerSpace{perName: s.perName, joined: s.joined, trusted: on.TrustDomains, known: on.TrustDomains}
	if len(space.known) == 0 {
		space.known = domainsOf(s.leaves[callers])
	}
	switch {
	case !s.perName:
		a := newAxis(&space, s.patterns(callers, leaf.bare))
		a.start = a.first()
		return a
	case s.mixed() || !s.combines():
		single := space
		a := newAxis(&single, append(s.patterns(callers, leaf.marked), pattern{mark, policy.Prefix}))
		a.start = a.first()
		_, none := a.void[a.rest]
		// Who has a name that is no SPIFFE ID has another one in front.
		if s.mixed() || len(a.void) == 0 || len(a.void) == 1 && none {
			return a
		}
	}
	space.perName = false
	c.names = newNames(&space, s.patterns(callers, leaf.bare))
	return c.names.axis
}

func (s *survey) patterns(d int, of func(leaf) pattern) []pattern {
	out := make([]pattern, 0, len(s.leaves[d])+1)
	for _, l := range s.leaves[d] {
		out = append(out, of(l))
	}
	return out
}

// first returns the cell of callers that stands for all of them: one whom a rule
// names says more than one whom none does.
func (a *axis) first() int32 {
	for cell := a.rest + 1; int(cell) < len(a.patterns); cell++ {
		if a.witnesses[cell] != "" {
			return cell
		}
	}
	return a.rest
}

func (c *Cover) dimensions(s *survey) []Dimension {
	var out []Dimension
	for d, a := range c.axes {
		if len(s.leaves[d]) == 0 || d != callers && c.layer == policy.L4 {
			continue
		}
		dim := Dimension{Name: a.name(), Matchers: distinct(s.leaves[d]), Cells: len(a.patterns) - len(a.void)}
		for _, cell := range slices.Sorted(maps.Keys(a.void)) {
			dim.Unreachable = append(dim.Unreachable, Unreachable{c.cellText(d, cell), a.void[cell]})
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
