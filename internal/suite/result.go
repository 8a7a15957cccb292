package suite

import (
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
)

// Result is what became of one case.
type Result struct {
	Case cases.Case
	// Err says why the case as a whole failed: its policies were refused, or were
	// not, a warning is missing, counters do not add up.
	Err error
	// Fault is true where Err says that Envoy or the machine failed, so that
	// nothing is proven either way.
	Fault bool
	// Skipped says why the case proves nothing here, and does not count; empty for one
	// that was run. NotApplicable is true where the case is not about this version or
	// this compiler, so that nothing is missing.
	Skipped       string
	NotApplicable bool
	// Requests has an entry for each request of the case, in order; none where the
	// case failed before any was sent.
	Requests []Request
	// Counters is what the counters of each inbound moved by.
	Counters map[string]evidence.Counters
	// Warnings are those of lint and lowering, in order of their place.
	Warnings []policy.Warning
	// Notes explain what a reader of the figures may stumble over.
	Notes []string
	Took  time.Duration
}

// Request is what became of one request.
type Request struct {
	cases.Request
	// Judged is false where no policy is to be asked; Decision is the oracle's
	// otherwise.
	Judged   bool
	Decision policy.Decision
	// Seen is the request as the policies see it, where they were asked.
	Seen policy.Request
	// Rule is the text of the rule that decided, as [policy.Rule] prints it, or the
	// default's.
	Rule     string
	Evidence evidence.Evidence
	Finding  evidence.Finding
	// Problems say what differs; none for a request that went as wanted.
	Problems []string
}

// Passed reports whether the case went as wanted. One that was skipped did not.
func (r Result) Passed() bool {
	if r.Err != nil || r.Skipped != "" {
		return false
	}
	for _, q := range r.Requests {
		if len(q.Problems) > 0 {
			return false
		}
	}
	return true
}

// Failed reports whether the case was run and did not go as wanted.
func (r Result) Failed() bool { return r.Skipped == "" && !r.Passed() }

// Retries counts the transport faults that were overcome on the way.
func (r Result) Retries() int {
	n := 0
	for _, q := range r.Requests {
		n += q.Evidence.Retries
	}
	return n
}
