package differential

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/verdict"
)

// Fuzzer draws sets of policies one after the other and holds each against a real
// Envoy. Given a harness it is ready.
type Fuzzer struct {
	// Runner has the harness, the compiler under test and whether its names count. It
	// runs alone what looked wrong in company. Fault and Done are not used.
	Runner suite.Runner
	// Seed is that of [Generate]; the sets are number 0 and following.
	Seed uint64
	// Forms are those of the policies that are drawn; all there are where it is empty.
	Forms []Form
	// Batch is the number of sets of one push; 64 where it is not positive.
	Batch int
	// Parallel is the number of batches under way; 3 where it is not positive. While one
	// waits for Envoy to take its configuration, others are drawn and asked.
	Parallel int
	// Done is called after each batch with what is done so far, one call at a time.
	Done func(Tally)
}

const (
	defaultBatch    = 64
	defaultParallel = 3
)

// Limit says when to stop; what is not positive is no limit. Without one, the context
// is.
type Limit struct {
	Sets int
	// Time is for drawing and asking: a batch that began in time is finished. What is
	// found is examined behind it.
	Time time.Duration
	// Disagreements is the number of sets that do not agree; 3 where it is not positive,
	// for they tend to have one cause.
	Disagreements int
}

const defaultDisagreements = 3

// Tally counts what was done.
type Tally struct {
	Sets, Inbounds, Decisions, Pushes int
	// Took is the time from the beginning, less what examining took.
	Took time.Duration
}

// Rate returns sets and decisions per second.
func (t Tally) Rate() (sets, decisions float64) {
	if t.Took <= 0 {
		return 0, 0
	}
	return float64(t.Sets) / t.Took.Seconds(), float64(t.Decisions) / t.Took.Seconds()
}

// Report is what came of a run.
type Report struct {
	Seed uint64
	Tally
	// Disagreements are in the order of their sets.
	Disagreements []Disagreement
}

// Run draws and asks until a limit is reached or the context ends, and then examines
// what disagreed. Where the context ends, the report has what was done before, and the
// error is the context's cause. Any other error says that Envoy or the machine failed,
// or that the generator drew what is not valid.
func (f Fuzzer) Run(ctx context.Context, limit Limit) (Report, error) {
	// Requests of one caller share connections, alone as in company.
	f.Runner.Kept, f.Runner.Fault, f.Runner.Done = true, suite.Fault{}, nil
	r := &run{fuzzer: f, limit: limit, began: time.Now()}
	if r.limit.Disagreements < 1 {
		r.limit.Disagreements = defaultDisagreements
	}
	r.asking(ctx)
	report := Report{Seed: f.Seed, Tally: r.tally}
	if err := cmp.Or(context.Cause(ctx), r.err); err != nil {
		return report, err
	}
	slices.SortFunc(r.suspects, func(a, b suspect) int { return cmp.Compare(a.set.number, b.set.number) })
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

// asking works through batches, several at once.
func (r *run) asking(ctx context.Context) {
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
				r.done(r.batch(ctx, first, n))
			}
		})
	}
	workers.Wait()
}

// take returns the numbers of the next batch, none where it is time to stop.
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

// done adds up what came of a batch.
func (r *run) done(t Tally, found []suspect, err error) {
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

// batch draws n sets and runs them in one push.
func (r *run) batch(ctx context.Context, first, n int) (Tally, []suspect, error) {
	f := r.fuzzer
	t := Tally{Sets: n, Pushes: 1}
	sets, readings := make([]set, n), make([]*verdict.Reading, n)
	for i := range n {
		number := uint64(first + i)
		var err error
		if sets[i], err = newSet(Generate(f.Seed, number, f.Forms...), f.Seed, number); err != nil {
			return Tally{}, nil, err
		}
		readings[i] = sets[i].reading
		t.Inbounds += len(readings[i].Case.Inbounds)
		t.Decisions += len(readings[i].Case.Requests)
	}
	var found []suspect
	for i, r := range f.Runner.Together(ctx, readings...) {
		switch {
		case r.Fault:
			return Tally{}, nil, cmp.Or(context.Cause(ctx), fmt.Errorf("differential: %s: %w", r.Case.Name, r.Err))
		case r.Failed():
			found = append(found, suspect{sets[i], r.Failures()})
		}
	}
	return t, found, nil
}

// suspect is a set that was not decided as specified, in company of the others.
type suspect struct {
	set      set
	problems []string
}
