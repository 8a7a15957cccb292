package proof

import (
	"slices"

	"github.com/meshproof/meshproof/internal/counterexample"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routeproof"
	"github.com/meshproof/meshproof/internal/verdict"
)

// Report is what became of several proofs.
type Report struct {
	// Envoy is the version that was asked, Runtime how it was run.
	Envoy, Runtime  string
	Cases           []Proven
	Counterexamples []counterexample.Counterexample
	// Unasked are the policies that select nothing that can exist, with the reason. Nothing
	// is proven of them.
	Unasked []string
	// Made says of the callers that were made who they are.
	Made []string
	// Truncated says that there are more inbounds to make for policies than were made.
	Truncated bool
	// Warnings are about the files, and about no inbound.
	Warnings []string
	// Assumed says which inbound is asked because no file describes one; "" for none.
	Assumed string
	// LeftOut counts the documents beside the policies that are not read; "" for none.
	LeftOut string
	// Strict says that a warning is a failure.
	Strict bool
	// Routes are the proofs of what workloads send; nil where nothing is said about that.
	Routes *routeproof.Report
	// Known are the known answers; nil where they were not checked.
	Known *KnownAnswers
}

// Proven is what became of one proof.
type Proven struct {
	Verdict
	Result result.Case
	// Stated is what became of the case's own requests; nil where it has none.
	Stated *result.Case
}

// Add judges a proof by the result of its case.
func (r *Report) Add(p *Proof, of result.Case) {
	p.explain(of, false)
	r.Cases = append(r.Cases, Proven{Verdict: p.Judge(of), Result: of})
}

// Readings returns what has to be run for the proofs: their cases, and then the cases with
// own requests.
func Readings(proofs []*Proof) []*verdict.Reading {
	var out, own []*verdict.Reading
	for _, p := range proofs {
		out = append(out, p.Reading)
		if p.Stated != nil {
			own = append(own, p.Stated)
		}
	}
	return append(out, own...)
}

// AddAll judges proofs by the results of [Readings].
func (r *Report) AddAll(proofs []*Proof, results []result.Case) {
	own := results[len(proofs):]
	for i, p := range proofs {
		r.Add(p, results[i])
		if p.Stated != nil {
			p.explain(own[0], true)
			r.Cases[len(r.Cases)-1].Stated, own = &own[0], own[1:]
		}
	}
}

func (p *Proof) explain(of result.Case, named bool) {
	if p.Explain != nil {
		of.Explain(func(q result.Request) string { return p.Explain(of.Case, q.Request, named) })
	}
}

// Holds reports whether everything was decided as specified, and as the case wants of its
// own requests.
func (one Proven) Holds() bool {
	return one.Verdict.Holds() && (one.Stated == nil || !one.Stated.Failed())
}

// Holds reports whether everything was asked, and decided as specified.
func (r *Report) Holds() bool {
	if r.Routes != nil && !r.Routes.Holds() {
		return false
	}
	return (len(r.Cases) > 0 || r.Routes != nil) && len(r.Unasked) == 0 && !r.Truncated && !(r.Strict && r.warnings() > 0) && (r.Known == nil || len(r.Known.Wrong) == 0) && !slices.ContainsFunc(r.Cases, func(p Proven) bool { return !p.Holds() })
}

// warnings counts the warnings of all cases.
func (r *Report) warnings() int {
	n := len(r.Warnings)
	for _, p := range r.Cases {
		n += len(p.Result.Warnings)
	}
	return n
}

// failedOwn counts the cases whose own requests are not decided as wanted.
func (r *Report) failedOwn() int {
	n := 0
	for _, p := range r.Cases {
		if p.Stated != nil && p.Stated.Failed() {
			n++
		}
	}
	return n
}

// made counts the inbounds that were made.
func (r *Report) made() int {
	n := 0
	for _, p := range r.Cases {
		for _, in := range p.Inbounds {
			if in.Inbound.Made != "" {
				n++
			}
		}
	}
	return n
}

// Fault reports whether Envoy or the machine failed.
func (r *Report) Fault() bool {
	if r.Routes != nil && r.Routes.Fault() {
		return true
	}
	return slices.ContainsFunc(r.Cases, func(p Proven) bool { return p.Result.Fault || p.Stated != nil && p.Stated.Fault })
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
	if r.Routes != nil {
		for _, v := range r.Routes.Verdicts {
			out = append(out, counterexample.Suspect{Case: v.Result.Case, RoutedRequests: v.Wrong()})
		}
	}
	return out
}
