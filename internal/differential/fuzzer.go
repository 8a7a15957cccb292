// Package differential holds a real Envoy against two opinions in Go about random sets of
// policies: [policy.Decide] of the lowered program, and the plain evaluator of the dialect,
// which share no code.
//
// [Fuzzer] draws sets with package policyset and runs many of them in one push. It
// guarantees that no disagreement is passed over, and that a reported disagreement is real:
// a [suite.Runner] runs the set again alone, and the set is shrunk to the smallest case that
// still shows the disagreement. That case can be written as a case file. The fuzzer does not
// prove a set: it asks a bounded sample of requests.
package differential

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/counterexample"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/xds"
)

// Fuzzer draws sets of policies and holds each against a real Envoy. Given a harness it is
// ready.
type Fuzzer struct {
	// Runner runs the sets. Its fields Kept, Fault and Done are not used.
	Runner suite.Runner
	// Seed is the seed of [policyset.Draw]. The first set is number 0.
	Seed uint64
	// Forms are the forms of the policies that are drawn; all forms where it is empty.
	Forms []policyset.Form
	// Draw returns the set of a number. It returns false where no set may be asked. Where it is
	// nil, a foreign compiler gets sets of [policyset.DrawFresh] and is asked for each batch
	// again, and meshproof's own compiler gets sets of [policyset.Draw].
	Draw func(number uint64) (cases.Case, bool)
	// KeepSets leaves the sets that do not agree as they are: no counterexample is searched.
	KeepSets bool
	// Batch is the number of sets of one push; 64 where it is not positive.
	Batch int
	// Parallel is the number of batches under way; 3 where it is not positive. While one
	// batch waits for Envoy to take its configuration, others are drawn and asked.
	Parallel int
	// Done is called after each batch with the tally so far, one call at a time.
	Done func(Tally)
}

const (
	defaultBatch    = 64
	defaultParallel = 3
)

// Limit says when to stop. A field that is not positive is no limit. Without any limit, the
// end of the context is the limit.
type Limit struct {
	Sets int
	// Time is the time for drawing and asking. A batch that began in time is finished, and
	// the disagreements are examined after that.
	Time time.Duration
	// Disagreements is the number of sets that do not agree; 3 where it is not positive,
	// because they tend to have one cause.
	Disagreements int
}

const defaultDisagreements = 3

// Run draws and asks until a limit is reached or the context ends. Then it examines the
// disagreements. Where the context ends, the report has what was done before, and the error
// is the context's cause. Any other error says that Envoy or the machine failed, or that the
// generator drew policies that are not valid.
func (f Fuzzer) Run(ctx context.Context, limit Limit) (Report, error) {
	// Requests of one caller share connections, alone and together.
	f.Runner.Kept, f.Runner.Fault, f.Runner.Done = true, suite.Fault{}, nil
	r := &run{fuzzer: f, limit: limit, began: time.Now(), drawn: map[identity]bool{}}
	if r.limit.Disagreements < 1 {
		r.limit.Disagreements = defaultDisagreements
	}
	r.askAll(ctx)
	report := Report{Seed: f.Seed, Tally: r.tally, Worse: r.worse, Doubt: r.doubt}
	if err := cmp.Or(context.Cause(ctx), r.err); err != nil {
		return report, err
	}
	slices.SortFunc(r.suspects, func(a, b suspect) int { return cmp.Compare(a.number, b.number) })
	for _, s := range r.suspects[:min(len(r.suspects), r.limit.Disagreements)] {
		found, err := f.examine(ctx, s)
		if err != nil {
			return report, err
		}
		report.Disagreements = append(report.Disagreements, found)
	}
	return report, nil
}

// run is a run under way.
type run struct {
	fuzzer Fuzzer
	limit  Limit
	began  time.Time

	mu       sync.Mutex
	next     int
	tally    Tally
	drawn    map[identity]bool
	suspects []suspect
	worse    []suite.AgainProblem
	doubt    string
	err      error
}

// askAll works through batches, several at once.
func (r *run) askAll(ctx context.Context) {
	parallel := r.fuzzer.Parallel
	if parallel < 1 {
		parallel = defaultParallel
	}
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for {
				first, n := r.take(ctx)
				if n == 0 {
					return
				}
				r.count(r.ask(ctx, first, n))
			}
		})
	}
	workers.Wait()
}

// take returns the numbers of the next batch: n sets from first on. n is 0 where it is time
// to stop.
func (r *run) take(ctx context.Context) (first, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case ctx.Err() != nil, r.err != nil, len(r.suspects) >= r.limit.Disagreements, len(r.worse) > 0,
		r.limit.Time > 0 && time.Since(r.began) >= r.limit.Time:
		return 0, 0
	}
	if n = r.fuzzer.Batch; n < 1 {
		n = defaultBatch
	}
	if r.limit.Sets > 0 {
		n = min(n, r.limit.Sets-r.next)
	}
	first = r.next
	r.next += n
	return first, n
}

// count adds up the results of a batch.
func (r *run) count(t batch, found []suspect, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	r.suspects = append(r.suspects, found...)
	r.tally.Suspects = len(r.suspects)
	if err != nil {
		return
	}
	r.tally.Sets += t.Sets
	for _, set := range t.drawn {
		r.drawn[set] = true
	}
	r.tally.Distinct = len(r.drawn)
	r.tally.Inbounds += t.Inbounds
	r.tally.Decisions += t.Decisions
	r.tally.Pushes += t.Pushes
	r.tally.Doubted += t.Doubted
	r.doubt = cmp.Or(r.doubt, t.doubt)
	r.tally.Took = time.Since(r.began)
	if r.fuzzer.Done != nil {
		r.fuzzer.Done(r.tally)
	}
}

// ErrNotAdmitted says that no set may be asked.
var ErrNotAdmitted = errors.New("differential: no set of policies can be drawn that may be asked")

func (f Fuzzer) draw(number uint64) (cases.Case, bool) {
	if f.Draw != nil {
		return f.Draw(number)
	}
	if f.isForeign() {
		return policyset.DrawFresh(f.Seed, number, f.Forms...), true
	}
	return policyset.Draw(f.Seed, number, f.Forms...), true
}

// isForeign reports whether the fuzzer itself draws for another compiler than meshproof's own.
func (f Fuzzer) isForeign() bool {
	_, foreign := f.Runner.Compiler.(*suite.Foreign)
	return foreign && f.Draw == nil
}

// ask draws n sets and runs them in one push.
func (r *run) ask(ctx context.Context, first, n int) (batch, []suspect, error) {
	f := r.fuzzer
	t := batch{Tally: Tally{Sets: n, Pushes: 1}, drawn: make([]identity, n)}
	readings := make([]*verdict.Reading, n)
	for i := range n {
		number := uint64(first + i)
		var err error
		drawn, ok := f.draw(number)
		if !ok {
			return batch{}, nil, ErrNotAdmitted
		}
		if readings[i], err = policyset.Ask(drawn, f.Seed, number); err != nil {
			return batch{}, nil, err
		}
		t.drawn[i] = identify(drawn)
		t.Inbounds += len(readings[i].Case.Inbounds)
		t.Decisions += len(readings[i].Case.Requests)
	}
	runner := f.Runner
	var remembering *suite.Foreign
	if f.isForeign() {
		// The memory of a batch ends with it, however long the run is.
		remembering = runner.Compiler.(*suite.Foreign).Remembering()
		runner.Compiler = remembering
	}
	var found []suspect
	for i, r := range runner.Together(ctx, readings...) {
		switch {
		case r.Fault:
			return batch{}, nil, cmp.Or(context.Cause(ctx), fmt.Errorf("differential: %s: %w", r.Case.Name, r.Err))
		case r.OnlyDoubted():
			t.Doubted++
			t.doubt = cmp.Or(t.doubt, fmt.Sprintf("set %d: %s", first+i, r.Failures()[0]))
		case r.Failed():
			found = append(found, suspect{uint64(first + i), readings[i], r.Failures()})
		}
	}
	if remembering == nil || len(found) > 0 {
		return t, found, nil
	}
	again, err := remembering.AskAgain(ctx, f.Seed+uint64(first))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.worse = append(r.worse, again.Problems...)
	if err != nil {
		err = cmp.Or(context.Cause(ctx), fmt.Errorf("differential: asked again: %w", err))
	}
	return t, found, err
}

// batch counts what was drawn for one push.
type batch struct {
	Tally
	drawn []identity
	doubt string
}

// identity tells drawn sets apart.
type identity [sha256.Size]byte

// identify returns what a set has in common with those that are equal but for the number.
func identify(drawn cases.Case) identity {
	drawn.Name, drawn.Requests = "", nil
	return sha256.Sum256(casewriter.YAML(drawn))
}

// suspect is a set that was not decided as specified when it ran together with others.
type suspect struct {
	number   uint64
	reading  *verdict.Reading
	problems []string
}

// examine runs a suspect alone and makes it small.
func (f Fuzzer) examine(ctx context.Context, s suspect) (Disagreement, error) {
	d := Disagreement{Set: s.number, Case: s.reading.Case, Problems: s.problems, Counterexample: s.reading.Case}
	alone := f.Runner.Reading(ctx, s.reading)
	switch {
	case ctx.Err() != nil:
		return d, context.Cause(ctx)
	case alone.Fault:
		return d, fmt.Errorf("differential: run %s alone: %w", d.Case.Name, alone.Err)
	case !alone.Failed():
		return d, nil
	}
	d.Alone = true
	switch {
	case len(d.Case.Requests) == 0 || f.KeepSets:
		return d, nil
	case len(alone.Requests) == 0:
		// No request could be sent. Any request shows that.
		alone.Requests = []result.Request{{Request: d.Case.Requests[0]}}
	}
	shown := alone.Requests[0]
	for _, q := range alone.Requests {
		if len(q.Problems) > 0 && (len(shown.Problems) == 0 || q.DecidedWrong() && !shown.DecidedWrong()) {
			shown = q
		}
	}
	d.Counterexample = counterexample.Shrink(ctx, f.shows(alone.Err, shown), d.Case, shown.Request)
	d.Counterexample.Name = fmt.Sprintf("%s: %s", d.Case.Name, d.Counterexample.Name)
	return d, nil
}

// shows reports whether a smaller case shows the same. Where the decision was wrong, it must be
// wrong again: a wrong name alone is another disagreement. Where the compiler refused the
// policies, or Envoy the filters, a case shows the same if no request to it can be sent. What
// could not be verified, or was refused by Envoy, must be so again.
func (f Fuzzer) shows(alone error, shown result.Request) func(context.Context, *verdict.Reading) bool {
	return func(ctx context.Context, smaller *verdict.Reading) bool {
		// The policies tell the dialect: without any, another question is asked.
		if len(smaller.Case.Policies) == 0 {
			return false
		}
		r := f.Runner.Reading(ctx, smaller)
		switch {
		case r.Fault || !r.Failed():
			return false
		case errors.Is(alone, suite.ErrUnread) && !errors.Is(r.Err, suite.ErrUnread), errors.Is(alone, xds.ErrNACK) && !errors.Is(r.Err, xds.ErrNACK):
			return false
		case !shown.Judged:
			return len(shown.Problems) > 0 || len(r.Requests) == 0
		default:
			return len(r.Requests) > 0 && (!shown.DecidedWrong() || r.Requests[0].DecidedWrong())
		}
	}
}
