// Package e2e_test runs the built-in cases on a real Envoy.
package e2e_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/conformance"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/testbed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// userStories are the nine stories of the design.
var userStories = []string{
	"mesh-operator-1", "mesh-operator-2", "mesh-operator-3", "mesh-operator-4",
	"service-owner-1", "service-owner-2", "service-owner-3", "service-owner-4", "service-owner-5",
}

func isUserStory(c cases.Case) bool { return slices.Contains(userStories, c.Story) }

func isOther(c cases.Case) bool { return !isUserStory(c) }

func everyCase(cases.Case) bool { return true }

// inThisTier is for tests that run the cases again in another way: with -short they take
// the nine stories only.
func inThisTier(c cases.Case) bool { return isUserStory(c) || !testing.Short() }

// builtIn returns the wanted built-in cases.
func builtIn(t *testing.T, wanted func(cases.Case) bool) []cases.Case {
	t.Helper()
	all := casetest.Stories(t)
	return slices.DeleteFunc(all, func(c cases.Case) bool { return !wanted(c) })
}

// runSuite runs each case as a subtest, on one Envoy of the version under test.
func runSuite(t *testing.T, runtime harness.Runtime, all []cases.Case) {
	t.Helper()
	s := conformance.Suite{Cases: all, Runtime: runtime}
	if version := testedEnvoy(); version != "" {
		s.Versions = []string{version}
	}
	conformance.Run(t, s)
}

// testedEnvoy returns the version under test. It is empty for the default version.
func testedEnvoy() string { return os.Getenv("MESHPROOF_ENVOY") }

// TestUserStories runs the cases that make check runs.
func TestUserStories(t *testing.T) {
	t.Parallel()
	runSuite(t, harness.Process, builtIn(t, isUserStory))
}

func TestOtherCases(t *testing.T) {
	t.Parallel()
	runSuite(t, harness.Process, builtIn(t, isOther))
}

func TestCasesInContainer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: the same cases run on a process in TestUserStories and TestOtherCases")
	}
	h, err := harness.Start(t.Context(), harness.WithRuntime(harness.Container))
	testbed.NeedDocker(t, err)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	runSuite(t, harness.Container, builtIn(t, everyCase))
}

// TestUserStoriesHaveBothDecisions shows that each of the nine stories has an allowed request
// and a refused request.
func TestUserStoriesHaveBothDecisions(t *testing.T) {
	t.Parallel()
	allowed, refused := map[string]bool{}, map[string]bool{}
	for _, c := range builtIn(t, isUserStory) {
		for _, q := range c.Requests {
			if q.Want == cases.Allow {
				allowed[c.Story] = true
			} else {
				refused[c.Story] = true
			}
		}
	}
	for _, story := range userStories {
		if !allowed[story] || !refused[story] {
			t.Errorf("%s: a request passes: %t, a request is refused: %t", story, allowed[story], refused[story])
		}
	}
}

// TestNegativeControls shows that the suite can fail: a compiler that allows everything fails
// every deny, and a compiler that denies everything fails every allow.
func TestNegativeControls(t *testing.T) {
	t.Parallel()
	for name, control := range map[string]struct {
		compiler suite.Compiler
		// wrong is the want that the compiler fails each time.
		wrong cases.Want
	}{
		"AllowEverything": {suite.AllowEverything, cases.Deny},
		"DenyEverything":  {suite.DenyEverything, cases.Allow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := harness.New(t, harness.WithRuntime(harness.Process), harness.WithEnvoy(testedEnvoy()))
			found := 0
			for _, r := range (suite.Runner{Harness: h, Compiler: control.compiler, Kept: true}).Run(t.Context(), builtIn(t, inThisTier)...) {
				if r.Fault {
					t.Errorf("%s: %v", r.Case.Place, r.Err)
				}
				if r.Skipped != "" {
					continue
				}
				for _, q := range r.Requests {
					// Plaintext passes a permissive inbound unjudged, so no compiler decides it.
					if q.Want != control.wrong || q.From.Plaintext {
						continue
					}
					found++
					if len(q.Problems) == 0 {
						t.Errorf("%s as %s: %s found no mistake", q.Place, q.From.Name, strings.ToLower(name))
					}
				}
			}
			if found == 0 {
				t.Errorf("no request wants %s", control.wrong)
			}
		})
	}
}
