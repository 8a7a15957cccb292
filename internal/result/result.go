package result

import (
	"fmt"
	"strings"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// Case is what became of one case.
type Case struct {
	Case cases.Case
	// Err says why the case as a whole failed: its policies were refused, or were
	// not, a warning is missing, counters do not add up.
	Err error
	// Fault is true where Err says that Envoy or the machine failed, so that
	// nothing is proven either way.
	Fault bool
	// Skipped says why the case proves nothing here, and does not count; empty for a case
	// that was run. NotApplicable is true where the case is not about this version or
	// this compiler, so that nothing is missing.
	Skipped       string
	NotApplicable bool
	// Requests has an entry for each request of the case, in order; none where the
	// case failed before any was sent.
	Requests []Request
	// Counters is what the counters of each inbound moved by.
	Counters map[string]evidence.Counters
	// Warnings are the warnings of lint and lowering, in order of their place.
	Warnings []policy.Warning
	// Notes explain figures that a reader may take for a mistake.
	Notes []string
	Took  time.Duration
}

// Request is what became of one request.
type Request struct {
	cases.Request
	verdict.Judgement
	Evidence evidence.Evidence
}

// DecidedWrong reports whether Envoy allowed what the policies deny, or the other way
// round. A decision by the wrong policy alone is not wrong in this sense.
func (q Request) DecidedWrong() bool {
	return q.Judged && (q.Finding.Form == evidence.Served) != (q.Decision.Effect == policy.Allow)
}

// Passed reports whether the case went as wanted. A case that was skipped did not.
func (c Case) Passed() bool {
	if c.Err != nil || c.Skipped != "" {
		return false
	}
	for _, q := range c.Requests {
		if len(q.Problems) > 0 {
			return false
		}
	}
	return true
}

// Failed reports whether the case was run and did not go as wanted.
func (c Case) Failed() bool { return c.Skipped == "" && !c.Passed() }

// Failures returns all that went wrong, line by line: of the case as a whole first, then of
// each request behind its place.
func (c Case) Failures() []string {
	var out []string
	if c.Err != nil {
		out = strings.Split(c.Err.Error(), "\n")
	}
	for _, q := range c.Requests {
		for _, problem := range q.Problems {
			out = append(out, fmt.Sprintf("%s: %s", q.Place, problem))
		}
	}
	return out
}

// Retries counts the transport faults that were overcome on the way.
func (c Case) Retries() int {
	n := 0
	for _, q := range c.Requests {
		n += q.Evidence.Retries
	}
	return n
}
