package conformance_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/conformance"
	"github.com/meshproof/meshproof/harness"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSuiteTakesOneCompiler(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]conformance.Suite{
		"two":             {Compiler: noFilter{}, Command: []string{"true"}},
		"a control plane": {Compiler: noFilter{}, ControlPlane: &conformance.ControlPlane{Target: "localhost:1"}},
	} {
		if _, err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "set one of them") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (conformance.Suite{Shard: "3/2"}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "the parts are 1 to 2") {
		t.Errorf("a shard that does not exist: %v", err)
	}
	if _, err := (conformance.Suite{Command: []string{"false"}}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "false") {
		t.Errorf("a compiler that ends at once: %v", err)
	}
}

// A case that another program made, or whose requests it took out, would pass.
func TestSuiteRefusesACaseThatProvesNothing(t *testing.T) {
	t.Parallel()
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	without := all[0]
	without.Requests = nil
	for _, c := range []cases.Case{without, {}} {
		results, err := conformance.Suite{Cases: []cases.Case{all[1], c}, Runtime: harness.Process}.Run(t.Context())
		if err == nil || !strings.HasSuffix(err.Error(), "it proves nothing") || results != nil {
			t.Errorf("%+v, %v", results, err)
		}
	}
}

// A program gets the report that a test gets.
func TestSuiteRunWritesAReport(t *testing.T) {
	t.Parallel()
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	story := slices.DeleteFunc(all, func(c cases.Case) bool { return c.Story != "mesh-operator-1" })
	dir := filepath.Join(t.TempDir(), "report")
	results, err := conformance.Suite{Cases: story, Runtime: harness.Process, ReportDir: dir}.Run(t.Context())
	if err != nil || len(results) != 1 || results[0].Passed != len(story) || len(results[0].Cases) != len(story) {
		t.Fatalf("%+v, %v", results, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
		t.Error(err)
	}
}
