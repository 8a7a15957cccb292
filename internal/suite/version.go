package suite

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/meshproof/meshproof/policy"
)

// gate turns the result around where the case does not claim to hold on this
// version of Envoy: that it fails is what the gate says, and counts for nothing;
// that it passes makes the gate stale.
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
	r.result.Skipped = fmt.Sprintf("it holds %s only: %s", r.result.Case.Gate, r.result.reason())
	r.result.NotApplicable = true
	r.result.Err = nil
}

// reason returns the first line of what went wrong, "" for nothing.
func (r Result) reason() string {
	errs := []error{r.Err}
	for _, q := range r.Requests {
		for _, problem := range q.Problems {
			errs = append(errs, fmt.Errorf("%s: %s", q.Place, problem))
		}
	}
	if err := errors.Join(errs...); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return first
	}
	return ""
}

// normalization is the case's, as this version of Envoy has it.
func (r *run) normalization() policy.PathNormalization {
	n := r.result.Case.Normalization
	n.KeepDotParameters = semver.Compare("v"+r.runner.Harness.Version(), "v1.39.3") < 0
	return n
}
