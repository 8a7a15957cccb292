package policy

import (
	"fmt"
	"maps"
	"slices"
)

// Classes cuts the requests to one inbound into classes that each of the programs
// decides alike; two programs give the classes by which they can be compared.
//
// Callers, paths and methods are combined only where a program goes on to ask for
// one after it knows the other: it is followed rule by rule, and what is decided is
// not cut any further. A matcher that is never asked, as others hide it, makes no
// class, but a neighbour of one. Memory grows linearly with the number of classes;
// beyond 1,048,576 the cover says that it is not complete.
func Classes(on Surface, programs ...Program) *Cover { return classes(maxClasses, on, programs) }

// maxClasses bounds the memory of a cover.
const maxClasses = 1 << 20

func classes(limit int, on Surface, programs []Program) *Cover {
	s := surveyOf(programs)
	c := &Cover{layer: on.Protocol.Layer(), axes: on.axes(s)}
	b := newBuilder(c, limit)
	for _, p := range programs {
		b.courses = append(b.courses, compiler{&c.axes}.program(p))
	}
	for _, when := range s.opaque {
		c.Sampled = append(c.Sampled, fmt.Sprintf("condition %q: requests that meet it were not looked for", when))
	}
	c.root = b.build(c.start(), nobody)
	c.Dimensions = c.dimensions(s)
	if s.perName && !c.separates(&s) {
		c.Sampled = append(c.Sampled, "callers with several names: the rules look at each name by itself, and combine them freely")
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
		if d != callers && c.layer == L4 {
			at[d].settled, at[d].cell = true, a.find(a.key(""))
		}
	}
	return at
}

// survey is what the programs look at.
type survey struct {
	leaves [dimensions][]leaf
	// joined and perName are as in [callerSpace].
	joined, perName bool
	// asking is the number of gates that look at callers, and tangled is true where
	// one of them asks of names what no single name answers.
	asking  int
	tangled bool
	// opaque are conditions that no dimension knows.
	opaque []Condition
}

func surveyOf(programs []Program) survey {
	var s survey
	for _, p := range programs {
		s.gates(p.Gates)
		s.gates(p.Shadows)
		for _, route := range p.Routes {
			s.condition(route.When)
			s.gates(route.Gates)
			s.gates(route.Shadows)
		}
	}
	return s
}

func (s *survey) gates(gates []Gate) {
	for _, g := range gates {
		before := len(s.leaves[callers])
		s.rules(g.Rules, false)
		if len(s.leaves[callers]) > before {
			s.asking++
		}
	}
}

// rules takes in rules that are asked of callers who were told apart before, or
// were not.
func (s *survey) rules(rules []Rule, apart bool) {
	for _, r := range rules {
		asks := s.condition(r.When)
		s.tangled = s.tangled || asks && apart
		s.rules(r.Then, apart || asks)
	}
}

// condition reports whether the condition looks at callers.
func (s *survey) condition(c Condition) bool {
	asking := 0
	operands := func(cs []Condition) {
		for _, of := range cs {
			if s.condition(of) {
				asking++
			}
		}
	}
	switch c := c.(type) {
	case nil, Constant:
	case And:
		operands(c)
		s.tangled = s.tangled || asking > 1
	case Or:
		operands(c)
	case Not:
		operands([]Condition{c.Of})
		s.tangled = s.tangled || asking > 0
	default:
		l, ok := leafOf(c)
		if !ok {
			s.opaque = append(s.opaque, c)
			break
		}
		s.leaves[l.dimension] = append(s.leaves[l.dimension], l)
		if l.dimension == callers {
			asking++
			s.perName, s.joined = s.perName || l.perName, s.joined || !l.perName
		}
	}
	return asking > 0
}

// separates reports whether a caller with several names is decided as one of them
// alone would be, and that one is in a class: all depends on the first rule that
// matches, no rule needs more than one name for that, and no matcher is there for
// DNS SANs alone.
func (c *Cover) separates(s *survey) bool {
	for cell := range c.axes[callers].void {
		if cell != c.axes[callers].rest {
			return false
		}
	}
	return s.asking <= 1 && !s.tangled && !s.joined
}

// axes cuts the dimensions, and looks for witnesses.
func (on Surface) axes(s survey) [dimensions]*axis {
	space := &callerSpace{perName: s.perName, joined: s.joined, trusted: on.TrustDomains, known: on.TrustDomains}
	if len(space.known) == 0 {
		space.known = domainsOf(s.leaves[callers])
	}
	method := "GET"
	if on.Protocol == GRPC {
		method = "POST"
	}
	var patterns [dimensions][]pattern
	for d, leaves := range s.leaves {
		for _, l := range leaves {
			patterns[d] = append(patterns[d], space.pattern(l))
		}
	}
	if s.perName {
		patterns[callers] = append(patterns[callers], pattern{mark, Prefix})
	}
	out := [dimensions]*axis{
		callers: newAxis(space, patterns[callers]),
		paths:   newAxis(pathSpace{on.Normalization}, patterns[paths]),
		methods: newAxis(methodSpace{tokens: on.Protocol != HTTP}, patterns[methods]),
	}
	out[paths].prefer("/")
	out[methods].prefer(method)
	out[callers].start = out[callers].first()
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

func (c *Cover) dimensions(s survey) []Dimension {
	var out []Dimension
	for d, a := range c.axes {
		if len(s.leaves[d]) == 0 || d != callers && c.layer == L4 {
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
