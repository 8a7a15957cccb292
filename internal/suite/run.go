package suite

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// Runner runs cases. Its zero value, given a harness, is ready.
type Runner struct {
	Harness *harness.Harness
	// Compiler is what is under test; nil for [Reference].
	Compiler Compiler
	// Parallel is how many cases run at once; 4 where it is not positive. While one
	// waits for Envoy to take its configuration, another sends requests.
	Parallel int
	// Kept lets requests of one caller share a connection where Envoy decides for each
	// request. That is many times as fast, with the same evidence.
	Kept bool
	// AnyNames leaves the names of RBAC policies to the compiler: the names that Envoy
	// reports are compared neither with the policies nor with the case. The decisions
	// still are, and Envoy's log and counters still have to agree.
	AnyNames bool
	// Fault is a mistake to make on purpose.
	Fault Fault
	// Read reads the policies of a case; nil for [verdict.Read].
	Read func(cases.Case) (*verdict.Reading, error)
	// Done is called after each case, one at a time, in the order in which they end.
	Done func(result.Case)
}

const defaultParallel = 4

// Run runs the cases, several at once, and returns their results in the same order. A case
// that fails is a result, not an error.
func (r Runner) Run(ctx context.Context, cs ...cases.Case) []result.Case {
	return r.each(len(cs), func(i int) result.Case { return r.Case(ctx, cs[i]) })
}

// Readings is [Runner.Run] for cases whose policies have been read.
func (r Runner) Readings(ctx context.Context, readings ...*verdict.Reading) []result.Case {
	return r.each(len(readings), func(i int) result.Case { return r.Reading(ctx, readings[i]) })
}

// each runs n cases, several at once, and reports each as it ends.
func (r Runner) each(n int, runCase func(i int) result.Case) []result.Case {
	parallel := r.Parallel
	if parallel < 1 {
		parallel = defaultParallel
	}
	results := make([]result.Case, n)
	var workers sync.WaitGroup
	var reporting sync.Mutex
	free := make(chan struct{}, parallel)
	for i := range n {
		free <- struct{}{}
		workers.Go(func() {
			defer func() { <-free }()
			results[i] = runCase(i)
			if r.Done != nil {
				reporting.Lock()
				defer reporting.Unlock()
				r.Done(results[i])
			}
		})
	}
	workers.Wait()
	return results
}

// Case runs one case.
func (r Runner) Case(ctx context.Context, c cases.Case) result.Case {
	began := time.Now()
	reading, err := r.read(c)
	if err == nil {
		return r.runReading(ctx, reading, began)
	}
	one := r.newRun(c, began)
	one.result.Err = one.mustRefuse(ctx, err)
	return one.end()
}

func (r Runner) read(c cases.Case) (*verdict.Reading, error) {
	if r.Read != nil {
		return r.Read(c)
	}
	return verdict.Read(c)
}

// Reading runs one case whose policies have been read.
func (r Runner) Reading(ctx context.Context, reading *verdict.Reading) result.Case {
	return r.runReading(ctx, reading, time.Now())
}

func (r Runner) runReading(ctx context.Context, reading *verdict.Reading, began time.Time) result.Case {
	one := r.newReadingRun(reading, began)
	if one.compile(ctx) {
		layout{r, []*run{one}}.play(ctx)
	}
	return one.end()
}

// Together runs cases whose policies have been read in one mesh and one push, and judges
// each of them as [Runner.Case] does. A case that needs a mesh of its own gets one. Where
// Envoy refuses the push, each case is run alone. Done is not called.
func (r Runner) Together(ctx context.Context, readings ...*verdict.Reading) []result.Case {
	began := time.Now()
	runs := make([]*run, len(readings))
	var together []*run
	for i, reading := range readings {
		one := r.newReadingRun(reading, began)
		runs[i] = one
		switch {
		case !one.compile(ctx):
		case one.isAlone():
			layout{r, []*run{one}}.play(ctx)
		default:
			together = append(together, one)
		}
	}
	if len(together) > 0 {
		layout{r, together}.play(ctx)
	}
	out := make([]result.Case, len(runs))
	for i, one := range runs {
		out[i] = one.end()
	}
	return out
}

// run is one case under way.
type run struct {
	runner   Runner
	compiler Compiler
	began    time.Time
	result   result.Case
	// reading is nil where the policies are refused.
	reading *verdict.Reading
	// inbounds are the inbounds of the case with their filters, once those are compiled.
	inbounds []harness.Inbound
}

func (r Runner) newRun(c cases.Case, began time.Time) *run {
	one := &run{runner: r, compiler: r.Compiler, began: began, result: result.Case{Case: c}}
	if one.compiler == nil {
		one.compiler = Reference
	}
	return one
}

func (r Runner) newReadingRun(reading *verdict.Reading, began time.Time) *run {
	one := r.newRun(reading.Case, began)
	one.reading = reading.On(r.Harness.Version())
	one.result.Warnings = reading.Warnings()
	return one
}

// end returns the result.
func (r *run) end() result.Case {
	r.gate()
	r.result.Took = time.Since(r.began)
	return r.result
}

// compile has the compiler under test say what enforces the policies on each inbound. It
// reports whether there is anything to ask Envoy.
func (r *run) compile(ctx context.Context) bool {
	c := r.reading.Case
	filters, err := r.compiler.Compile(ctx, Input{Inbounds: policyInbounds(c), Policies: c.Policies, Options: c.Options, Parsed: r.reading.Set()})
	switch {
	case err != nil:
		r.result.Err = r.refused(ctx, err)
		return false
	case len(filters) != len(c.Inbounds):
		r.result.Fault, r.result.Err = true, fmt.Errorf("the compiler was asked for the filters of %d inbounds and gave those of %d", len(c.Inbounds), len(filters))
		return false
	}
	for i, in := range r.reading.Inbounds() {
		r.inbounds = append(r.inbounds, harness.Inbound{
			Name: in.String(), Identity: in.Identity, Address: in.Address(), Protocol: in.Protocol,
			MTLS: in.MTLS(), Filters: filters[i], Normalization: r.runner.Fault.normalization(c.Normalization),
		})
	}
	if r.result.Err = r.checkWarnings(); r.result.Err != nil {
		return false
	}
	return c.ExpectError != "" || len(c.Requests) > 0
}

func policyInbounds(c cases.Case) []policy.Inbound {
	out := make([]policy.Inbound, len(c.Inbounds))
	for i, in := range c.Inbounds {
		out[i] = in.Inbound
	}
	return out
}
