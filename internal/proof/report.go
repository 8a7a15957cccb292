package proof

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/counterexample"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
)

// Report is what became of several proofs.
type Report struct {
	// Envoy is the version that was asked, Runtime how it was run.
	Envoy, Runtime  string
	Cases           []Proven
	Counterexamples []counterexample.Counterexample
}

// Proven is what became of one proof.
type Proven struct {
	Verdict
	Result result.Case
}

// Add judges a proof by the result of its case.
func (r *Report) Add(p *Proof, of result.Case) {
	r.Cases = append(r.Cases, Proven{p.Judge(of), of})
}

// Holds reports whether everything was decided as specified.
func (r *Report) Holds() bool {
	return !slices.ContainsFunc(r.Cases, func(p Proven) bool { return !p.Holds() })
}

// Fault reports whether Envoy or the machine failed.
func (r *Report) Fault() bool {
	return slices.ContainsFunc(r.Cases, func(p Proven) bool { return p.Result.Fault })
}

// Classes counts the classes of all cases.
func (r *Report) Classes() *report.Classes {
	out := &report.Classes{Complete: true}
	for _, p := range r.Cases {
		proven, of := p.Counts()
		out.Proven += proven
		out.Of += of
		out.Complete = out.Complete && p.Complete()
	}
	return out
}

// Suspects returns what was not decided as specified, for [counterexample.Finder].
func (r *Report) Suspects() []counterexample.Suspect {
	var out []counterexample.Suspect
	for _, p := range r.Cases {
		out = append(out, counterexample.Suspect{Case: p.Result.Case, Requests: p.Disagreements})
	}
	return out
}

// Sentence says in one what was proven.
func (r *Report) Sentence() string {
	c := r.Classes()
	text := Sentence(c.Proven, c.Of, c.Complete, r.Envoy)
	unasked := 0
	for _, p := range r.Cases {
		unasked += p.Unasked()
	}
	if unasked > 0 {
		text += fmt.Sprintf("; nobody asked for %d of them", unasked)
	}
	return text
}
