package result

import (
	"fmt"
	"io"
	"strings"

	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// WriteFailure prints why a case failed, with the evidence for it and the command that
// repeats the case.
func (c Case) WriteFailure(w io.Writer, p terminal.Paint, again string) {
	fmt.Fprintf(w, "%s %s: %s\n", p.Mark(false), c.Case.Place, terminal.Printable(c.Case.Name))
	if c.Err != nil {
		for line := range strings.Lines(c.Err.Error()) {
			fmt.Fprintf(w, "  %s\n", p.Red(strings.TrimSpace(line)))
		}
	}
	for _, q := range c.Requests {
		if len(q.Problems) > 0 {
			c.WriteRequest(w, p, q)
		}
	}
	fmt.Fprintf(w, "  again: %s\n\n", again)
}

// WriteRequest prints the problems of one of the case's requests, and all its evidence.
func (c Case) WriteRequest(w io.Writer, p terminal.Paint, q Request) {
	fmt.Fprintf(w, "  %s: %s as %s\n", q.Place, terminal.Printable(q.Text()), terminal.Printable(q.From.Name))
	for _, problem := range q.ProblemTexts() {
		fmt.Fprintf(w, "    %s\n", p.Red(problem))
	}
	if q.Judged {
		fmt.Fprintf(w, "    policies  %s%s\n", q.Decision.Verdict, shadowText(q.Decision))
	}
	arrived := "nothing"
	if a := q.Evidence.Arrival; a != nil {
		arrived = fmt.Sprintf("%d bytes", a.Bytes)
		if line := strings.TrimSpace(a.Method + " " + a.Path); line != "" {
			arrived = line + ", " + arrived
		}
	}
	fmt.Fprintf(w, "    caller    %s\n", q.Evidence.Answer)
	fmt.Fprintf(w, "    upstream  %s\n", arrived)
	fmt.Fprintf(w, "    log       %s\n", logText(q.Evidence.Log))
	fmt.Fprintf(w, "    counters  %s (all requests to %s)\n", c.Counters[q.To], terminal.Printable(q.To))
}

// Text says where the request goes, and on L7 what it asks for.
func (q Request) Text() string {
	switch {
	case q.GRPC != "":
		return q.To + " " + q.GRPC
	case q.Evidence.Call.Protocol.Layer() == policy.L7:
		method, path := policy.RequestLine(q.Method, q.Path, "")
		return q.To + " " + method + " " + path
	default:
		return q.To
	}
}

func shadowText(d policy.Decision) string {
	if !d.Shadowed {
		return ""
	}
	return "; shadow " + d.Shadow.String()
}

// logText is the entry of the access log without what the request itself says.
func logText(log xds.AccessLog) string {
	parts := []string{engineText("enforced", log.Enforced), engineText("shadow", log.Shadow)}
	for _, part := range []string{log.Details, log.Termination, log.TransportFailure} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "; ")
}

func engineText(name string, e xds.Engine) string {
	if !e.Ran {
		return name + " none"
	}
	return name + " " + e.Verdict.String()
}
