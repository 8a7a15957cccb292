package plugins

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/plugin"
	"github.com/meshproof/meshproof/internal/recording"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/testbed"
	"github.com/meshproof/meshproof/policy/manifest"
)

// istio is the command of Istio's compiler. With it the tests ask and write the recordings,
// without it they read them.
var istio = flag.String("istio", "", "ask this compiler of Istio and record its answers")

const (
	// again is the command that records.
	again = "make fourth"
	// answers are those to the cases.
	answers = "istio/testdata/answers.jsonl"
)

var sharedEnvoy = testbed.Bed[*harness.Harness]{Start: func() (*harness.Harness, error) {
	return harness.Start(context.Background(), harness.WithRuntime(harness.Process), harness.WithEnvoy(os.Getenv("MESHPROOF_ENVOY")))
}}

func TestMain(m *testing.M) { sharedEnvoy.Main(m) }

// startIstio starts the compiler that records into r, which may be nil.
func startIstio(t *testing.T, r *recording.Recording) *plugin.Compiler {
	t.Helper()
	opts := plugin.Options{}
	if r != nil {
		opts.Record = r.Keep
	}
	c, err := plugin.Start(t.Context(), plugin.Shell(*istio), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// istioCompiler returns Istio's compiler, or its recorded answers.
func istioCompiler(t *testing.T) suite.CompilerFunc {
	t.Helper()
	if *istio == "" {
		r, err := recording.Read(answers)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if n := r.Unasked(); n > 0 && !t.Failed() {
				t.Errorf("%s has %d answers to no question: record again with %s", answers, n, again)
			}
		})
		return r.Compile
	}
	r := recording.New(again)
	c := startIstio(t, r)
	t.Cleanup(func() {
		if err := r.Write(answers, c); err != nil {
			t.Error(err)
		}
	})
	return c.Compile
}

// ofIstio returns the built-in cases whose policies are Istio's.
func ofIstio(t *testing.T) []cases.Case {
	t.Helper()
	return slices.DeleteFunc(casetest.Stories(t), func(c cases.Case) bool {
		foreign := func(p manifest.Document) bool {
			return !strings.HasPrefix(p.Type().APIVersion, "security.istio.io/")
		}
		return len(c.Policies) == 0 || slices.ContainsFunc(c.Policies, foreign)
	})
}

// TestIstio runs each case of Istio with the filters that Istio's compiler gave for it, and
// refuses what it refused. Case, decision program, second opinion, Istio and Envoy have to agree.
func TestIstio(t *testing.T) {
	t.Parallel()
	compile := istioCompiler(t)
	limit := func(c cases.Case) bool { return slices.Contains(c.Features, limits) }
	all := ofIstio(t)
	for _, c := range all {
		if !limit(c) {
			continue
		}
		for _, in := range c.Inbounds {
			if _, err := compile(t.Context(), in.Inbound, c.Policies, c.Options); err != nil {
				t.Errorf("%s: %s is about limits of meshproof, and Istio refuses the policies too: %v", c.Place, c.Name, err)
			}
		}
	}
	tally := map[feature.Name]*[2]int{}
	runner := suite.Runner{Harness: sharedEnvoy.Get(t), Compiler: &suite.Foreign{CompilerFunc: compile}, Kept: true}
	for _, r := range runner.Run(t.Context(), slices.DeleteFunc(all, limit)...) {
		if r.Fault || r.Failed() {
			t.Errorf("%s: %s:\n%s", r.Case.Place, r.Case.Name, strings.Join(r.Failures(), "\n"))
		}
		for _, name := range r.Case.Features {
			if tally[name] == nil {
				tally[name] = new([2]int)
			}
			tally[name][0]++
			if r.Failed() {
				tally[name][1]++
			}
		}
	}
	golden.Section(t, "../docs/istio-conformance.md", "features", conformance(tally))
}

// conformance returns a table of the features of Istio, from the number of cases and of failed
// cases.
func conformance(tally map[feature.Name]*[2]int) string {
	var b strings.Builder
	b.WriteString("| feature | level | cases | result |\n|---|---|---|---|\n")
	for _, f := range feature.All() {
		if of := tally[f.Name]; of != nil && f.Profile == feature.IstioAuthz {
			result := "success"
			if of[1] > 0 {
				result = fmt.Sprintf("%d failed", of[1])
			}
			fmt.Fprintf(&b, "| `%s` | %s | %d | %s |\n", f.Name, f.Level, of[0], result)
		}
	}
	return b.String()
}

// limits is the feature of cases that another compiler does not claim.
const limits feature.Name = "IstioLimits"
