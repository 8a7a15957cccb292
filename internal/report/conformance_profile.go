package report

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases/feature"
)

// profile says how far the run supports a profile.
func (r Run) profile(p feature.Profile) ProfileState {
	out := ProfileState{Name: string(p), Core: r.status(p, feature.Core)}
	extended := Extended{Status: r.status(p, feature.Extended)}
	for _, f := range feature.All() {
		if f.Profile != p || f.Level != feature.Extended {
			continue
		}
		if slices.Contains(r.Unsupported, f.Name) {
			extended.UnsupportedFeatures = append(extended.UnsupportedFeatures, string(f.Name))
		} else {
			extended.SupportedFeatures = append(extended.SupportedFeatures, string(f.Name))
		}
	}
	if extended.Result == success && extended.Statistics.Passed == 0 && extended.SupportedFeatures != nil {
		extended.Result = Partial
	}
	out.Summary = out.Core.sentence("Core")
	if extended.Statistics != (Statistics{}) {
		out.Summary += " " + extended.sentence("Extended")
	}
	if extended.SupportedFeatures != nil || extended.UnsupportedFeatures != nil {
		out.Extended = &extended
	}
	return out
}

func (r Run) status(p feature.Profile, l feature.Level) Status {
	t := r.Tally(p, l)
	out := Status{Result: success, Statistics: Statistics{Passed: t.Passed, Skipped: t.Skipped, Failed: t.Failed}}
	switch {
	case t.Failed > 0:
		out.Result = failure
	// No case proves nothing.
	case t.Skipped > 0, t.Passed == 0 && l == feature.Core:
		out.Result = Partial
	}
	for _, c := range r.Cases {
		if level, in := c.Level(p); !in || level != l || c.NotApplicable {
			continue
		}
		switch {
		case c.Skipped != "":
			out.SkippedTests = append(out.SkippedTests, c.Case)
		case !c.Passed:
			out.FailedTests = append(out.FailedTests, c.Case)
		}
	}
	return out
}

// sentence sums up the tests of a level, in the words of Gateway API's reports.
func (s Status) sentence(level string) string {
	switch {
	case s.Statistics == (Statistics{}):
		return level + " tests: no case was run."
	case s.Result == failure:
		return fmt.Sprintf("%s tests failed with %d failures.", level, s.Statistics.Failed)
	case s.Result == Partial:
		return fmt.Sprintf("%s tests partially succeeded with %d skips.", level, s.Statistics.Skipped)
	default:
		return level + " tests succeeded."
	}
}
