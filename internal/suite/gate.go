package suite

import (
	"cmp"
	"fmt"
)

// gate turns the result around where the case does not claim to hold on this version of
// Envoy. A case that fails then is skipped. A case that passes has a stale gate, and fails.
func (r *run) gate() {
	version := r.runner.Harness.Version()
	if r.result.Case.Gate.Admits(version) || r.result.Fault {
		return
	}
	if r.result.Passed() {
		r.result.Err = fmt.Errorf("the case passes on Envoy %s, but holds %s only, it says: mend the bounds under envoy", version, r.result.Case.Gate)
		return
	}
	// Not the version, so that all versions give one reason.
	r.result.Skipped = fmt.Sprintf("it holds %s only: %s", r.result.Case.Gate, cmp.Or(r.result.Failures()...))
	r.result.NotApplicable = true
	r.result.Err = nil
}
