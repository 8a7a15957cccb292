package policy

// Trace tells how one gate came to its verdict.
type Trace struct {
	Gate Gate
	// Shadow is true for a gate that only observes.
	Shadow bool
	// Decides is true for the gate whose verdict became the decision, and for the
	// shadow whose verdict became the verdict of all shadows.
	Decides bool
	// Matched has an entry for each rule of the gate: whether its condition holds.
	// Rules behind the decisive one are judged too, so that a reader sees what it
	// hides.
	Matched []bool
	// Decisive is the index of the rule that decided, or -1 where the default did.
	Decisive int
	Verdict  Verdict
}

// Explain judges a request as [Decide] does and returns the way there: every gate that
// was asked, then every shadow that was asked, each in the order of the program. Gates
// behind the gate that denies are not asked, and neither are the shadows behind it.
func Explain(p Program, r Request) (Decision, []Trace) {
	gates, shadows, served := p.routed(&r)
	traces := make([]Trace, 0, len(gates)+len(shadows))
	gate, _, passed := pass(gates, &r)
	for i := range gates[:min(passed+1, len(gates))] {
		t := gates[i].trace(&r)
		t.Decides = i == gate && (served || t.Verdict.Effect == Deny)
		traces = append(traces, t)
	}
	shadow, _ := observe(shadows, gates, passed, &r)
	for i := range shadows {
		if shadows[i].Position(gates) > passed {
			continue
		}
		t := shadows[i].trace(&r)
		t.Shadow, t.Decides = true, i == shadow
		traces = append(traces, t)
	}
	return Decide(p, r), traces
}

func (g Gate) trace(r *Request) Trace {
	r = g.seen(r)
	t := Trace{Gate: g, Matched: make([]bool, len(g.Rules)), Decisive: -1, Verdict: g.Default}
	for i, rule := range g.Rules {
		t.Matched[i] = rule.Matches(r)
		if t.Matched[i] && t.Decisive < 0 {
			t.Decisive, t.Verdict = i, first(rule.Then, rule.Verdict, r)
		}
	}
	return t
}
