package differential

import (
	"context"
	"fmt"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/counterexample"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/verdict"
)

// Disagreement is a set that was not decided as specified.
type Disagreement struct {
	// Set is the number of the set.
	Set uint64
	// Case is the whole set with the requests that were asked, Problems what differed.
	Case     cases.Case
	Problems []string
	// Alone is false where the set agreed when it ran alone. Then another set of its push
	// took part in the disagreement.
	Alone bool
	// Counterexample is the smallest case found that still shows the disagreement. It fails
	// when it is run. Where the set agrees alone, it is Case.
	Counterexample cases.Case
	// File is the case file of the counterexample, Again the command that comes to the set
	// once more. [Report.Export] fills them in.
	File, Again string
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
	case len(d.Case.Requests) == 0:
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
	d.Counterexample = counterexample.Shrink(ctx, f.shows(shown), d.Case, shown.Request)
	d.Counterexample.Name = fmt.Sprintf("%s: %s", d.Case.Name, d.Counterexample.Name)
	return d, nil
}

// shows tells whether a smaller case shows the same. Where the decision was wrong, it must be
// wrong again: a wrong name alone is another disagreement. Where the compiler refused the
// policies, or Envoy the filters, a case shows the same if no request to it can be sent.
func (f Fuzzer) shows(shown result.Request) func(context.Context, *verdict.Reading) bool {
	return func(ctx context.Context, smaller *verdict.Reading) bool {
		r := f.Runner.Reading(ctx, smaller)
		switch {
		case r.Fault || !r.Failed():
			return false
		case !shown.Judged:
			return len(shown.Problems) > 0 || len(r.Requests) == 0
		default:
			return len(r.Requests) > 0 && (!shown.DecidedWrong() || r.Requests[0].DecidedWrong())
		}
	}
}
