package proof

import (
	"errors"
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

// WholeCase is the name of the case for what keeps a report from holding, and is about no case of it.
const WholeCase = "the proof as a whole"

// AddTo adds the proofs to a run, each as a case with its notes, and the count of their classes. The run has a case that failed where the
// report does not hold: who reads the run alone, as a CI system does, must not take it for a proof.
func (r *Report) AddTo(run *report.Run, build func(result.Case) report.Case) {
	run.ClassesProven = r.Classes()
	for _, one := range r.Cases {
		of := one.Result
		of.Err = errors.Join(append([]error{one.Err}, one.lacks()...)...)
		c := build(of)
		c.Notes = append(c.Notes, one.Notes()...)
		run.Add(c)
	}
	if r.Routes != nil {
		proven, of, complete := r.Routes.Counts()
		run.ClassesProven.Proven, run.ClassesProven.Of, run.ClassesProven.Complete = run.ClassesProven.Proven+proven, run.ClassesProven.Of+of, run.ClassesProven.Complete && complete
		for _, v := range r.Routes.Verdicts {
			of := v.Result
			of.Err = errors.Join(append([]error{of.Err}, v.Lacks()...)...)
			c := build(of)
			c.Notes = append(c.Notes, v.Notes()...)
			run.Add(c)
		}
	}
	run.AddUnmet(WholeCase, r.lacks(), build)
}

// lacks says what keeps the proof from holding, and is wrong in no request of its case.
func (one Proven) lacks() (out []error) {
	for _, in := range one.Inbounds {
		if sampled := in.Inbound.Cover.Sampled; len(sampled) > 0 {
			out = append(out, fmt.Errorf("%s: not all of its requests can be asked: %s", in.Inbound, strings.Join(sampled, "; ")))
		}
	}
	if n := one.Unasked(); n > 0 && one.Err == nil {
		out = append(out, fmt.Errorf("%s of requests not asked for", terminal.Plural(n, "class", "classes")))
	}
	if one.Stated != nil && one.Stated.Failed() {
		for _, failure := range one.Stated.Failures() {
			out = append(out, fmt.Errorf("own request: %s", failure))
		}
	}
	return out
}

// lacks says what keeps the report from holding, and is about no case.
func (r *Report) lacks() (out []error) {
	if len(r.Cases) == 0 && r.Routes == nil {
		out = append(out, errors.New("nothing was asked"))
	}
	add := func(kind string, all []string) {
		for _, text := range all {
			out = append(out, fmt.Errorf("%s: %s", kind, text))
		}
	}
	add("not asked", r.Unasked)
	truncated, strict, warnings := r.Truncated, r.Strict, r.warnings()
	if r.Routes != nil {
		add("not asked", r.Routes.Unasked)
		truncated, strict, warnings = truncated || r.Routes.Truncated, strict || r.Routes.Strict, warnings+len(r.Routes.Warnings)
	}
	if truncated {
		out = append(out, errors.New("sampled: not each two policies that may select one workload were asked together, there are too many"))
	}
	if strict && warnings > 0 {
		out = append(out, fmt.Errorf("--strict, and %s", terminal.Count(warnings, "warning")))
	}
	if r.Known != nil {
		add("meshproof contradicts a known answer", r.Known.Wrong)
	}
	return out
}
