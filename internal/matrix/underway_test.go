package matrix

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/differential"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
)

// If the binary cannot be read, there is an error and the run has no digest; the results stay.
func TestDigestThatCannotBeRead(t *testing.T) {
	t.Parallel()
	u, err := Suite{Runtime: harness.Process}.start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := u.Close(); err != nil {
			t.Error(err)
		}
	}()
	if sum, err := u.digest(); len(sum) != 64 || err != nil {
		t.Errorf("the digest is %q, error %v", sum, err)
	}
	u.digest = func() (string, error) { return "", os.ErrPermission }
	c := cases.Case{Name: "c"}
	result, err := u.result([]cases.Case{c}, map[string]result.Case{"c": {Case: c}}, nil)
	unread := (*DigestError)(nil)
	if !errors.As(err, &unread) || unread.Version != u.Version() || !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), u.Version()) {
		t.Errorf("error %v", err)
	}
	if result == nil || result.Report.Passed != 1 || result.Report.EnvoySHA256 != "" {
		t.Errorf("the result is %+v", result)
	}
}

// An interrupt ends Envoy, also while no work of the run looks at the context.
func TestInterruptEndsEnvoy(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	u, err := Suite{Runtime: harness.Process}.start(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	defer u.endWith(ctx)()
	spec := harness.MeshSpec{TrustDomains: []spiffeid.TrustDomain{spiffeid.RequireTrustDomainFromString("mesh")}}
	if _, err := u.NewMesh(ctx, spec); err != nil {
		t.Fatal(err)
	}
	interrupt()
	// Where all ports have a mesh, this waits for the end of Envoy.
	within, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for err == nil {
		_, err = u.NewMesh(within, spec)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Envoy goes on: %v", err)
	}
	if err := u.Close(); err != nil {
		t.Error(err)
	}
}

// The pattern of a test matches that test only, also after a shell has read it.
func TestPattern(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"TestX/1.40.0/a_case":          `'^TestX$/^1\.40\.0$/^a_case$'`,
		"TestX/1.40.0/it's_(not)_[a]b": `'^TestX$/^1\.40\.0$/^it'\''s_\(not\)_\[a\]b$'`,
		"TestX/1.40.0/a/b":             `'^TestX$/^1\.40\.0$/^a$/^b$'`,
	} {
		if got := pattern(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// Only the reference is meshproof's own compiler.
func TestForeign(t *testing.T) {
	t.Parallel()
	for want, compilers := range map[bool][]suite.Compiler{
		false: {nil, suite.Reference},
		true:  {suite.AllowEverything, new(suite.CompilerFunc)},
	} {
		for _, c := range compilers {
			if got := (Suite{Compiler: c}).foreign(); got != want {
				t.Errorf("%T: foreign %t", c, got)
			}
		}
	}
}

// A foreign compiler is never published as meshproof's own.
func TestForeignCompilerNeedsAnImplementation(t *testing.T) {
	t.Parallel()
	whole := report.Implementation{Organization: "o", Project: "p", URL: "u", Version: "v", Contact: []string{"c"}}
	partly := whole
	partly.URL, partly.Contact = " ", []string{""}
	dir := filepath.Join(t.TempDir(), "report")
	for name, tt := range map[string]struct {
		suite Suite
		want  string
	}{
		"meshproof's own":         {Suite{ReportDir: dir}, ""},
		"the same, by name":       {Suite{ReportDir: dir, Compiler: suite.Reference}, ""},
		"foreign, stated":         {Suite{ReportDir: dir, Compiler: suite.AllowEverything, Implementation: whole}, ""},
		"foreign, without report": {Suite{Compiler: suite.AllowEverything}, ""},
		"foreign, not stated":     {Suite{ReportDir: dir, Compiler: suite.AllowEverything}, "Implementation has no organization, no project, no url, no version, no contact"},
		"foreign, stated partly":  {Suite{ReportDir: dir, Compiler: suite.AllowEverything, Implementation: partly}, "Implementation has no url, no contact"},
	} {
		_, err := tt.suite.Plan()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
}

func TestPlanRefusesUnknownNames(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]Suite{
		`profile "MESH" is unknown`:                     {Selection: Selection{Profiles: []feature.Profile{"MESH"}}},
		`feature "Nope" is unknown`:                     {Selection: Selection{Supported: []feature.Name{"Nope"}}},
		`feature "nope" is unknown`:                     {Selection: Selection{Exempt: []feature.Name{"nope"}}},
		`a.yaml:1: case "c": feature "none" is unknown`: {Cases: []cases.Case{{Name: "c", Place: "a.yaml:1", Features: []feature.Name{"none"}}}},
	} {
		if _, err := s.Plan(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// Each version that could not be started is a failed case of a report, for the fault of the machine. Other errors of a run are none.
func TestUnstartedVersionsAreFailedCases(t *testing.T) {
	t.Parallel()
	of := func(version string) VersionError { return VersionError{version, errors.New("no " + version)} }
	err := errors.Join(&StartError{of("1.36.4")}, &EndError{of("1.38.3")}, errors.New("else"), &StartError{of("1.40.0")})
	runs := Suite{}.Unstarted(err)
	if len(runs) != 2 || len(Suite{}.Unstarted(&StartError{of("1.40.0")})) != 1 || len(Suite{}.Unstarted(nil)) != 0 {
		t.Fatalf("%+v", runs)
	}
	for i, version := range []string{"1.36.4", "1.40.0"} {
		r := runs[i]
		if r.Envoy != version || len(r.Cases) != 1 || !r.Cases[0].Failed() || !r.Cases[0].Fault || !strings.Contains(r.Cases[0].Error, "no "+version) {
			t.Errorf("%s: %+v", version, r)
		}
	}
}

// Drawn sets that differ, and those that are in doubt, keep a compiler from being conformant.
func TestProblemsOfDrawnSets(t *testing.T) {
	t.Parallel()
	differs := []differential.Disagreement{{Set: 7, Problems: []string{"a", "b", "c", "d"}}}
	for name, tt := range map[string]struct {
		drawn differential.Report
		want  []string
	}{
		"alike":    {differential.Report{}, nil},
		"differs":  {differential.Report{Disagreements: differs}, []string{"set 7: a", "set 7: b", "set 7: c"}},
		"in doubt": {differential.Report{Tally: differential.Tally{Doubted: 2}, Doubt: "set 9: an expression"}, []string{"2 sets not verified: set 9: an expression"}},
	} {
		if got := problemsOf(tt.drawn); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
