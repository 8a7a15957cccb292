// Package classes cuts the requests to an inbound into finitely many classes, so that
// a statement about each class is a statement about every request.
//
// It guarantees that each program decides all requests of a class alike: [policy.Decide]
// gives the same decision, origin and shadow. Each class has a
// witness: a request that a caller can send. Where a cover has examples only, it says
// so: see [Cover.Sampled].
//
// One file for each attribute says which values can be sent, and which values are close
// to the border of a match. The package asks no Envoy and knows no dialect.
package classes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// Cut cuts the requests to one inbound into classes that each of the programs decides
// alike. Two programs give classes that compare them. The shadows of a
// program must stand in the order of their places, as [policy.Program.Check] says.
//
// Callers, paths and methods are combined only where a program goes on to ask for one
// after it knows the other: the cut follows a program rule by rule, and cuts no further
// what is decided. It asks for the names of a caller one by one in the same way: n tags
// of which the last one decides make n+1 classes, and two to the power of n only where
// the rules tell as many apart. A matcher that is hidden by others makes no class, but a
// neighbour of one. Memory grows linearly with the number of classes; beyond 1,048,576
// the cover says that it is not complete.
func Cut(on Surface, programs ...policy.Program) *Cover { return cut(maxClasses, on, programs) }

// maxClasses bounds the memory of a cover.
const maxClasses = 1 << 20

func cut(limit int, on Surface, programs []policy.Program) *Cover {
	programs, asked := toDestination(on, onConnections(on, byForm(programs)))
	c := cutSettled(limit, on, programs)
	if asked != nil {
		c.Dimensions, c.destination = append(c.Dimensions, *asked), on.Destination
	}
	for i := range c.Classes {
		c.arrive(&c.Classes[i].Witness)
	}
	return c
}

// cutSettled cuts programs that have every answer which the surface gives.
func cutSettled(limit int, on Surface, programs []policy.Program) *Cover {
	c := &Cover{layer: on.Protocol.Layer(), trustsHeader: on.TrustedHops > 0, demand: on.demand(), programs: programs, table: tableOf(programs)}
	s := surveyOf(c.table, programs)
	if s.regular || c.asksForIssuer() {
		return cutRegular(c, limit, on, &s)
	}
	c.cutDimensions(on, &s)
	b := newBuilder(c, limit)
	for _, p := range programs {
		b.programs = append(b.programs, compiler{table: c.table, axes: c.axes, sets: c.names != nil, marked: s.perName}.program(p))
	}
	for _, when := range s.opaque {
		c.Sampled = append(c.Sampled, fmt.Sprintf("condition %q: requests that meet it were not looked for", when))
	}
	c.root = b.build(noRef)
	c.Dimensions = c.dimensions(&s)
	if s.mixed() {
		c.sampleNames()
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
	c.axes = make([]*axis, len(c.table.rows))
	c.axes[callers] = c.cutCallers(on, s)
	for d, of := range c.table.rows {
		r := of[0]
		if d == callers || (r.usual == nil || r.quiet) && len(s.leaves[d]) == 0 {
			continue
		}
		a := newAxis(r.widened(on), patternsOf(s.leaves[d]))
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
	space := callerSpace{perName: s.perName, joined: s.joined, wide: on.AnyText, trusted: on.TrustDomains, known: on.TrustDomains}
	if len(space.known) == 0 {
		space.known = trustDomainsOf(s.leaves[callers], on.OwnDomain)
	}
	patterns := patternsOf(s.leaves[callers])
	switch {
	case !s.perName:
		a := newAxis(&space, patterns)
		a.start = a.firstCaller()
		return a
	case s.mixed() || !s.combines():
		single := space
		marked := []pattern{{text: nameMark, kind: policy.Prefix}}
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
		for _, r := range c.table.rows[d] {
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

// survey is what the programs look at.
type survey struct {
	table *table
	// leaves are those of each dimension.
	leaves [][]leaf
	// joined and perName are as in [callerSpace].
	joined, perName bool
	// asking is the number of gates that look at callers. Tangled is true where a gate
	// asks of names what no single name answers.
	asking  int
	tangled bool
	// opaque are conditions that no dimension knows.
	opaque []policy.Condition
	// regular is true where a match is more than a value or its beginning: then the patterns
	// form no tree.
	regular bool
	// names are conditions on the names of callers, in another dimension than the
	// caller: they become opaque where each name is judged by itself.
	names []policy.Condition
}

func surveyOf(t *table, programs []policy.Program) survey {
	s := survey{table: t, leaves: make([][]leaf, len(t.rows))}
	for _, p := range programs {
		s.gates(p.Gates)
		s.gates(p.Shadows)
		for _, route := range p.Routes {
			asks := s.condition(route.When)
			s.tangled = s.tangled || asks
			s.gates(route.Gates)
			s.gates(route.Shadows)
		}
	}
	if s.perName {
		for _, c := range s.names {
			l, _ := t.leafOf(c)
			s.leaves[l.dimension] = nil
		}
		s.opaque = append(s.opaque, s.names...)
	}
	return s
}

func (s *survey) gates(gates []policy.Gate) {
	for _, g := range gates {
		before := len(s.leaves[callers])
		s.rules(g.Rules, false)
		if len(s.leaves[callers]) > before {
			s.asking++
		}
	}
}

// rules takes in rules. Within is true for rules inside a rule that looks at callers.
func (s *survey) rules(rules []policy.Rule, within bool) {
	for _, r := range rules {
		asks := s.condition(r.When)
		s.tangled = s.tangled || asks && within
		s.rules(r.Then, within || asks)
	}
}

// condition takes in a condition, and reports whether it looks at callers.
func (s *survey) condition(c policy.Condition) bool {
	asking := func(operands []bool) (n int) {
		for _, asks := range operands {
			if asks {
				n++
			}
		}
		return n
	}
	return rewrite.Condition(c, rewrite.Shape[bool]{
		And: func(operands []bool) bool {
			s.tangled = s.tangled || asking(operands) > 1
			return asking(operands) > 0
		},
		Or: func(operands []bool) bool { return asking(operands) > 0 },
		Not: func(operand bool) bool {
			s.tangled = s.tangled || operand
			return operand
		},
		Leaf: s.leaf,
	})
}

// leaf takes in a leaf, and reports whether it looks at callers.
func (s *survey) leaf(c policy.Condition) bool {
	if _, constant := c.(policy.Constant); constant {
		return false
	}
	l, ok := s.table.leafOf(c)
	if !ok {
		s.opaque = append(s.opaque, c)
		return false
	}
	is := c.(policy.Is)
	row := s.table.row(l.dimension, is.Attribute)
	s.leaves[l.dimension] = append(s.leaves[l.dimension], l)
	s.regular = s.regular || row.mixes || row.several || !formsTree(is)
	if l.dimension == callers {
		s.perName, s.joined = s.perName || l.perName, s.joined || !l.perName
	} else if row.names {
		s.names = append(s.names, c)
	}
	return l.dimension == callers
}

// formsTree reports whether a match is a pattern of a [family].
func formsTree(is policy.Is) bool {
	m := is.Match
	switch {
	case m.AnyCase, m.Kind == policy.Prefix && is.Attribute == attribute.Path && strings.HasSuffix(m.Value, "/"):
		return false
	case m.Kind == policy.Prefix && is.Attribute == attribute.Method:
		// Few of the texts with a prefix are methods.
		return false
	default:
		return m.Kind == policy.Exact || m.Kind == policy.Prefix || m.Kind == policy.Segments || m.Kind == policy.Range || m.Kind == policy.CIDR
	}
}

// mixed reports whether the programs look at names in both ways.
func (s *survey) mixed() bool { return s.perName && s.joined }

// combines reports whether the programs combine names, so that no single name tells how
// a caller with several names is decided. Otherwise the first rule that one of the names
// meets decides.
func (s *survey) combines() bool { return s.perName && (s.asking > 1 || s.tangled) }
