package policy

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
			asks := s.condition(route.When)
			s.tangled = s.tangled || asks
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

// mixed reports whether names are looked at in both ways.
func (s *survey) mixed() bool { return s.perName && s.joined }

// combines reports whether names are combined, so that no single name tells how a
// caller with several is decided. Otherwise all depends on the first rule that one
// of them meets.
func (s *survey) combines() bool { return s.perName && (s.asking > 1 || s.tangled) }
