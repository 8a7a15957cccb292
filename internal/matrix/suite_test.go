package matrix_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/folder"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

func TestMain(m *testing.M) {
	matrix.AskFewerRelatedSets()
	goleak.VerifyTestMain(m)
}

// few returns three cases: a case that every compiler of the first profile supports, a case with
// an extended feature, and one of another profile.
func few(t *testing.T) []cases.Case {
	t.Helper()
	const text = `
case: no caller gets in
story: first
features: [MeshOperator1]
workloads: [{name: backend, inbounds: [{port: 80, protocol: http}]}]
requests: [{from: backend, to: backend/80, want: deny}]
---
case: an option
story: second
features: [MTPOption2]
options: {kumaOption: 2}
workloads: [{name: backend, inbounds: [{port: 80, protocol: http}]}]
requests: [{from: backend, to: backend/80, want: deny}]
---
case: everybody gets in
story: third
features: [AuthorizationPolicyAllow]
workloads: [{name: backend, labels: {app: a}, inbounds: [{port: 80, protocol: http}]}]
policies:
  - apiVersion: gateway.networking.k8s.io/v1
    kind: AuthorizationPolicy
    metadata: {name: p}
    spec: {targetRefs: [{kind: Pod, selector: {matchLabels: {app: a}}}], action: ALLOW, enforcementLevel: Network, rules: [{}]}
requests: [{from: backend, to: backend/80, want: allow}]
`
	all, err := cases.Parse("few.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSuiteRun(t *testing.T) {
	t.Parallel()
	var started []string
	done := 0
	results, err := matrix.Suite{
		Cases: few(t), Runtime: harness.Process, Versions: []string{"1.39.3", "1.40.0"},
		Selection: matrix.Selection{Profiles: []feature.Profile{feature.KumaMTP}, Supported: []feature.Name{}},
		Started:   func(version string, n int) { started = append(started, version) },
		Done:      func(string, result.Case) { done++ },
		Again:     func(c cases.Case, run report.Run) string { return c.Name + " on " + run.Envoy },
	}.Run(t.Context())
	if err != nil || len(results) != 2 || len(started) != 2 || done != 2 {
		t.Fatalf("%d results, %v; started %v; %d done", len(results), err, started, done)
	}
	for i, version := range []string{"1.39.3", "1.40.0"} {
		run := results[i].Report
		if run.AnyNames {
			t.Error("it says that any name will do")
		}
		if run.Envoy != version || len(run.EnvoySHA256) != 64 || run.Runtime != "process" || run.Implementation.Project != "meshproof" || run.Milliseconds <= 0 {
			t.Errorf("the head is %+v", run)
		}
		if run.Passed != 1 || run.Failed != 0 || run.Skipped != 1 || len(run.Cases) != 2 || len(results[i].Results) != 2 {
			t.Fatalf("%d cases: %d passed, %d failed, %d skipped", len(run.Cases), run.Passed, run.Failed, run.Skipped)
		}
		first, second := run.Cases[0], run.Cases[1]
		if !first.Passed || first.EvidenceSHA256 == "" || first.Again != "no caller gets in on "+version || !strings.HasPrefix(first.Source, "case: no caller gets in\n") {
			t.Errorf("%+v", first)
		}
		if second.Skipped != "it needs MTPOption2, which is not among the supported features" || !second.NotApplicable {
			t.Errorf("%+v", second)
		}
	}
	if results[0].Report.Cases[0].EvidenceSHA256 != results[1].Report.Cases[0].EvidenceSHA256 {
		t.Error("the same evidence has two hashes")
	}
}

// The next version starts while the last case of one still runs.
func TestNextVersionStartsBehindTheLastCase(t *testing.T) {
	t.Parallel()
	second := make(chan struct{})
	started, reads := 0, 0
	var mu sync.Mutex
	all := few(t)[:1]
	results, err := matrix.Suite{
		Cases: all, Runtime: harness.Process, Versions: []string{"1.39.3", "1.40.0"},
		Started: func(string, int) {
			if started++; started == 2 {
				close(second)
			}
		},
		Read: func(c cases.Case) (*verdict.Reading, error) {
			mu.Lock()
			reads++
			first := reads == 1
			mu.Unlock()
			if first {
				select {
				case <-second:
				case <-time.After(30 * time.Second):
					return nil, errors.New("the next version did not start")
				}
			}
			return verdict.Read(c)
		},
	}.Run(t.Context())
	if err != nil || len(results) != 2 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for i, version := range []string{"1.39.3", "1.40.0"} {
		if run := results[i].Report; run.Envoy != version || run.Passed != 1 {
			t.Errorf("Envoy %s: %d passed: %v", run.Envoy, run.Passed, results[i].Results[0].Failures())
		}
	}
}

// A wrong compiler fails the cases that it decides wrongly, and no others.
func TestSuiteFindsAWrongCompiler(t *testing.T) {
	t.Parallel()
	mine := report.Implementation{Organization: "o", Project: "mine", URL: "u", Version: "1", Contact: []string{"c"}}
	results, err := matrix.Suite{Cases: few(t), Runtime: harness.Process, Compiler: suite.AllowEverything, Implementation: mine}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run := results[0].Report
	var passed []bool
	for _, c := range run.Cases {
		passed = append(passed, c.Passed)
	}
	// The allow is right, but has no name.
	if diff := cmp.Diff([]bool{false, false, false}, passed); diff != "" || run.Failed != 3 {
		t.Errorf("passed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(mine, run.Implementation); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A foreign compiler without an Implementation has no name in the run. The run says whether
// names of policies were compared.
func TestSuiteOfAForeignCompiler(t *testing.T) {
	t.Parallel()
	results, err := matrix.Suite{Cases: few(t)[2:], Runtime: harness.Process, Compiler: everybody, AnyNames: true, Undigested: true}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run := results[0].Report
	if run.Passed != 1 || !run.AnyNames || run.EnvoySHA256 != "" {
		t.Errorf("%d passed, any names: %t, digest %q", run.Passed, run.AnyNames, run.EnvoySHA256)
	}
	if diff := cmp.Diff(report.Implementation{}, run.Implementation); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// everybody is a compiler that allows everything on L4, with a name of its own.
var everybody = suite.CompilerFunc(func(context.Context, policy.Inbound, []manifest.Document, language.Options) (xds.Filters, error) {
	return xds.Compile(policy.Program{Gates: []policy.Gate{{Form: policy.Named, Rules: []policy.Rule{
		{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "mine"}, When: policy.Always},
	}}}})
})

// An unknown version leaves out no other version.
func TestSuiteWithoutAVersion(t *testing.T) {
	t.Parallel()
	results, err := matrix.Suite{Cases: few(t), Runtime: harness.Process, Versions: []string{"1.2.3", "1.40.0"}}.Run(t.Context())
	start := (*matrix.StartError)(nil)
	if !errors.As(err, &start) || start.Version != "1.2.3" || !errors.Is(err, harness.ErrUnknownVersion) || !strings.Contains(err.Error(), "1.2.3") {
		t.Errorf("error %v", err)
	}
	if len(results) != 1 || results[0].Report.Passed != 3 {
		t.Errorf("%d results", len(results))
	}
}

func TestSuiteCutOff(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	results, err := matrix.Suite{
		Cases: few(t), Runtime: harness.Process, Started: func(string, int) { cancel() },
	}.Run(ctx)
	if err != nil || len(results) != 1 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for _, c := range results[0].Report.Cases {
		if c.Passed || !c.Fault {
			t.Errorf("%+v", c)
		}
	}
}

func TestPlanOfNothing(t *testing.T) {
	t.Parallel()
	_, err := matrix.Suite{Cases: few(t), Selection: matrix.Selection{Profiles: []feature.Profile{feature.KumaMTPLegacy}}}.Plan()
	if err == nil || !strings.Contains(err.Error(), "none of the cases (3) belongs to the profiles [KUMA-MTP-LEGACY]") {
		t.Errorf("error %v", err)
	}
}

// The test of another module has these five lines.
func TestRunAsATest(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "report")
	matrix.Run(t, matrix.Suite{
		Cases: few(t), Runtime: harness.Process, ReportDir: dir,
		Selection: matrix.Selection{Supported: []feature.Name{}},
	})
	runs, err := folder.Load(dir)
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	if run := runs[0]; run.Passed != 2 || run.Skipped != 1 || run.Failed != 0 {
		t.Errorf("%d passed, %d failed, %d skipped", run.Passed, run.Failed, run.Skipped)
	}
	if got, want := runs[0].Cases[0].Again, `go test -run '^TestRunAsATest$/^1\.40\.0$/^no_caller_gets_in$'`; got != want {
		t.Errorf("again: %s, want %s", got, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
		t.Error(err)
	}
}

// There is one error for a version that cannot be started, with its number.
func TestRunOfAVersionThatCannotStart(t *testing.T) {
	t.Parallel()
	const variable = "MESHPROOF_TEST_UNKNOWN_VERSION"
	if dir := os.Getenv(variable); dir != "" {
		matrix.Run(t, matrix.Suite{Cases: few(t), Runtime: harness.Process, Versions: []string{"1.2.3"}, ReportDir: dir})
		return
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
	again.Env = append(os.Environ(), variable+"="+t.TempDir())
	out, err := again.CombinedOutput()
	if said := string(out); err == nil || strings.Count(said, "Envoy 1.2.3: ") != 1 || !strings.Contains(said, "unknown version") || strings.Contains(said, "there is no run") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// The suite refuses a folder that it cannot write before it starts Envoy.
func TestRunIntoAFile(t *testing.T) {
	t.Parallel()
	const variable = "MESHPROOF_TEST_REPORT_FILE"
	if file := os.Getenv(variable); file != "" {
		matrix.Run(t, matrix.Suite{Cases: few(t), Runtime: harness.Process, ReportDir: file})
		return
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), variable+"="+os.Args[0])
	out, err := again.CombinedOutput()
	if said := string(out); err == nil || !strings.Contains(said, "report: prepare: ") || strings.Contains(said, t.Name()+"/") {
		t.Errorf("%v:\n%s", err, out)
	}
}
