package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/xds"
)

// Runner runs cases. Its zero value, given a harness, is ready.
type Runner struct {
	Harness *harness.Harness
	// Compiler is what is under test; nil for [Reference].
	Compiler Compiler
	// Parallel is how many cases run at once; 4 where it is not positive. While one
	// waits for Envoy to take its configuration, another sends requests.
	Parallel int
	// Kept lets requests of one caller share a connection where the decision is per
	// request: many times as fast, with the same evidence.
	Kept bool
	// AnyNames leaves the names of RBAC policies to the compiler: who decided, and whom
	// the shadow names, is held neither against the policies nor against the case. What
	// was decided still is, and that Envoy's log and counters agree.
	AnyNames bool
	// Fault is a mistake to make on purpose.
	Fault Fault
	// Done is called after each case, one at a time, in the order in which they end.
	Done func(Result)
}

const defaultParallel = 4

// Run runs the cases and returns their results in the same order. A case that
// fails is a result, not an error.
func (r Runner) Run(ctx context.Context, cs ...cases.Case) []Result {
	parallel := r.Parallel
	if parallel < 1 {
		parallel = defaultParallel
	}
	results := make([]Result, len(cs))
	var workers sync.WaitGroup
	var reporting sync.Mutex
	free := make(chan struct{}, parallel)
	for i, c := range cs {
		free <- struct{}{}
		workers.Go(func() {
			defer func() { <-free }()
			results[i] = r.Case(ctx, c)
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
func (r Runner) Case(ctx context.Context, c cases.Case) Result {
	began := time.Now()
	run := &run{runner: r, compiler: r.Compiler, result: Result{Case: c}}
	if run.compiler == nil {
		run.compiler = Reference
	}
	run.result.Err = run.do(ctx)
	run.gate()
	run.result.Took = time.Since(began)
	return run.result
}

// run is one case under way.
type run struct {
	runner   Runner
	compiler Compiler
	result   Result
	set      dialect.Set
	programs map[string]dialect.Program
}

func (r *run) do(ctx context.Context) error {
	c := r.result.Case
	if err := r.read(); err != nil {
		return r.mustRefuse(ctx, err)
	}
	spec, err := r.compile(ctx)
	if err != nil {
		return r.refused(ctx, err)
	}
	if err := r.checkWarnings(); err != nil {
		return err
	}
	if c.ExpectError == "" && len(c.Requests) == 0 {
		return nil
	}
	mesh, err := r.runner.Harness.NewMesh(ctx, spec)
	switch {
	case errors.Is(err, xds.ErrNACK):
		return r.refused(ctx, err)
	case err != nil:
		r.result.Fault = true
		return err
	case c.ExpectError != "":
		err = fmt.Errorf("the policies were accepted; an error that contains %q was expected", c.ExpectError)
	default:
		err = r.ask(ctx, mesh)
	}
	// Also where the case was cut off: its port is another's next.
	closing := mesh.Close(context.WithoutCancel(ctx))
	if closing != nil && !r.result.Fault {
		r.result.Fault = true
		err = errors.Join(err, closing)
	}
	return err
}

// read is the oracle's own reading of the policies: an error there is final.
func (r *run) read() error {
	c := r.result.Case
	var err error
	if r.set, err = dialect.Parse(c.Policies, c.Options); err != nil {
		return err
	}
	r.programs = make(map[string]dialect.Program, len(c.Inbounds))
	inbounds := make([]policy.Inbound, len(c.Inbounds))
	for i, in := range c.Inbounds {
		if err := r.set.Check(in.Inbound); err != nil {
			return err
		}
		program := r.set.Program(in.Inbound)
		inbounds[i], r.programs[in.String()] = in.Inbound, program
		r.result.Warnings = append(r.result.Warnings, program.Warnings...)
	}
	r.result.Warnings = append(r.result.Warnings, r.set.Lint(inbounds)...)
	// Lint sees what lowering saw, and more.
	slices.SortFunc(r.result.Warnings, func(a, b policy.Warning) int { return strings.Compare(a.String(), b.String()) })
	r.result.Warnings = slices.Compact(r.result.Warnings)
	return nil
}

// compile has the compiler under test say what enforces the policies on each inbound.
func (r *run) compile(ctx context.Context) (harness.MeshSpec, error) {
	c := r.result.Case
	spec := harness.MeshSpec{TrustDomains: c.TrustDomains}
	for _, in := range c.Inbounds {
		filters, err := r.compiler.Compile(ctx, in.Inbound, c.Policies, c.Options)
		if err != nil {
			return harness.MeshSpec{}, err
		}
		mtls := xds.Strict
		switch {
		case in.Permissive && r.programs[in.String()].JudgesPlaintext:
			mtls = xds.PermissiveJudged
		case in.Permissive:
			mtls = xds.Permissive
		}
		spec.Inbounds = append(spec.Inbounds, harness.Inbound{
			Name: in.String(), Identity: in.Identity, Address: in.Address(), Protocol: in.Protocol,
			MTLS: mtls, Filters: filters, Normalization: r.runner.Fault.normalization(c.Normalization),
		})
	}
	return spec, nil
}
