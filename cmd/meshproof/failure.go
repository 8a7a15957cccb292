package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// writeFailure prints why a case failed, with the evidence for it and the command
// that repeats it.
func writeFailure(w io.Writer, p terminal.Paint, r result.Case, again string) {
	fmt.Fprintf(w, "%s %s: %s\n", p.Mark(false), r.Case.Place, terminal.Printable(r.Case.Name))
	if r.Err != nil {
		for line := range strings.Lines(r.Err.Error()) {
			fmt.Fprintf(w, "  %s\n", p.Red(strings.TrimSpace(line)))
		}
	}
	for _, q := range r.Requests {
		if len(q.Problems) > 0 {
			writeProblems(w, p, q, r)
		}
	}
	fmt.Fprintf(w, "  again: %s\n\n", again)
}

func writeProblems(w io.Writer, p terminal.Paint, q result.Request, r result.Case) {
	fmt.Fprintf(w, "  %s: %s as %s\n", q.Place, terminal.Printable(request(q)), terminal.Printable(q.From.Name))
	for _, problem := range q.ProblemTexts() {
		fmt.Fprintf(w, "    %s\n", p.Red(problem))
	}
	if q.Judged {
		fmt.Fprintf(w, "    policies  %s%s\n", q.Decision.Verdict, shadowed(q.Decision))
	}
	arrived := "nothing"
	if a := q.Evidence.Arrival; a != nil {
		arrived = strings.TrimSpace(fmt.Sprintf("%s %s, %d bytes", a.Method, a.Path, a.Bytes))
		arrived = strings.TrimPrefix(arrived, ", ")
	}
	fmt.Fprintf(w, "    caller    %s\n", q.Evidence.Answer)
	fmt.Fprintf(w, "    upstream  %s\n", arrived)
	fmt.Fprintf(w, "    log       %s\n", logLine(q.Evidence.Log))
	fmt.Fprintf(w, "    counters  %s (all requests to %s)\n", r.Counters[q.To], terminal.Printable(q.To))
}

func shadowed(d policy.Decision) string {
	if !d.Shadowed {
		return ""
	}
	return "; shadow " + d.Shadow.String()
}

// logLine is the access log's entry less what the request itself says.
func logLine(log xds.AccessLog) string {
	parts := []string{engine("enforced", log.Enforced), engine("shadow", log.Shadow)}
	for _, part := range []string{log.Details, log.Termination, log.TransportFailure} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "; ")
}

func engine(name string, e xds.Engine) string {
	if !e.Ran {
		return name + " none"
	}
	return name + " " + e.Verdict.String()
}
