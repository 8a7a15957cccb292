package advisory

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

// Report says which advisories an Envoy has, and which requests pass policies by them.
type Report struct {
	Envoy, Runtime string
	Behavior       behavior.Set
	Findings       []Finding
	// Searched is how many inbounds were searched for requests, and Problems what went
	// wrong in the search.
	Searched int
	Problems []string
}

// Finding is one advisory on the Envoy.
type Finding struct {
	Advisory
	State    State
	Bypasses []Bypass
}

// Bypass is a request that passes policies because of the flaw.
type Bypass struct {
	Request result.Request
	// Refuses is the name of the rule that refuses the request on an Envoy without the flaw,
	// "default" where no rule allows it, or why the listener refuses it. At is "file:line" of the rule.
	Refuses, At string
}

// NewReport makes the report of the advisories whose cases were run.
func NewReport(known []Advisory, ran []result.Case) *Report {
	r := &Report{}
	for _, a := range known {
		own := slices.DeleteFunc(slices.Clone(ran), func(c result.Case) bool {
			return !slices.ContainsFunc(a.Cases, func(of cases.Case) bool { return of.Name == c.Case.Name })
		})
		r.Findings = append(r.Findings, Finding{Advisory: a, State: StateOf(own)})
	}
	return r
}

// Add takes in what became of an attempt.
func (r *Report) Add(a Attempt, ran result.Case) {
	r.Searched += len(a.Reading.Case.Inbounds)
	if ran.Err != nil {
		r.Problems = append(r.Problems, fmt.Sprintf("%s: %v", terminal.Printable(ran.Case.Name), ran.Err))
	}
	for i, q := range ran.Requests {
		try := a.tries[i]
		at := slices.IndexFunc(r.Findings, func(f Finding) bool {
			flaw, ok := f.Behavior()
			return ok && flaw == try.flaw
		})
		if at < 0 || len(q.Problems) > 0 {
			r.Problems = append(r.Problems, fmt.Sprintf("%s: the flaw %s lets the request pass, but %s", terminal.Printable(q.Text()), try.flaw, strings.Join(q.ProblemTexts(), "; ")))
			continue
		}
		refuses := try.denied.Origin
		if try.rejected != nil {
			refuses = try.rejected.Error()
		}
		r.Findings[at].Bypasses = append(r.Findings[at].Bypasses, Bypass{q, refuses, try.at})
	}
}

// Holds reports whether the Envoy has no advisory, and nothing is unknown.
func (r *Report) Holds() bool {
	return len(r.Problems) == 0 && !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.State != Absent })
}

// Sentence sums the report up.
func (r *Report) Sentence() string {
	present, bypasses := 0, 0
	for _, f := range r.Findings {
		if f.State == Present {
			present++
		}
		bypasses += len(f.Bypasses)
	}
	text := fmt.Sprintf("Envoy %s has %d of %s", r.Envoy, present, terminal.Count(len(r.Findings), "advisory"))
	text = strings.Replace(text, "advisorys", "advisories", 1)
	if r.Searched > 0 {
		text += fmt.Sprintf("; %s the policies of %s because of them", terminal.Plural(bypasses, "request passes", "requests pass"), terminal.Count(r.Searched, "inbound"))
	}
	return text
}

// WriteText prints the advisories, the requests and a sentence.
func (r *Report) WriteText(w io.Writer, p terminal.Paint) {
	for _, f := range r.Findings {
		fmt.Fprintf(w, "%s %-16s %-13s %-8s %s\n", p.Mark(f.State == Absent), f.ID, f.State, f.Product, f.Loses)
		if f.State == Present && len(f.Fixed) > 0 {
			fmt.Fprintf(w, "    fixed in %s\n", strings.Join(f.Fixed, ", "))
		}
		for _, b := range f.Bypasses {
			fmt.Fprintf(w, "    %s %s as %s is served\n      without the flaw: %s\n", p.Mark(false), b.Request.Text(), terminal.Printable(b.Request.From.Name), b.text())
		}
	}
	for _, text := range r.Problems {
		fmt.Fprintf(w, "%s %s\n", p.Mark(false), text)
	}
	fmt.Fprintf(w, "\n%s %s\n", p.Mark(r.Holds()), r.Sentence())
}

func (b Bypass) text() string {
	text := "denied by " + terminal.Printable(b.Refuses)
	if b.At != "" {
		text += " (" + terminal.Printable(b.At) + ")"
	}
	return text
}
