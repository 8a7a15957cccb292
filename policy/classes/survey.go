package classes

import (
	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
)

// survey is what the programs look at.
type survey struct {
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
	// names are conditions on the names of callers, in another dimension than the
	// caller: they become opaque where each name is judged by itself.
	names []policy.Condition
}

func surveyOf(programs []policy.Program) survey {
	s := survey{leaves: make([][]leaf, len(table()))}
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
			l, _ := leafOf(c)
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
	l, ok := leafOf(c)
	if !ok {
		s.opaque = append(s.opaque, c)
		return false
	}
	s.leaves[l.dimension] = append(s.leaves[l.dimension], l)
	if l.dimension == callers {
		s.perName, s.joined = s.perName || l.perName, s.joined || !l.perName
	} else if rows[c.(policy.Is).Attribute].names {
		s.names = append(s.names, c)
	}
	return l.dimension == callers
}

// mixed reports whether the programs look at names in both ways.
func (s *survey) mixed() bool { return s.perName && s.joined }

// combines reports whether the programs combine names, so that no single name tells how
// a caller with several names is decided. Otherwise the first rule that one of the names
// meets decides.
func (s *survey) combines() bool { return s.perName && (s.asking > 1 || s.tangled) }
