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
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// Score has the results of the mutants of a case.
type Score struct {
	Case cases.Case
	// Baseline is the result of the case without a mistake. It is zero for a case without
	// mutants.
	Baseline result.Case
	// Mutants are the mutants that differ from the original.
	Mutants []Verdict
	Exclusions
	// Unshowable are the mistakes in limits that no request in the lab of the case can show, each with
	// the reason.
	Unshowable []string
}

// Verdict is the result of one mutant.
type Verdict struct {
	Mutant
	Inbound string
	// Killed says that the case failed on the mutant. Reason says how it failed, or why it
	// passed.
	Killed bool
	Reason string
	// KilledByOwn says that a request which the case states found it.
	KilledByOwn bool

	original policy.Program
	// invalid says that Envoy refuses the mutant.
	invalid bool
}

// Killed returns the number of mutants that the case found.
func (s Score) Killed() int {
	n := 0
	for _, v := range s.Mutants {
		if v.Killed {
			n++
		}
	}
	return n
}

// ErrBaseline says that a case fails without a mistake. Its failure with a mistake then
// proves nothing.
var ErrBaseline = errors.New("it fails without a mistake: run it first")

// Tester runs mutants. Its zero value, given a runner with a harness, is ready.
type Tester struct {
	Runner suite.Runner
	// OwnRequests uses only the requests of the case. Otherwise the requests of its proof
	// are used too; see [proof.Plan].
	OwnRequests bool
	// Parallel is the number of mutants that run at once. The default is 8.
	Parallel int
}

const defaultParallel = 8

// Case makes every mistake in the policies of a case, one at a time, and runs the case each
// time. A case has no mutants when it states no request or expects an error. The error
// wraps [ErrBaseline], or says that the machine failed.
func (t Tester) Case(ctx context.Context, c cases.Case) (Score, error) {
	score := Score{Case: c}
	if c.ExpectError != "" || len(c.Requests)+len(c.RoutedRequests) == 0 || !c.Gate.Admits(t.Runner.Harness.Version(), t.Runner.Harness.Behavior()) {
		return score, nil
	}
	if t.Runner.Read == nil {
		t.Runner.Read = new(verdict.Memo).Read
	}
	score.Baseline = t.Runner.Case(ctx, c)
	if !score.Baseline.Passed() {
		return score, fmt.Errorf("mutation: %s: case %q: %w", c.Place, c.Name, ErrBaseline)
	}
	reading, err := t.Runner.Read(c)
	if err != nil {
		return score, err
	}
	// What the policies say of the listeners is settled in the case of the reading.
	c = reading.Case
	var probes []proof.Asked
	for _, q := range score.Baseline.Requests {
		probes = append(probes, proof.Asked{Request: q.Request, Seen: q.Seen, Judged: q.Judged})
	}
	own := len(probes)
	if !t.OwnRequests {
		plan := proof.PlanRead(reading)
		c.TrustDomains = plan.Case.TrustDomains
		probes = append(probes, plan.Asked()...)
	}
	for _, in := range reading.Inbounds() {
		if !slices.ContainsFunc(probes, func(p proof.Asked) bool { return p.To == in.String() }) {
			// No request goes to this inbound.
			continue
		}
		mutants, excluded := InboundMutants(in, reading.Set())
		score.Equivalent += excluded.Equivalent
		score.Invalid += excluded.Invalid
		for _, m := range mutants {
			score.Mutants = append(score.Mutants, Verdict{Mutant: m, Inbound: in.String(), original: in.Program.Program})
		}
	}
	stated := reading.ForRequests(c)
	c.Requests, c.Counters, c.RoutedRequests = nil, nil, nil
	err = t.run(ctx, reading.ForRequests(c), probes, own, score.Mutants)
	valid := len(score.Mutants)
	score.Mutants = slices.DeleteFunc(score.Mutants, func(v Verdict) bool { return v.invalid })
	score.Invalid += valid - len(score.Mutants)
	if err == nil {
		err = t.sidecars(ctx, stated, &score)
	}
	return score, err
}

// run runs the mutants and sets their verdicts.
func (t Tester) run(ctx context.Context, reading *verdict.Reading, probes []proof.Asked, own int, verdicts []Verdict) error {
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
			errs[i] = t.mutant(ctx, reading, probes, own, &verdicts[i])
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// requestLimit is the highest number of requests for one mutant. Each of them should find it.
const requestLimit = 2

// mutant runs the requests whose result the mutant should change. The first probes are the
// case's own.
func (t Tester) mutant(ctx context.Context, reading *verdict.Reading, probes []proof.Asked, own int, v *Verdict) error {
	c := reading.Case
	ownChosen := 0
	for i, q := range probes {
		if q.To == v.Inbound && len(c.Requests) < requestLimit && v.Changes(v.original, q) {
			c.Requests = append(c.Requests, q.Request)
			if i < own {
				ownChosen++
			}
		}
	}
	if len(c.Requests) == 0 {
		v.Reason = "no request of the case is decided otherwise"
		return nil
	}
	runner := t.Runner
	runner.Fault, runner.Done = v.Fault, nil
	runner.Compiler = v.compiler(reading)
	r := runner.Reading(ctx, reading.ForRequests(c))
	if r.Fault {
		return fmt.Errorf("mutation: %s: case %q with %s: %w", c.Place, c.Name, v.Kind, r.Err)
	}
	if r.Err != nil && len(r.Requests) == 0 {
		v.invalid = true
		return nil
	}
	v.Killed = r.Failed()
	v.KilledByOwn = v.Killed && slices.ContainsFunc(r.Requests[:min(ownChosen, len(r.Requests))], func(q result.Request) bool { return len(q.Problems) > 0 })
	if v.Reason = firstProblem(r); !v.Killed {
		v.Reason = "Envoy decides as without the mistake"
	}
	return nil
}

// compiler returns the filters of the mutant for its inbound, and correct filters for the
// other inbounds.
func (v *Verdict) compiler(reading *verdict.Reading) suite.Compiler {
	return suite.CompilerFunc(func(_ context.Context, in policy.Inbound, _ []manifest.Document, _ language.Options) (xds.Filters, error) {
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
