// Package suite runs cases on a harness and judges them: does the evidence show what the
// policies say and what the case wants?
//
// It guarantees that a request passes only where all opinions agree: the case, the decision
// program, the plain evaluator of the dialect, and the real Envoy with all its evidence; and
// that the counters of every inbound moved by exactly what the single findings add up to. A
// [Compiler] gives the filters and never an opinion, so a wrong compiler is found out. Where
// the policies must be refused, meshproof's own reading gives the expected reason, and the
// compiler under test has to refuse them as well, in words of its own.
//
// A [Runner] runs a case in a mesh of its own, or many cases together in one mesh. Both ways
// judge alike.
package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/examination"
	"github.com/meshproof/meshproof/internal/peer"
	"github.com/meshproof/meshproof/internal/progress"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routeverdict"
	"github.com/meshproof/meshproof/internal/routingconfig"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// Runner runs cases. Its zero value, given a harness, is ready.
type Runner struct {
	Harness *harness.Harness
	// Compiler is what is under test; nil for [Reference].
	Compiler Compiler
	// Parallel is how many cases run at once, and beside them how many of those that send requests
	// through sidecars; 4 where it is not positive. While one waits for Envoy to take its
	// configuration, another sends requests.
	Parallel int
	// Kept lets requests of one caller share a connection where Envoy decides for each
	// request. That is many times as fast, with the same evidence.
	Kept bool
	// AnyNames leaves the names of RBAC policies to the compiler: the names that Envoy
	// reports are not compared. The decisions are, and Envoy's log and counters have to
	// agree.
	AnyNames bool
	// Divided says that the filters may divide the policies as they like: several filters
	// may stand for one gate. AnyNames says so too.
	Divided bool
	// Strict says that a case fails with a warning that it does not expect. Otherwise only a
	// case that states its warnings does.
	Strict bool
	// Fault is a mistake to make on purpose.
	Fault Fault
	// Sidecar makes a mistake in a sidecar on purpose; nil for none.
	Sidecar func(routingconfig.Sidecar) routingconfig.Sidecar
	// Read reads the policies of a case; nil for [verdict.Read].
	Read func(cases.Case) (*verdict.Reading, error)
	// Done is called after each case, one call at a time, as the cases end.
	Done func(result.Case)
	// Begun is called once, when every case has begun.
	Begun func()
}

// Run runs the cases, several at once, and returns their results in the same order. A case
// that fails is a result, not an error.
func (r Runner) Run(ctx context.Context, cs ...cases.Case) []result.Case {
	for _, c := range cs {
		progress.Expect(ctx, len(c.Requests)+len(c.RoutedRequests))
	}
	return r.runEach(ctx, cs, func(i int) result.Case { return r.Case(ctx, cs[i]) })
}

// Readings is [Runner.Run] for cases whose policies have been read.
func (r Runner) Readings(ctx context.Context, readings ...*verdict.Reading) []result.Case {
	for _, reading := range readings {
		progress.Expect(ctx, len(reading.Case.Requests)+len(reading.Case.RoutedRequests))
	}
	cs := make([]cases.Case, len(readings))
	for i, reading := range readings {
		cs[i] = reading.Case
	}
	return r.runEach(ctx, cs, func(i int) result.Case { return r.Reading(ctx, readings[i]) })
}

// Case runs one case.
func (r Runner) Case(ctx context.Context, c cases.Case) result.Case {
	began, read := time.Now(), r.Read
	if read == nil {
		read = verdict.Read
	}
	reading, err := read(c)
	if err == nil && reading.WantsOnly() != "" && c.ExpectError != "" {
		// The case may expect that no dialect owns the policies.
		if _, own := verdict.Read(c); own != nil && contains(own.Error(), c.ExpectError) == nil {
			err = own
		}
	}
	if err == nil {
		return r.runReading(ctx, reading, began)
	}
	one := r.newRun(c, began)
	one.result.Err = one.mustRefuse(ctx, err)
	return one.end()
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
	one.examine(ctx)
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
		one.examine(ctx)
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
	// routes is nil for a case without services.
	routes *routeverdict.Reading
	// inbounds are the inbounds of the case with their filters, once those are compiled.
	inbounds []harness.Inbound
	// examination is nil for the filters of meshproof's own compiler.
	examination *examination.Examination
}

func (r Runner) newRun(c cases.Case, began time.Time) *run {
	one := &run{runner: r, compiler: r.Compiler, began: began, result: result.Case{Case: c}}
	if one.compiler == nil {
		one.compiler = Reference
	}
	return one
}

func (r Runner) newReadingRun(reading *verdict.Reading, began time.Time) *run {
	on := reading.OnEnvoy(r.Harness.Behavior())
	one := r.newRun(on.Case, began)
	one.reading = on
	one.result.Warnings = reading.Warnings()
	if one.result.WantsOnly = reading.WantsOnly(); one.result.WantsOnly != "" {
		one.result.Notes = append(one.result.Notes, "wants only: "+one.result.WantsOnly+", so Envoy was held against what the case wants, and nothing else")
	}
	return one
}

// end returns the result.
func (r *run) end() result.Case {
	r.noteUnread()
	if r.runner.Strict && r.result.Case.ExpectWarnings == nil {
		for _, w := range r.result.Warnings {
			r.result.Err = errors.Join(r.result.Err, fmt.Errorf("the case does not expect the warning %q", w))
		}
	}
	r.gate()
	r.result.Took = time.Since(r.began)
	return r.result
}

// compile has the compiler under test say what enforces the policies on each inbound. It
// reports whether there is anything to ask Envoy.
func (r *run) compile(ctx context.Context) bool {
	c := r.reading.Case
	if r.isForeign() && len(c.Routing) > 0 {
		r.result.Skipped, r.result.NotApplicable = "it is about the sidecar of a caller, which no compiler is asked for", true
		return false
	}
	if !r.readRoutes() {
		return false
	}
	filters, err := r.ask(ctx, Input{Inbounds: policyInbounds(c), Policies: c.Policies, Options: c.Options, Parsed: r.reading.Set()})
	switch {
	case err != nil:
		r.result.Err = r.refused(ctx, err)
		if r.isForeign() && !r.result.Fault && !isUnread(err) && c.ExpectError == "" {
			r.result.Err = fmt.Errorf("the compiler refuses the policies: %w", err)
		}
		return false
	case len(filters) != len(c.Inbounds):
		r.result.Fault, r.result.Err = true, fmt.Errorf("the compiler was asked for the filters of %d inbounds and gave those of %d", len(c.Inbounds), len(filters))
		return false
	}
	if r.reading.WantsOnly() != "" && slices.ContainsFunc(filters, func(f xds.Filters) bool { return len(f.Tokens.GetRules()) > 0 }) {
		r.result.Err = errors.New("not verified: the compiler reads tokens (JWT), and the lab sends those that policies demand which it can read")
		return false
	}
	for i, in := range r.reading.Inbounds() {
		playAuthorizers(filters[i], in.Authorizers())
		r.inbounds = append(r.inbounds, harness.Inbound{
			Name: in.String(), Identity: in.Identity, Address: in.Address(), Protocol: in.Protocol,
			MTLS: cmp.Or(r.runner.Fault.MTLS, in.MTLS), JudgesPlaintext: in.Program.JudgesPlaintext, Filters: filters[i], Normalization: r.runner.Fault.normalization(c.Normalization), Tokens: r.runner.Fault.Tokens(in.Program.Tokens), TrustedHops: in.TrustedHops, Headers: headersOf(in.Program.Program),
		})
	}
	for _, in := range r.inbounds {
		// The machine is sound where the lab cannot play what a filter asks for.
		if _, _, err := peer.Play(in.Filters, in.TrustedHops > 0); err != nil {
			r.result.Err = fmt.Errorf("not verified: %s: %w", in.Name, err)
			return false
		}
		if note := peer.Note(in.Name, in.Filters, in.TrustedHops > 0); note != "" {
			r.result.Notes = append(r.result.Notes, note)
		}
	}
	if r.isForeign() && r.reading.WantsOnly() == "" && c.ExpectError == "" {
		r.examination = examination.Examine(r.reading, filters, r.runner.AnyNames, r.runner.sample())
	}
	if r.result.Err = r.checkWarnings(); r.result.Err != nil {
		return false
	}
	return c.ExpectError != "" || len(c.Requests)+len(c.RoutedRequests) > 0
}

// ask asks the compiler under test. A foreign compiler is asked again later.
func (r *run) ask(ctx context.Context, in Input) ([]xds.Filters, error) {
	filters, err := r.compiler.Compile(ctx, in)
	if !isBroken(ctx, err) && (err != nil || len(filters) == len(in.Inbounds)) {
		r.remember(in, answer{filters, err})
	}
	return filters, err
}

// isForeign reports whether another compiler than meshproof's own is under test.
func (r *run) isForeign() bool {
	_, foreign := r.compiler.(*Foreign)
	return foreign
}

func policyInbounds(c cases.Case) []policy.Inbound {
	out := make([]policy.Inbound, len(c.Inbounds))
	for i, in := range c.Inbounds {
		out[i] = in.Inbound
	}
	return out
}

// gate turns the result around where the case does not claim to hold on this version of
// Envoy. A case that fails then is skipped. A case that passes has a stale gate, and fails.
func (r *run) gate() {
	version := r.runner.Harness.Version()
	// What cannot be read in filters cannot be read on any version, and what they decide otherwise
	// than the policies they decide so on each.
	wrong := r.result.Examination != nil && len(r.result.Examination.Unread)+r.examination.Differing > 0
	if r.result.NotApplicable || r.result.Case.Gate.Admits(version, r.runner.Harness.Behavior()) || r.result.Fault || wrong {
		return
	}
	if r.result.Passed() {
		r.result.Err = fmt.Errorf("the case passes on Envoy %s, but holds %s only, it says: mend the gate under envoy", version, r.result.Case.Gate)
		return
	}
	// Not the version, so that all versions give one reason.
	r.result.Skipped = fmt.Sprintf("it holds %s only: %s", r.result.Case.Gate, cmp.Or(r.result.Failures()...))
	r.result.NotApplicable = true
	r.result.Err = nil
}

// anyInbound is the inbound that a compiler is asked about where a case has none.
var anyInbound = policy.Inbound{Port: 8080, Workload: policy.Workload{Name: "backend", Namespace: "default", Mesh: "default"}}

var errAccepted = errors.New("the compiler accepts policies that must be refused")

// mustRefuse asks the compiler under test about policies that meshproof itself refuses, with
// an error whose text the case may expect. The compiler has to refuse them too, in its own
// words.
func (r *run) mustRefuse(ctx context.Context, own error) error {
	c := r.result.Case
	if c.ExpectError == "" {
		return own
	}
	if err := contains(own.Error(), c.ExpectError); err != nil {
		return err
	}
	inbounds := policyInbounds(c)
	if len(inbounds) == 0 {
		inbounds = []policy.Inbound{anyInbound}
	}
	_, err := r.ask(ctx, Input{Inbounds: inbounds, Policies: c.Policies, Options: c.Options})
	switch {
	case err == nil:
		return errAccepted
	case r.isFault(ctx, err), isUnread(err):
		return err
	default:
		return nil
	}
}

// refused compares an error of the compiler under test, or of Envoy, with the error that the
// case expects.
func (r *run) refused(ctx context.Context, err error) error {
	if fault := r.isFault(ctx, err); fault || isUnread(err) || r.result.Case.ExpectError == "" {
		return err
	}
	return contains(err.Error(), r.result.Case.ExpectError)
}

// isFault reports whether an error says that the compiler is out of order, or was cut off.
// Such a compiler has refused nothing.
func (r *run) isFault(ctx context.Context, err error) bool {
	r.result.Fault = r.result.Fault || isBroken(ctx, err)
	return r.result.Fault
}

// isUnread reports whether an error says that the filters cannot be read, which is no refusal.
func isUnread(err error) bool {
	unread := interface{ Unread() bool }(nil)
	return errors.As(err, &unread) && unread.Unread()
}

func isBroken(ctx context.Context, err error) bool {
	broken := interface{ Broken() bool }(nil)
	return errors.As(err, &broken) && broken.Broken() || ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
}
