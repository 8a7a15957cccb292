package differential_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/differential"
	"github.com/meshproof/meshproof/internal/suite"
)

// BenchmarkDifferential has sets of policies per second that a real Envoy is held
// against, from the drawing to the verdict.
func BenchmarkDifferential(b *testing.B) {
	h := shared(b)
	var sets, decisions, seconds float64
	for seed := uint64(1); b.Loop(); seed++ {
		r, err := differential.Fuzzer{Runner: suite.Runner{Harness: h}, Seed: seed}.Run(b.Context(), differential.Limit{Sets: 512})
		if err != nil {
			b.Fatal(err)
		}
		if len(r.Disagreements) > 0 {
			b.Fatalf("%+v", r.Disagreements[0].Problems)
		}
		sets, decisions, seconds = sets+float64(r.Sets), decisions+float64(r.Decisions), seconds+r.Took.Seconds()
	}
	b.ReportMetric(sets/seconds, "sets/s")
	b.ReportMetric(decisions/seconds, "decisions/s")
	b.ReportMetric(0, "ns/op")
}
