package summary

import (
	"fmt"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

// Tally counts what became of cases, of their requests, and of the transport.
type Tally struct {
	report.Tally
	// Requests and Retries leave out those of skipped cases. Retries are the transport
	// faults that were overcome.
	Requests, Retries int
	// Fault is true where Envoy or the machine failed.
	Fault bool
}

// Of counts the results.
func Of(results ...result.Case) Tally {
	var t Tally
	for _, r := range results {
		t.Tally.Add(report.Case{Passed: r.Passed(), Skipped: r.Skipped, NotApplicable: r.NotApplicable})
		if r.Skipped == "" {
			t.Requests += len(r.Requests)
			t.Retries += r.Retries()
			t.Fault = t.Fault || r.Fault
		}
	}
	return t
}

// OfRun counts what a report says of a run.
func OfRun(run report.Run) Tally {
	var t Tally
	for _, c := range run.Cases {
		t.Tally.Add(c)
		t.Fault = t.Fault || c.Fault
		if c.Skipped != "" {
			continue
		}
		t.Requests += len(c.Requests)
		for _, q := range c.Requests {
			t.Retries += q.Evidence.Retries
		}
	}
	return t
}

// Plus adds up two tallies.
func (t Tally) Plus(u Tally) Tally {
	t.Passed, t.Failed = t.Passed+u.Passed, t.Failed+u.Failed
	t.Skipped, t.NotApplicable = t.Skipped+u.Skipped, t.NotApplicable+u.NotApplicable
	t.Requests, t.Retries = t.Requests+u.Requests, t.Retries+u.Retries
	t.Fault = t.Fault || u.Fault
	return t
}

// Line is the last line of a run.
func (t Tally) Line(p terminal.Paint, run report.Run) string {
	line := fmt.Sprintf("%s %s on Envoy %s (%s)", p.Mark(t.Failed == 0), t, run.Envoy, run.Runtime)
	if t.Retries > 0 {
		line += fmt.Sprintf(", %s retried", terminal.Count(t.Retries, "transport fault"))
	}
	return line
}

// String is "3 cases passed, 45 requests" or "1 of 3 cases failed, 2 skipped, 1 not
// applicable, 45 requests".
func (t Tally) String() string {
	text := terminal.Count(t.Passed, "case") + " passed"
	if t.Failed > 0 {
		text = fmt.Sprintf("%d of %s failed", t.Failed, terminal.Count(t.Passed+t.Failed, "case"))
	}
	if t.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", t.Skipped)
	}
	if t.NotApplicable > 0 {
		text += fmt.Sprintf(", %d not applicable", t.NotApplicable)
	}
	return text + ", " + terminal.Count(t.Requests, "request")
}
