package suite

import (
	"testing"

	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routeverdict"
	"github.com/meshproof/meshproof/internal/verdict"
)

// TestDoubtIsSettledByTheSameBackend sends a request that may take one of two backends several times.
func TestDoubtIsSettledByTheSameBackend(t *testing.T) {
	t.Parallel()
	run := func(cluster string, mistimed bool, problems ...verdict.Problem) result.RoutedRequest {
		if mistimed {
			problems = append(problems, verdict.Problem{Kind: verdict.TooEarly})
		}
		return result.RoutedRequest{
			Judgement: routeverdict.Judgement{Finding: exchange.Finding{Cluster: cluster}, Mistimed: mistimed, Problems: problems},
			Expected:  routeverdict.Expectation{Outcomes: make([]routeverdict.Outcome, 2)},
		}
	}
	alone := func(r result.RoutedRequest) result.RoutedRequest {
		r.Expected.Outcomes = r.Expected.Outcomes[:1]
		return r
	}
	wrong := verdict.Problem{Kind: verdict.OtherRoute}
	early, right, other := run("a", true), run("a", false), run("b", false)
	for _, tt := range []struct {
		name string
		runs []result.RoutedRequest
		// settled is the number of the run that settles the request, 0 for none.
		settled, problems int
	}{
		{"right at once", []result.RoutedRequest{right}, 1, 0},
		{"right at the backend that was early", []result.RoutedRequest{early, right}, 2, 0},
		{"another backend settles nothing", []result.RoutedRequest{early, other, other}, 0, 1},
		{"another backend and then the same", []result.RoutedRequest{early, other, right}, 3, 0},
		{"wrong at another backend", []result.RoutedRequest{early, run("b", false, wrong)}, 2, 1},
		{"early each time", []result.RoutedRequest{early, early, early, early, early}, 5, 1},
		{"early each time, with others between", []result.RoutedRequest{early, other, early, early, other, early, early}, 7, 1},
		{"the only backend", []result.RoutedRequest{alone(run("", true)), alone(right)}, 2, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var m mistiming
			settled := 0
			var last result.RoutedRequest
			for i, r := range tt.runs {
				if last = r; m.settle(&last) {
					settled = i + 1
					break
				}
			}
			if settled != tt.settled || len(last.Problems) != tt.problems {
				t.Errorf("settled by run %d with the problems %v, want run %d and %d", settled, last.Problems, tt.settled, tt.problems)
			}
		})
	}
}
