package verify

import (
	"errors"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
)

// NotVerified begins the name of the case for an inbound that is not verified, and that of the case for the Envoy.
const NotVerified = "not verified: "

// AddTo adds the proofs to a run, and a case that failed for each inbound that is not verified, also where all its requests were decided
// as specified. So a run passes only where everything is verified.
func (v *Verification) AddTo(run *report.Run, build func(result.Case) report.Case) {
	v.Report.AddTo(run, build)
	var names []string
	reasons, told := map[string][]error{}, map[string]bool{}
	for _, u := range v.Unverified {
		// Chains of one address are told by one name.
		text := u.String()
		if told[text] {
			continue
		}
		told[text] = true
		if reasons[u.Inbound] == nil {
			names = append(names, u.Inbound)
		}
		reasons[u.Inbound] = append(reasons[u.Inbound], errors.New(text))
	}
	for _, name := range names {
		run.AddUnmet(NotVerified+name, reasons[name], build)
	}
	var envoy []error
	for _, reason := range v.unverified(nil) {
		envoy = append(envoy, errors.New(reason))
	}
	run.AddUnmet(NotVerified+"the Envoy", envoy, build)
}
