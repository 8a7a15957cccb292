package mutation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// Score is what became of the mutants of a case.
type Score struct {
	Case cases.Case
	// Baseline is the case without a mistake; of a case that has no mutants it is zero.
	Baseline result.Case
	// Mutants are those that differ from the original.
	Mutants []Verdict
	Left
}

// Verdict is what became of one mutant.
type Verdict struct {
	Mutant
	Inbound string
	// Killed says that the case failed on the mutant, and Reason how; of a survivor it
	// says why the case passed.
	Killed bool
	Reason string

	original policy.Program
	// invalid says that Envoy does not take the mutant.
	invalid bool
}

// Killed counts the mutants that the case found.
func (s Score) Killed() int {
	n := 0
	for _, v := range s.Mutants {
		if v.Killed {
			n++
		}
	}
	return n
}

// ErrBaseline says that a case does not pass without a mistake, so that its failing with
// one tells nothing.
var ErrBaseline = errors.New("it fails without a mistake: run it first")

// Tester runs mutants. Its zero value, given a runner with a harness, is ready.
type Tester struct {
	Runner suite.Runner
	// OwnRequests leaves the mutants to the requests that the case states; else those of
	// its proof are tried too, see [proof.Plan].
	OwnRequests bool
	// Parallel is how many mutants run at once; 8 where it is not positive.
	Parallel int
}

const defaultParallel = 8

// Case makes every mistake in the policies of a case, one at a time, and runs the case
// on each. A case that states no request, or that expects an error, has no mutants. It
// fails where the case fails without a mistake, and where the machine does.
func (t Tester) Case(ctx context.Context, c cases.Case) (Score, error) {
	score := Score{Case: c}
	if c.ExpectError != "" || len(c.Requests) == 0 || !c.Gate.Admits(t.Runner.Harness.Version()) {
		return score, nil
	}
	reading, err := verdict.Read(c)
	if err != nil {
		score.Baseline = t.Runner.Case(ctx, c)
	} else {
		score.Baseline = t.Runner.Read(ctx, reading)
	}
	if !score.Baseline.Passed() {
		return score, fmt.Errorf("mutation: %s: case %q: %w", c.Place, c.Name, ErrBaseline)
	}
	probes := probesOf(score.Baseline)
	if !t.OwnRequests {
		plan := proof.PlanRead(reading)
		c.TrustDomains = plan.Case.TrustDomains
		probes = append(probes, plan.Asked()...)
	}
	for _, in := range reading.Inbounds() {
		if !slices.ContainsFunc(probes, func(p proof.Asked) bool { return p.To == in.String() }) {
			// The case is not about this inbound.
			continue
		}
		mutants, left := Mutants(in.Surface(), in.Program.Program)
		score.Equivalent += left.Equivalent
		score.Invalid += left.Invalid
		for _, m := range mutants {
			score.Mutants = append(score.Mutants, Verdict{Mutant: m, Inbound: in.String(), original: in.Program.Program})
		}
	}
	c.Requests, c.Counters = nil, nil
	err = t.run(ctx, reading.As(c), probes, score.Mutants)
	valid := len(score.Mutants)
	score.Mutants = slices.DeleteFunc(score.Mutants, func(v Verdict) bool { return v.invalid })
	score.Invalid += valid - len(score.Mutants)
	return score, err
}

// probesOf are the requests of the case itself.
func probesOf(r result.Case) []proof.Asked {
	var out []proof.Asked
	for _, q := range r.Requests {
		out = append(out, proof.Asked{Request: q.Request, Seen: q.Seen, Judged: q.Judged})
	}
	return out
}

// run fills in the verdicts.
func (t Tester) run(ctx context.Context, reading *verdict.Reading, probes []proof.Asked, verdicts []Verdict) error {
	parallel := t.Parallel
	if parallel < 1 {
		parallel = defaultParallel
	}
	errs := make([]error, len(verdicts))
	free := make(chan struct{}, parallel)
	var running sync.WaitGroup
	for i := range verdicts {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			errs[i] = t.mutant(ctx, reading, probes, &verdicts[i])
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// mostRequests is how many requests are tried on a mutant that should all tell it.
const mostRequests = 2

// mutant runs the requests of the case that should tell the mutant from the original.
func (t Tester) mutant(ctx context.Context, reading *verdict.Reading, probes []proof.Asked, v *Verdict) error {
	c := reading.Case
	for _, q := range probes {
		if q.To == v.Inbound && len(c.Requests) < mostRequests && v.Tells(v.original, q) {
			c.Requests = append(c.Requests, q.Request)
		}
	}
	if len(c.Requests) == 0 {
		v.Reason = "no request of the case is decided otherwise"
		return nil
	}
	runner := t.Runner
	runner.Fault, runner.Done = v.Fault, nil
	runner.Compiler = v.compiler(reading)
	r := runner.Read(ctx, reading.As(c))
	if r.Fault {
		return fmt.Errorf("mutation: %s: case %q with %s: %w", c.Place, c.Name, v.Kind, r.Err)
	}
	if r.Err != nil && len(r.Requests) == 0 {
		v.invalid = true
		return nil
	}
	v.Killed = r.Failed()
	if v.Reason = firstProblem(r); !v.Killed {
		v.Reason = "Envoy decides as without the mistake"
	}
	return nil
}

// compiler gives the filters of the mutant on its inbound, and those that are meant on the
// others.
func (v *Verdict) compiler(reading *verdict.Reading) suite.Compiler {
	return suite.CompilerFunc(func(_ context.Context, in policy.Inbound, _ []manifest.Document, _ dialect.Options) (xds.Filters, error) {
		if in.String() == v.Inbound && v.Fault == (suite.Fault{}) {
			return v.Compile()
		}
		return xds.Compile(reading.Inbound(in.String()).Program.Program)
	})
}

func firstProblem(r result.Case) string {
	if r.Err != nil {
		return r.Err.Error()
	}
	for _, q := range r.Requests {
		if len(q.Problems) > 0 {
			return q.Problems[0].String()
		}
	}
	return ""
}
