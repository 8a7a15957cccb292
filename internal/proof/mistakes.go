package proof

import (
	"slices"

	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// askMistakes adds, for each mistake of a compiler that no request to the inbound shows so far,
// one that does. Witnesses and their neighbours differ from each other in one value, and some
// mistakes show in two.
func (p *Proof) askMistakes(i int, add func(policy.Request, int)) {
	in := p.Inbounds[i]
	if len(in.Cover.Classes) > mostBordered {
		return
	}
	// decided are the first requests, which show most mistakes, as the program decides them.
	type decided struct {
		request  policy.Request
		decision policy.Decision
	}
	var first []decided
	for n, a := range p.asked {
		if a.inbound == i && len(first) < mostBordered && in.Judges(p.Case.Requests[n]) {
			first = append(first, decided{a.request, policy.Decide(in.Program, a.request)})
		}
	}
	for _, m := range mistake.Enumerate(in.Program) {
		r, ok := m.Shown(in.Surface(), in.CanJudge, in.Program)
		if !ok || slices.ContainsFunc(first, func(d decided) bool { return policy.Decide(m.Program, d.request) != d.decision }) {
			continue
		}
		class, known := in.Cover.Locate(r)
		if !known {
			class = classes.Unclassed
		}
		add(r, class)
	}
}
