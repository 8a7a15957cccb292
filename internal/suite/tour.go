package suite

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

const defaultParallel = 4

// tour is several cases under way on one Envoy. When Envoy has ended, the other cases are not
// run.
type tour struct {
	cases   []cases.Case
	results []result.Case
	done    func(result.Case)

	mu    sync.Mutex
	ended int // cases that ran to their end
	// outage is the end of Envoy, as the first case met it.
	outage error
}

// runEach runs cases, several at once, and reports each as it ends. When the context has ended, the
// other cases are not even read: that took longer than an interrupted program has.
func (r Runner) runEach(ctx context.Context, cs []cases.Case, runCase func(i int) result.Case) []result.Case {
	parallel := r.Parallel
	if parallel < 1 {
		parallel = defaultParallel
	}
	t := &tour{cases: cs, results: make([]result.Case, len(cs)), done: r.Done}
	// Cases with routed requests mostly wait for bounds of time, so they take no place of the others.
	var waiting, busy []int
	for i, c := range cs {
		if len(c.RoutedRequests) > 0 {
			waiting = append(waiting, i)
		} else {
			busy = append(busy, i)
		}
	}
	var begun, running sync.WaitGroup
	for _, lane := range [][]int{waiting, busy} {
		begun.Go(func() {
			free := make(chan struct{}, parallel)
			for _, i := range lane {
				free <- struct{}{}
				running.Go(func() {
					defer func() { <-free }()
					switch {
					case t.isOver():
						t.end(i, result.Case{Case: cs[i]})
					case ctx.Err() != nil:
						t.end(i, result.Case{Case: cs[i], Fault: true, Err: context.Cause(ctx)})
					default:
						t.end(i, runCase(i))
					}
				})
			}
		})
	}
	begun.Wait()
	if r.Begun != nil {
		r.Begun()
	}
	running.Wait()
	for i, r := range t.results {
		// The silence before Envoy was given up.
		if t.outage != nil && r.Fault && errors.Is(r.Err, context.DeadlineExceeded) {
			t.results[i] = t.notRun(i)
		}
	}
	return t.results
}

func (t *tour) notRun(i int) result.Case {
	return result.Case{Case: t.cases[i], Skipped: "not run: " + t.outage.Error(), Fault: true, Err: t.outage}
}

func (t *tour) isOver() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.outage != nil
}

// end records a result. A case that met the end of Envoy was not run, even if some of it was seen.
func (t *tour) end(i int, r result.Case) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.Fault && errors.Is(r.Err, envoy.ErrExited) && t.outage == nil {
		t.outage = fmt.Errorf("cut short, because Envoy died after %d of %s: %w", t.ended, terminal.Count(len(t.cases), "case"), r.Err)
	}
	if t.outage != nil && (r.Fault || len(r.Requests) == 0) {
		r = t.notRun(i)
	} else {
		t.ended++
	}
	if t.results[i] = r; t.done != nil {
		t.done(r)
	}
}

// Outage returns the error that kept cases from running, nil if all of them ran.
func Outage(results []result.Case) error {
	for _, r := range results {
		if r.NotRun() {
			return r.Err
		}
	}
	return nil
}
