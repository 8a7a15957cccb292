package differential

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/verdict"
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

// Tally counts the sets, inbounds, decisions and pushes so far.
type Tally struct {
	Sets, Inbounds, Decisions, Pushes int
	// Took is the time since the beginning, without the time for examining.
	Took time.Duration
}

// Rate returns sets and decisions per second.
func (t Tally) Rate() (sets, decisions float64) {
	if t.Took <= 0 {
		return 0, 0
	}
	return float64(t.Sets) / t.Took.Seconds(), float64(t.Decisions) / t.Took.Seconds()
}

// Report is the result of a run.
type Report struct {
	Seed uint64
	Tally
	// Disagreements are in the order of their sets.
	Disagreements []Disagreement
}

// Run draws and asks until a limit is reached or the context ends. Then it examines the
// disagreements. Where the context ends, the report has what was done before, and the error
// is the context's cause. Any other error says that Envoy or the machine failed, or that the
// generator drew policies that are not valid.
func (f Fuzzer) Run(ctx context.Context, limit Limit) (Report, error) {
	// Requests of one caller share connections, alone and together.
	f.Runner.Kept, f.Runner.Fault, f.Runner.Done = true, suite.Fault{}, nil
	r := &run{fuzzer: f, limit: limit, began: time.Now()}
	if r.limit.Disagreements < 1 {
		r.limit.Disagreements = defaultDisagreements
	}
	r.askAll(ctx)
	report := Report{Seed: f.Seed, Tally: r.tally}
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
	suspects []suspect
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
	case ctx.Err() != nil, r.err != nil, len(r.suspects) >= r.limit.Disagreements,
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
func (r *run) count(t Tally, found []suspect, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	r.suspects = append(r.suspects, found...)
	if err != nil {
		return
	}
	r.tally.Sets += t.Sets
	r.tally.Inbounds += t.Inbounds
	r.tally.Decisions += t.Decisions
	r.tally.Pushes += t.Pushes
	r.tally.Took = time.Since(r.began)
	if r.fuzzer.Done != nil {
		r.fuzzer.Done(r.tally)
	}
}

// ask draws n sets and runs them in one push.
func (r *run) ask(ctx context.Context, first, n int) (Tally, []suspect, error) {
	f := r.fuzzer
	t := Tally{Sets: n, Pushes: 1}
	readings := make([]*verdict.Reading, n)
	for i := range n {
		number := uint64(first + i)
		var err error
		if readings[i], err = policyset.Ask(policyset.Draw(f.Seed, number, f.Forms...), f.Seed, number); err != nil {
			return Tally{}, nil, err
		}
		t.Inbounds += len(readings[i].Case.Inbounds)
		t.Decisions += len(readings[i].Case.Requests)
	}
	var found []suspect
	for i, r := range f.Runner.Together(ctx, readings...) {
		switch {
		case r.Fault:
			return Tally{}, nil, cmp.Or(context.Cause(ctx), fmt.Errorf("differential: %s: %w", r.Case.Name, r.Err))
		case r.Failed():
			found = append(found, suspect{uint64(first + i), readings[i], r.Failures()})
		}
	}
	return t, found, nil
}

// suspect is a set that was not decided as specified when it ran together with others.
type suspect struct {
	number   uint64
	reading  *verdict.Reading
	problems []string
}
