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
	// wrong in the search. Notes say which callers were not tried.
	Searched        int
	Problems, Notes []string
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
	// "default" where no rule allows it, or why the listener refuses it. Place is "file:line" of the rule.
	Refuses, Place string
}

// NewReport makes the report of the advisories whose cases were run.
func NewReport(known []Advisory, ran []result.Case) *Report {
	r := &Report{}
	for _, a := range known {
		var outcomes []Outcome
		for _, c := range ran {
			if slices.ContainsFunc(a.Cases, func(of cases.Case) bool { return of.Name == c.Case.Name }) {
				outcomes = append(outcomes, outcomeOf(c))
			}
		}
		r.Findings = append(r.Findings, Finding{Advisory: a, State: StateOf(outcomes...)})
	}
	return r
}

// add takes in what became of an attempt.
func (r *Report) add(a Attempt, ran result.Case) {
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
		r.Findings[at].Bypasses = append(r.Findings[at].Bypasses, Bypass{q, refuses, try.place})
	}
}

// Holds reports whether the Envoy has no advisory, and nothing is unknown.
func (r *Report) Holds() bool {
	return len(r.Problems) == 0 && !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.State != Absent })
}

// Sentence sums the report up.
func (r *Report) Sentence() string {
	present, unknown, bypasses := 0, 0, 0
	for _, f := range r.Findings {
		switch f.State {
		case Present:
			present++
		case Unknown, Wrong:
			unknown++
		}
		bypasses += len(f.Bypasses)
	}
	text := fmt.Sprintf("Envoy %s has %d of the %s that meshproof knows", r.Envoy, present, terminal.Plural(len(r.Findings), "advisory", "advisories"))
	if unknown > 0 {
		text += fmt.Sprintf(", %d unknown", unknown)
	}
	switch {
	case r.Searched == 0:
		return text
	case bypasses == 0:
		return fmt.Sprintf("%s; no request was found that passes the policies of %s by them", text, terminal.Count(r.Searched, "inbound"))
	default:
		return fmt.Sprintf("%s; %s the policies of %s by them", text, terminal.Plural(bypasses, "request passes", "requests pass"), terminal.Count(r.Searched, "inbound"))
	}
}

// WriteText prints the advisories, the requests and a sentence.
func (r *Report) WriteText(w io.Writer, p terminal.Paint) {
	r.writeGroup(w, p, "advisories of Envoy", func(product string) bool { return product == Envoy })
	r.writeGroup(w, p, "advisories of control planes and libraries: the same policies, compiled by meshproof, on this Envoy", func(product string) bool { return product != Envoy })
	for _, text := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", text)
	}
	for _, text := range r.Problems {
		fmt.Fprintf(w, "%s %s\n", p.Mark(false), text)
	}
	fmt.Fprintf(w, "%s %s\n", p.Mark(r.Holds()), r.Sentence())
}

// Envoy is the product of Envoy's own advisories.
const Envoy = "Envoy"

func (r *Report) writeGroup(w io.Writer, p terminal.Paint, title string, has func(product string) bool) {
	var findings []Finding
	var table terminal.Table
	for _, f := range r.Findings {
		if has(f.Product) {
			findings = append(findings, f)
			table = append(table, []string{f.ID, string(f.State), f.Product, f.Loses})
		}
	}
	if len(findings) == 0 {
		return
	}
	fmt.Fprintf(w, "%s\n", title)
	for i, line := range table.Lines() {
		f := findings[i]
		fmt.Fprintf(w, "%s %s\n", p.Mark(f.State == Absent), line)
		if f.State == Present && len(f.Fixed) > 0 {
			fmt.Fprintf(w, "    fixed in %s\n", strings.Join(f.Fixed, ", "))
		}
		if f.State == Present && len(f.Bypasses) == 0 && r.Searched > 0 {
			fmt.Fprintln(w, "    no request was found that passes these policies by it")
		}
		for _, b := range f.Bypasses {
			fmt.Fprintf(w, "    %s is served to %s\n", terminal.Printable(b.Request.Text()), terminal.Printable(b.Request.From.Name))
			fmt.Fprintf(w, "      without the flaw: %s\n", b.text())
		}
	}
	fmt.Fprintln(w)
}

func (b Bypass) text() string {
	text := "denied by " + terminal.Printable(b.Refuses)
	if b.Refuses == "" {
		text = "denied, because no rule allows it"
	}
	if b.Place != "" {
		text += " (" + terminal.Printable(b.Place) + ")"
	}
	return text
}
