package suite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/examination"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/xds"
)

// ErrUnread says that a part of a compiler's filters cannot be read, so that nothing is
// proven about the requests that it decides.
var ErrUnread = errors.New("not verified")

// ErrDiffers says that a compiler's filters decide a class of requests otherwise than the
// policies.
var ErrDiffers = errors.New("not as the policies say")

const (
	// sampled is how many of the classes that the filters decide as the policies do are
	// asked for each inbound, to prove that the filters were read as Envoy reads them.
	sampled = 8
	// mostShown is how many classes that are decided wrong an error names: they tend to
	// have one cause.
	mostShown = 5
)

// sample returns the number of agreeing classes to ask. A proof and a fuzzer ask for more of
// them anyway.
func (r Runner) sample() int {
	if r.Kept {
		return 0
	}
	return sampled
}

// examine holds the filters of a foreign compiler against the policies, and adds what is
// wrong to the result. It asks in a mesh of its own: the counters of the case and its trust
// domains stay those of the case.
func (r *run) examine(ctx context.Context) {
	x := r.examination
	if x == nil || r.result.Fault {
		return
	}
	found := &result.Examination{Classes: x.Classes, Unread: x.Unread}
	r.result.Examination, r.result.Doubts = found, x.Doubts
	errs := []error{r.result.Err}
	for _, part := range x.Unread {
		errs = append(errs, fmt.Errorf("%w: %s", ErrUnread, part))
	}
	if len(x.Questions) > 0 && !errors.Is(r.result.Err, xds.ErrNACK) {
		asked := &run{runner: r.runner, compiler: r.compiler, reading: x.Reading, inbounds: r.inbounds, result: result.Case{Case: x.Reading.Case}}
		layout{r.runner, []*run{asked}}.play(ctx)
		r.result.Fault, found.Asked = asked.result.Fault, len(asked.result.Requests)
		errs = append(errs, asked.result.Err)
		for i, q := range asked.result.Requests {
			if wrong := wrongIn(x.Questions[i], q); wrong != "" {
				found.Wrong = append(found.Wrong, wrong)
			}
		}
	}
	for _, wrong := range found.Wrong[:min(len(found.Wrong), mostShown)] {
		errs = append(errs, fmt.Errorf("%w: %s", ErrDiffers, wrong))
	}
	if more := x.Differing - mostShown; more > 0 {
		errs = append(errs, fmt.Errorf("%w: %d more classes of requests", ErrDiffers, more))
	}
	r.result.Err = errors.Join(errs...)
	r.noteDelays()
}

// noteDelays notes the filters that refuse late, and how late the slowest refusal was. Late is
// not wrong, but callers wait.
func (r *run) noteDelays() {
	for i, in := range r.inbounds {
		for n, filter := range in.Filters.Network {
			if filter.DelayDeny.AsDuration() <= 0 {
				continue
			}
			name, slowest := r.reading.Case.Inbounds[i].String(), time.Duration(0)
			for _, q := range r.result.Requests {
				if q.To == name && q.Finding.Form == evidence.Refused {
					slowest = max(slowest, q.Evidence.Took)
				}
			}
			r.result.Notes = append(r.result.Notes, fmt.Sprintf("%s refuses late: network[%d].delay_deny is %s, and the slowest refusal took %.1f s",
				name, n, filter.DelayDeny.AsDuration(), slowest.Seconds()))
		}
	}
}

// wrongIn says what is wrong with a class after Envoy was asked, and "" for nothing.
func wrongIn(of examination.Question, q result.Request) string {
	asked := fmt.Sprintf("%s as %s", q.Text(), q.From.Name)
	switch {
	case of.Differs && len(q.Problems) == 0:
		return fmt.Sprintf("%s; but Envoy decides %s as the policies do: the filters cannot be read", of, asked)
	case of.Differs:
		return fmt.Sprintf("%s; asked for %s: %s", of, asked, q.Problems[0])
	case len(q.Problems) > 0:
		return fmt.Sprintf("%s: %s: %s", of.Class, asked, q.Problems[0])
	default:
		return ""
	}
}
