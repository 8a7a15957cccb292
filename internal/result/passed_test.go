package result

import (
	"errors"
	"testing"

	"github.com/meshproof/meshproof/internal/routeverdict"
	"github.com/meshproof/meshproof/internal/verdict"
)

// TestPassed has each thing that keeps a case from passing, alone.
func TestPassed(t *testing.T) {
	t.Parallel()
	problem := []verdict.Problem{{Kind: verdict.OtherDecision}}
	asked, routed := make([]Request, 2), make([]RoutedRequest, 2)
	wrong := []Request{{}, {Judgement: verdict.Judgement{Problems: problem}}}
	wrongRouted := []RoutedRequest{{}, {Judgement: routeverdict.Judgement{Problems: problem}}}
	for name, tt := range map[string]struct {
		case_                  Case
		passed, failed, notRun bool
		failures               int
	}{
		"as wanted":                      {Case{Requests: asked, RoutedRequests: routed}, true, false, false, 0},
		"an error":                       {Case{Err: errors.New("a warning is missing\ncounters")}, false, true, false, 2},
		"a fault":                        {Case{Err: errors.New("Envoy ended"), Fault: true}, false, true, false, 1},
		"skipped":                        {Case{Skipped: "of another version"}, false, false, false, 0},
		"not run":                        {Case{Skipped: "not run", Fault: true}, false, false, true, 0},
		"a request":                      {Case{Requests: wrong, RoutedRequests: routed}, false, true, false, 1},
		"a request through a sidecar":    {Case{Requests: asked, RoutedRequests: wrongRouted}, false, true, false, 1},
		"a request of both and an error": {Case{Requests: wrong, RoutedRequests: wrongRouted, Err: errors.New("x")}, false, true, false, 3},
	} {
		if c := tt.case_; c.Passed() != tt.passed || c.Failed() != tt.failed || c.NotRun() != tt.notRun || len(c.Failures()) != tt.failures {
			t.Errorf("%s: passed %t, failed %t, not run %t, %q", name, c.Passed(), c.Failed(), c.NotRun(), c.Failures())
		}
	}
}
