package suite_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/pin"
	"github.com/meshproof/meshproof/internal/suite"
)

// BenchmarkSuiteOf runs all cases of one dialect on one Envoy that is there.
func BenchmarkSuiteOf(b *testing.B) {
	for _, dialect := range []string{"istio", "cilium", "linkerd"} {
		b.Run(dialect, func(b *testing.B) {
			own := slices.DeleteFunc(slices.Clone(casetest.Stories(b)), func(c cases.Case) bool {
				return filepath.Base(filepath.Dir(c.Place)) != dialect
			})
			h := harness.New(b, harness.WithRuntime(envoy.Process))
			for b.Loop() {
				passed(b, h, own)
			}
			b.ReportMetric(float64(len(own)), "cases/op")
		})
	}
}

// BenchmarkDialects runs the cases of all dialects on each pinned version, from a cold start.
func BenchmarkDialects(b *testing.B) {
	all := casetest.Stories(b)
	for b.Loop() {
		for _, version := range pin.Versions() {
			h, err := harness.Start(b.Context(), harness.WithRuntime(envoy.Process), harness.WithEnvoy(version))
			if err != nil {
				b.Fatal(err)
			}
			passed(b, h, all)
			if err := h.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(pin.Versions())*len(all)), "cases/op")
}

func passed(b *testing.B, h *harness.Harness, of []cases.Case) {
	b.Helper()
	for _, r := range (suite.Runner{Harness: h}).Run(b.Context(), of...) {
		if r.Failed() {
			b.Fatalf("%s: %v", r.Case.Name, r.Failures())
		}
	}
}
