package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/xds"
)

// asked is a case that a compiler was asked about, and its answers that were put to the proof.
type asked struct {
	run   *run
	input Input

	mu     sync.Mutex
	proven []answer
}

// remember keeps the first answer about a case. The run of the case proves it.
func (r *run) remember(in Input, first answer) {
	f, ok := r.compiler.(*Foreign)
	if !ok || !f.remembers {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, &asked{run: r, input: in, proven: []answer{first}})
}

// Each case is asked about at least leastAgain times more, and each further time with a chance
// of one half, up to mostAgain.
const (
	leastAgain = 2
	mostAgain  = 10
	// askedAtOnce is how many questions wait for an answer, as under the load of a cluster. Fewer
	// answers are put on Envoy at once.
	askedAtOnce = 16
)

// Repetition is what became of asking a compiler for everything again.
type Repetition struct {
	// Answers is the number of further answers, Others the number of them that were not like
	// any answer before.
	Answers, Others int
	// Problems are the first answers that are worse than the first answer about their case.
	Problems []AgainProblem
}

// AgainProblem is an answer that is worse than the first answer about the case of that name.
type AgainProblem struct{ Case, Text string }

// String says what the compiler gives.
func (p AgainProblem) String() string {
	return fmt.Sprintf("%s: asked again, the compiler gives %s", p.Case, p.Text)
}

// mostWorse is how many answers that are worse end the asking: they tend to have one cause.
const mostWorse = 3

// AskAgain asks about all cases again, several times and several at once. The order of cases
// and inbounds, and the number of times, follow from the seed. A compiler that answers otherwise
// than before has to be right again: such an answer is put on Envoy, and Envoy is asked all that it
// was asked for the first answer. So the order of rules may differ, and a decision may not. An
// error says that the compiler or Envoy is out of order.
func (f *Foreign) AskAgain(ctx context.Context, seed uint64) (Repetition, error) {
	f.mu.Lock()
	before := slices.Clone(f.asked)
	f.mu.Unlock()
	// The cases ended in any order.
	slices.SortStableFunc(before, func(a, b *asked) int { return cmp.Compare(a.run.result.Case.Name, b.run.result.Case.Name) })
	questions := questionsOf(before, rand.New(rand.NewPCG(seed, uint64(len(before)))))
	var mu sync.Mutex
	var out Repetition
	var broken error
	var workers sync.WaitGroup
	proving := make(chan struct{}, defaultParallel)
	for range askedAtOnce {
		workers.Go(func() {
			for {
				mu.Lock()
				if out.Answers == len(questions) || len(out.Problems) >= mostWorse || broken != nil {
					mu.Unlock()
					return
				}
				q := questions[out.Answers]
				out.Answers++
				mu.Unlock()
				other, problem, err := q.asked.askAgain(ctx, f, q.order, proving)
				mu.Lock()
				if other {
					out.Others++
				}
				if problem != "" {
					out.Problems = append(out.Problems, AgainProblem{q.asked.run.result.Case.Name, problem})
				}
				broken = cmp.Or(broken, err)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return out, broken
}

// question asks about a case once more, with its inbounds in another order.
type question struct {
	asked *asked
	order []int
}

func questionsOf(before []*asked, r *rand.Rand) []question {
	var out []question
	for _, a := range before {
		times := leastAgain
		for times < mostAgain && r.IntN(2) == 0 {
			times++
		}
		for range times {
			out = append(out, question{a, r.Perm(len(a.input.Inbounds))})
		}
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// askAgain asks about the case once more. Other is true for an answer that was not given before.
// The problem says in what it is worse than the first answer, "" where it is not. The channel
// bounds the answers that are put on Envoy at once.
func (a *asked) askAgain(ctx context.Context, f *Foreign, order []int, proving chan struct{}) (other bool, problem string, err error) {
	in := a.input
	in.Inbounds = nil
	for _, i := range order {
		in.Inbounds = append(in.Inbounds, a.input.Inbounds[i])
	}
	filters, err := f.CompilerFunc.Compile(ctx, in)
	if isBroken(ctx, err) {
		return false, "", err
	}
	now := answer{refusal: err}
	if err == nil {
		now.filters = make([]xds.Filters, len(order))
		for n, i := range order {
			now.filters[i] = filters[n]
		}
	}
	if a.isKnown(now) {
		return false, "", nil
	}
	proving <- struct{}{}
	defer func() { <-proving }()
	r := a.run.prove(ctx, now)
	switch {
	case r.Fault:
		return true, "", cmp.Or(r.Err, errors.New("suite: Envoy failed"))
	case r.Failed():
		return true, now.String() + ": " + cmp.Or(r.Failures()...), nil
	default:
		a.mu.Lock()
		defer a.mu.Unlock()
		a.proven = append(a.proven, now)
		return true, "", nil
	}
}

func (a *asked) isKnown(now answer) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.proven, now.isLike)
}

// prove runs the case with an answer in place of the compiler.
func (r *run) prove(ctx context.Context, given answer) result.Case {
	runner := r.runner
	runner.Compiler = &Foreign{given: &given}
	if r.reading == nil {
		return runner.Case(ctx, r.result.Case)
	}
	return runner.Reading(ctx, r.reading)
}

// String names the answer in an error.
func (a answer) String() string {
	switch {
	case a.refusal == nil:
		return "other filters"
	case isUnread(a.refusal):
		return "filters that cannot be read"
	default:
		return "a refusal"
	}
}
