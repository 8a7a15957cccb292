package suite_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/matrix"
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

// BenchmarkDialects runs what meshproof run --envoy all runs: the cases of all dialects on each pinned
// version, from a cold start.
func BenchmarkDialects(b *testing.B) { onEachVersion(b, casetest.Stories(b)) }

// BenchmarkRoutes runs the cases of routes and timeouts alike. Their time is real.
func BenchmarkRoutes(b *testing.B) {
	onEachVersion(b, slices.DeleteFunc(slices.Clone(casetest.Stories(b)), func(c cases.Case) bool { return len(c.RoutedRequests) == 0 }))
}

func onEachVersion(b *testing.B, all []cases.Case) {
	for b.Loop() {
		runs, err := matrix.Suite{Cases: all, Runtime: envoy.Process, Versions: pin.Versions()}.Run(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		for _, run := range runs {
			for _, r := range run.Results {
				if r.Failed() {
					b.Fatalf("Envoy %s: %s: %v", run.Report.Envoy, r.Case.Name, r.Failures())
				}
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
