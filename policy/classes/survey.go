package classes

import "github.com/meshproof/meshproof/policy"

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
	opaque []policy.Condition
}

func surveyOf(programs []policy.Program) survey {
	var s survey
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

// rules takes in rules that are asked of callers who were told apart before, or
// were not.
func (s *survey) rules(rules []policy.Rule, apart bool) {
	for _, r := range rules {
		asks := s.condition(r.When)
		s.tangled = s.tangled || asks && apart
		s.rules(r.Then, apart || asks)
	}
}

// condition takes in a condition, and reports whether it looks at callers.
func (s *survey) condition(c policy.Condition) bool {
	if c == nil {
		return false
	}
	asking := func(of []bool) (n int) {
		for _, asks := range of {
			if asks {
				n++
			}
		}
		return n
	}
	return policy.Rewrite(c, policy.Shape[bool]{
		And: func(of []bool) bool {
			s.tangled = s.tangled || asking(of) > 1
			return asking(of) > 0
		},
		Or: func(of []bool) bool { return asking(of) > 0 },
		Not: func(of bool) bool {
			s.tangled = s.tangled || of
			return of
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
	}
	return l.dimension == callers
}

// mixed reports whether names are looked at in both ways.
func (s *survey) mixed() bool { return s.perName && s.joined }

// combines reports whether names are combined, so that no single name tells how a
// caller with several is decided. Otherwise all depends on the first rule that one
// of them meets.
func (s *survey) combines() bool { return s.perName && (s.asking > 1 || s.tangled) }
