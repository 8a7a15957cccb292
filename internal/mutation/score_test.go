package mutation_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/internal/mutation"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sample returns the case with the fewest requests of each story. Together they can have all
// kinds of mistakes.
func sample(t *testing.T) []cases.Case {
	t.Helper()
	all := casetest.Stories(t)
	least := map[string]cases.Case{}
	for _, c := range all {
		if c.ExpectError != "" || len(c.Requests) == 0 || c.Gate.String() != "" || c.Story == "legacy-size" {
			continue
		}
		if best, ok := least[c.Story]; !ok || len(c.Requests) < len(best.Requests) {
			least[c.Story] = c
		}
	}
	var out []cases.Case
	for _, c := range all {
		// The cases with audiences, with authorizers, with a normalization, and those with several routes, are not the shortest of their stories.
		several := (c.Story == "istio-tokens" || c.Story == "istio-custom" || c.Story == "istio-normalization" || c.Story == "linkerd-matches") && c.ExpectError == "" && c.Gate.String() == ""
		if several || least[c.Story].Name == c.Name {
			out = append(out, c)
		}
	}
	return out
}

// TestNothingSurvives finds every mistake on a real Envoy. The nightly scores the whole suite.
func TestNothingSurvives(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: it runs each mistake in a case of every story; TestProofCatchesEveryKind runs one of each kind")
	}
	h := harness.New(t, harness.WithRuntime(envoy.Process))
	killed := map[mistake.Kind]int{}
	for _, c := range sample(t) {
		score, err := mutation.Tester{Runner: suite.Runner{Harness: h}}.Case(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range score.Mutants {
			if !v.Killed {
				t.Errorf("%s: %s: %s survives %s at %s: %s", c.Place, c.Name, v.Inbound, v.Kind, v.Where, v.Reason)
			}
			killed[v.Kind]++
		}
	}
	for _, kind := range mistake.Kinds() {
		// No dialect asks for a part of a text; TestMatchMutants makes that mistake.
		if killed[kind] == 0 && kind != mistake.ContainsToPrefix && !kind.OfSidecar() {
			t.Errorf("no case has the mistake %s", kind)
		}
	}
}

// Mutants run on listeners that are as the policies say: those of Linkerd keep repeated slashes, and some mistakes show
// with a path that has some.
func TestMutantsRunOnTheListenersOfThePolicies(t *testing.T) {
	t.Parallel()
	all := casetest.Stories(t)
	c := all[slices.IndexFunc(all, func(c cases.Case) bool { return c.Name == "a method of every service" })]
	score, err := mutation.Tester{Runner: suite.Runner{Harness: harness.New(t, harness.WithRuntime(envoy.Process))}}.Case(t.Context(), c)
	if err != nil || len(score.Mutants) < 10 {
		t.Fatalf("%d mistakes, %v", len(score.Mutants), err)
	}
	for _, v := range score.Mutants {
		if !v.Killed {
			t.Errorf("%s survives %s at %s: %s", v.Inbound, v.Kind, v.Where, v.Reason)
		}
	}
}

// TestMistakesInSidecars finds each kind of mistake in a sidecar on a real Envoy, by the requests
// that people wrote.
func TestMistakesInSidecars(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: it runs each mistake in the sidecars of several cases")
	}
	h := harness.New(t, harness.WithRuntime(envoy.Process))
	killed := map[mistake.Kind]int{}
	for _, c := range casetest.Stories(t) {
		if len(c.RoutedRequests) == 0 || !strings.HasPrefix(c.Story, "route-") {
			continue
		}
		score, err := mutation.Tester{Runner: suite.Runner{Harness: h}, OwnRequests: true}.Case(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range score.Mutants {
			if v.Killed {
				killed[v.Kind]++
			} else {
				t.Errorf("%s: %s: %s survives %s at %s: %s", c.Place, c.Name, v.Inbound, v.Kind, v.Where, v.Reason)
			}
		}
	}
	for _, kind := range mistake.Kinds() {
		if kind.OfSidecar() && killed[kind] == 0 {
			t.Errorf("no request finds the mistake %s", kind)
		}
	}
}

// TestProofsFindMistakesInSidecars has a case whose one request finds some mistakes, and whose proof finds
// the others.
func TestProofsFindMistakesInSidecars(t *testing.T) {
	t.Parallel()
	all := casetest.Stories(t)
	c := all[slices.IndexFunc(all, func(c cases.Case) bool { return c.Name == "a prefix of a path is a prefix of its segments" })]
	c.RoutedRequests = c.RoutedRequests[:1]
	score, err := mutation.Tester{Runner: suite.Runner{Harness: harness.New(t, harness.WithRuntime(envoy.Process))}}.Case(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	own, proof := 0, 0
	for _, v := range score.Mutants {
		switch {
		case !v.Killed:
			t.Errorf("%s survives %s at %s: %s", v.Inbound, v.Kind, v.Where, v.Reason)
		case v.Kind.OfSidecar() && v.KilledByOwn:
			own++
		case v.Kind == mistake.SegmentsToPrefix:
			proof++
		}
	}
	if own == 0 || proof == 0 {
		t.Errorf("%d found by the request of the case, %d by its proof", own, proof)
	}
}

// weak is a case whose requests do not distinguish its policies.
const weak = `
case: weak
workloads: [{name: backend, inbounds: [{name: in, port: 80, protocol: http}]}]
policies:
  - type: MeshTrafficPermission
    name: p
    spec:
      default:
        deny: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/enemy}}]
        allow: [{spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh/}, path: {type: Prefix, value: /a}}]
requests:
  - {from: spiffe://trust-domain.mesh/a, to: backend/in, path: /a, want: allow}
`

// TestSurvivors has a case with few requests. Its proof finds the mistakes that it misses.
func TestSurvivors(t *testing.T) {
	t.Parallel()
	h := harness.New(t, harness.WithRuntime(envoy.Process))
	c := casetest.Parse(t, weak)
	own, err := mutation.Tester{Runner: suite.Runner{Harness: h}, OwnRequests: true}.Case(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	survived := map[mistake.Kind]string{}
	for _, v := range own.Mutants {
		if !v.Killed {
			survived[v.Kind] = v.Reason
		}
	}
	for _, kind := range []mistake.Kind{mistake.ExactToPrefix, mistake.DenyMoved, mistake.NoMatchInverted, mistake.RawPaths} {
		if survived[kind] != "no request of the case is decided otherwise" {
			t.Errorf("%s: %q", kind, survived[kind])
		}
	}
	if own.Killed() == 0 || own.Killed() == len(own.Mutants) {
		t.Errorf("%d of %d are killed", own.Killed(), len(own.Mutants))
	}
	all, err := mutation.Tester{Runner: suite.Runner{Harness: h}}.Case(t.Context(), c)
	if err != nil || all.Killed() != len(all.Mutants) || len(all.Mutants) != len(own.Mutants) {
		t.Errorf("%d of %d are killed, %v", all.Killed(), len(all.Mutants), err)
	}
	for _, v := range all.Mutants {
		if !v.Killed {
			t.Errorf("%s at %s: %s", v.Kind, v.Where, v.Reason)
		}
	}
}

// TestFailingBaseline has a case that fails without a mistake. It gets no score.
func TestFailingBaseline(t *testing.T) {
	t.Parallel()
	h := harness.New(t, harness.WithRuntime(envoy.Process))
	c := casetest.Parse(t, strings.Replace(weak, "want: allow", "want: deny", 1))
	_, err := mutation.Tester{Runner: suite.Runner{Harness: h}}.Case(t.Context(), c)
	if !errors.Is(err, mutation.ErrBaseline) || !strings.Contains(err.Error(), `case "weak": it fails without a mistake`) {
		t.Errorf("error %v", err)
	}
}

// TestProofCatchesEveryKind shows that a compiler with any kind of mistake fails a proof, and
// that the counterexample fails too.
func TestProofCatchesEveryKind(t *testing.T) {
	t.Parallel()
	h := harness.New(t, harness.WithRuntime(envoy.Process))
	var candidates []cases.Case
	for _, c := range sample(t) {
		if len(c.Inbounds) <= 5 {
			candidates = append(candidates, c)
		}
	}
	first := firstOfEachKind(t, candidates)
	for _, kind := range mistake.Kinds() {
		if kind == mistake.OtherMode || kind == mistake.OtherPaths {
			// A proof is of the policies: it takes the mode and the normalization of a listener as given.
			continue
		}
		if kind >= mistake.RouteLost {
			// These are mistakes of a sidecar in the requests that its workload sends: no inbound has them.
			continue
		}
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			one, ok := first[kind]
			if !ok {
				switch kind {
				case mistake.ContainsToPrefix, mistake.PresentToEmpty, mistake.EndMissed, mistake.NotDropped, mistake.EndsExchanged, mistake.DotUnescaped:
					t.Skip("no sampled case compares so: TestEndpointMutants and TestMatchMutants have these mistakes")
				}
				t.Fatalf("no case can have %s", kind)
			}
			c, in, mutant := one.definition, one.inbound, one.mutant
			set, err := dialect.Parse(c.Policies, c.Options)
			if err != nil {
				t.Fatal(err)
			}
			faulty := suite.CompilerFunc(func(_ context.Context, of policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
				if of.String() == in && mutant.Fault == (suite.Fault{}) {
					return mutant.Compile()
				}
				return xds.Compile(set.Program(of).Program)
			})
			p, err := proof.Plan(c)
			if err != nil {
				t.Fatal(err)
			}
			runner := suite.Runner{Harness: h, Compiler: faulty, Fault: mutant.Fault, Kept: true}
			r := runner.Case(t.Context(), p.Case)
			v := p.Judge(r)
			if r.Fault || v.Holds() || len(v.Disagreements) == 0 {
				t.Fatalf("%s: %s at %s is not found: %v", c.Place, kind, mutant.Where, r.Err)
			}
			runner.Compiler = suite.Reference
			runner.Fault = suite.Fault{}
			if sound := runner.Case(t.Context(), p.Case); !p.Judge(sound).Holds() {
				t.Errorf("%s: it fails without the mistake too: %v", c.Place, sound.Err)
			}
		})
	}
}

// seeded is a mutant of a case, and the inbound that has it.
type seeded struct {
	definition cases.Case
	inbound    string
	mutant     mutation.Mutant
}

// firstOfEachKind returns the first mutant of each kind that one of the cases can have.
func firstOfEachKind(t *testing.T, candidates []cases.Case) map[mistake.Kind]seeded {
	t.Helper()
	first := map[mistake.Kind]seeded{}
	for _, c := range candidates {
		reading, err := verdict.Read(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range reading.Inbounds() {
			mutants, _ := mutation.InboundMutants(in, reading.Set())
			for _, m := range mutants {
				if _, ok := first[m.Kind]; !ok {
					first[m.Kind] = seeded{c, in.String(), m}
				}
			}
		}
	}
	return first
}
