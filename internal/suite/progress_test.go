package suite

import (
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/progress"
)

// As many requests are counted as are due, and no more: the harness sends controls of its own.
func TestProgressCountsRequests(t *testing.T) {
	t.Parallel()
	routed, err := cases.Load("../../cases/kuma/route-matches.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := []cases.Case{casetest.Parse(t, accounts), routed[0]}
	var counter progress.Counter
	for _, r := range (Runner{Harness: sharedEnvoy.Get(t)}).Run(progress.WithCounter(t.Context(), &counter), all...) {
		if !r.Passed() {
			t.Error(r.Failures())
		}
	}
	due := int64(0)
	for _, c := range all {
		due += int64(len(c.Requests) + len(c.RoutedRequests))
	}
	if asked, of := counter.Asked(); asked != due || of != due || len(routed[0].RoutedRequests) == 0 {
		t.Errorf("%d of %d, want %d", asked, of, due)
	}
}
