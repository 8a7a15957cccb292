package differential_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/differential"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/testbed"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// Envoy agrees with both opinions in Go on all policies.
func TestEnvoyAgrees(t *testing.T) {
	t.Parallel()
	last, sets := differential.Tally{}, 200
	if testing.Short() {
		sets = 50
	}
	f := differential.Fuzzer{Runner: suite.Runner{Harness: sharedEnvoy.Get(t)}, Seed: 1, Done: func(t differential.Tally) { last = t }}
	r, err := f.Run(t.Context(), differential.Limit{Sets: sets})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range r.Disagreements {
		t.Errorf("set %d, alone %t:\n%s\n%s", d.Set, d.Alone, strings.Join(d.Problems, "\n"), casewriter.YAML(d.Counterexample))
	}
	if r.Sets != sets || r.Distinct != sets || r.Pushes != sets/50 || r.Inbounds < sets*3/2 || r.Decisions < 5*sets || r.Tally != last {
		t.Errorf("%+v, last told %+v", r.Tally, last)
	}
}

// Some hundred sets are enough to find a wrong compiler. The exported case fails with that
// compiler and passes with the reference.
func TestFaultyCompilerIsFound(t *testing.T) {
	t.Parallel()
	for name, compiler := range map[string]suite.Compiler{
		"deny behind allow": faulty(denyBehindAllow),
		"exact as prefix":   faulty(exactAsPrefix),
		"last rule lost":    faulty(lastLost),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && name != "deny behind allow" {
				t.Skip("slow: it draws and shrinks hundreds of sets; one mistake is enough here")
			}
			wrong := suite.Runner{Harness: sharedEnvoy.Get(t), Compiler: compiler, AnyNames: true}
			r, err := differential.Fuzzer{Runner: wrong, Seed: 5, Batch: 16}.Run(t.Context(), differential.Limit{Sets: 400, Disagreements: 1})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Disagreements) != 1 {
				t.Fatalf("%d disagreements in %d sets", len(r.Disagreements), r.Sets)
			}
			d := r.Disagreements[0]
			if !d.Alone || len(d.Problems) == 0 {
				t.Errorf("alone %t, problems %q", d.Alone, d.Problems)
			}
			read, err := cases.Parse("counterexample.yaml", casewriter.YAML(d.Counterexample))
			if err != nil || len(read) != 1 {
				t.Fatalf("%v:\n%s", err, casewriter.YAML(d.Counterexample))
			}
			small := read[0]
			if len(small.Policies) > 2 || len(small.Requests) != 1 || len(small.Inbounds) != 1 {
				t.Errorf("it could be smaller:\n%s", casewriter.YAML(d.Counterexample))
			}
			if r := wrong.Case(t.Context(), small); !r.Failed() || r.Fault {
				t.Errorf("it passes with the faulty compiler (%v):\n%s", r.Err, casewriter.YAML(d.Counterexample))
			}
			if r := (suite.Runner{Harness: sharedEnvoy.Get(t)}).Case(t.Context(), small); !r.Passed() {
				t.Errorf("it fails with the reference (%v):\n%s", r.Err, casewriter.YAML(d.Counterexample))
			}
		})
	}
}

// Another compiler gets sets that it cannot know, and is asked for each of them again.
func TestForeignCompilerIsAskedAgain(t *testing.T) {
	t.Parallel()
	own := func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
		return suite.CompileOne(ctx, suite.Reference, in, docs, opts)
	}
	var mu sync.Mutex
	asked := map[string]bool{}
	twice := func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
		mu.Lock()
		key := in.String() + docs[0].Place("") + opts.TrustDomain.Name()
		again := asked[key]
		asked[key] = true
		mu.Unlock()
		if again {
			return suite.CompileOne(ctx, suite.AllowEverything, in, docs, opts)
		}
		return own(ctx, in, docs, opts)
	}
	known := func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
		if slices.Contains([]uint16{8080, 8081, 5432, 9090}, in.Port) {
			return own(ctx, in, docs, opts)
		}
		return suite.CompileOne(ctx, suite.AllowEverything, in, docs, opts)
	}
	named := func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
		if slices.Contains([]string{"backend", "frontend", "open"}, in.Workload.Name) {
			return own(ctx, in, docs, opts)
		}
		return suite.CompileOne(ctx, suite.AllowEverything, in, docs, opts)
	}
	for name, tt := range map[string]struct {
		compile      suite.CompilerFunc
		wrong, worse bool
	}{
		"right for names of the cases": {named, true, false},
		"honest":                       {own, false, false},
		"right the first time":         {twice, false, true},
		"right for usual ports":        {known, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := differential.Fuzzer{
				Runner: suite.Runner{Harness: sharedEnvoy.Get(t), Compiler: &suite.Foreign{CompilerFunc: tt.compile}}, Seed: 3, Batch: 8, KeepSets: true,
			}
			r, err := f.Run(t.Context(), differential.Limit{Sets: 8})
			if err != nil {
				t.Fatal(err)
			}
			if (len(r.Disagreements) > 0) != tt.wrong || (len(r.Worse) > 0) != tt.worse || r.Holds() != (!tt.wrong && !tt.worse) {
				t.Errorf("%d disagreements, worse %q", len(r.Disagreements), r.Worse)
			}
		})
	}
}

// If Envoy refuses filters, or a compiler refuses policies, the report names the set that has
// them, also when many sets are pushed together.
func TestRefusalsAreFound(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil func(xds.Filters) (xds.Filters, error)
		want  string
	}{
		"by Envoy":        {unparsable, "missing )"},
		"by the compiler": {func(xds.Filters) (xds.Filters, error) { return xds.Filters{}, errors.New("out of order") }, "out of order"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compiler := suite.CompilerFunc(func(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error) {
				f, err := suite.CompileOne(ctx, suite.Reference, in, policies, opts)
				if err != nil || len(policies) != 3 || len(f.HTTP) == 0 || f.HTTP[0].Matcher.GetMatcherList() == nil {
					return f, err
				}
				return tt.spoil(f)
			})
			f := differential.Fuzzer{Runner: suite.Runner{Harness: sharedEnvoy.Get(t), Compiler: compiler}, Seed: 6, Batch: 16}
			r, err := f.Run(t.Context(), differential.Limit{Sets: 64, Disagreements: 1})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Disagreements) != 1 {
				t.Fatalf("%d disagreements", len(r.Disagreements))
			}
			d := r.Disagreements[0]
			if !d.Alone || len(d.Case.Policies) != 3 || !strings.Contains(strings.Join(d.Problems, "\n"), tt.want) {
				t.Errorf("alone %t, %d policies, problems %q", d.Alone, len(d.Case.Policies), d.Problems)
			}
			if r := (suite.Runner{Harness: sharedEnvoy.Get(t)}).Case(t.Context(), d.Counterexample); !r.Passed() {
				t.Errorf("it fails with the reference (%v):\n%s", r.Err, casewriter.YAML(d.Counterexample))
			}
		})
	}
}

// A set that disagrees only together with others is reported too.
func TestDisagreementInCompanyAlone(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	compiled := map[string]bool{}
	wrong := faulty(func(g *policy.Gate) { g.Rules = nil })
	// It compiles wrongly the first time only.
	compiler := suite.CompilerFunc(func(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error) {
		mu.Lock()
		defer mu.Unlock()
		key := fmt.Sprint(in, policies[0].Place(""))
		if compiled[key] {
			return suite.CompileOne(ctx, suite.Reference, in, policies, opts)
		}
		compiled[key] = true
		return suite.CompileOne(ctx, wrong, in, policies, opts)
	})
	f := differential.Fuzzer{Runner: suite.Runner{Harness: sharedEnvoy.Get(t), Compiler: compiler}, Seed: 7, Batch: 8, Parallel: 1}
	r, err := f.Run(t.Context(), differential.Limit{Sets: 16, Disagreements: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Disagreements) != 2 || r.Disagreements[0].Set >= r.Disagreements[1].Set {
		t.Fatalf("%+v", r.Disagreements)
	}
	for _, d := range r.Disagreements {
		if d.Alone || len(d.Problems) == 0 || string(casewriter.YAML(d.Counterexample)) != string(casewriter.YAML(d.Case)) {
			t.Errorf("set %d: alone %t, problems %q:\n%s", d.Set, d.Alone, d.Problems, casewriter.YAML(d.Counterexample))
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	f := differential.Fuzzer{Runner: suite.Runner{Harness: sharedEnvoy.Get(t)}, Batch: 4, Parallel: 1}
	r, err := f.Run(t.Context(), differential.Limit{Time: time.Nanosecond})
	if err != nil || r.Sets != 0 {
		t.Errorf("%d sets after the time is over, %v", r.Sets, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	f.Done = func(differential.Tally) { cancel(enough) }
	if r, err := f.Run(ctx, differential.Limit{}); !errors.Is(err, enough) || r.Sets != 4 {
		t.Errorf("%d sets when the context ends, %v", r.Sets, err)
	}
}

// BenchmarkDifferential measures sets of policies per second, from the drawing to the verdict
// on a real Envoy.
func BenchmarkDifferential(b *testing.B) {
	h := sharedEnvoy.Get(b)
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

// faulty returns a compiler that makes a mistake in each gate.
func faulty(mistake func(*policy.Gate)) suite.Compiler {
	return suite.CompilerFunc(func(_ context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error) {
		set, err := dialect.Parse(policies, opts)
		if err != nil {
			return xds.Filters{}, err
		}
		p := set.Program(in).Program
		p.Gates = slices.Clone(p.Gates)
		for i := range p.Gates {
			p.Gates[i].Rules = slices.Clone(p.Gates[i].Rules)
			mistake(&p.Gates[i])
		}
		return xds.Compile(p)
	})
}

// denyBehindAllow moves the allows to the front.
func denyBehindAllow(g *policy.Gate) {
	slices.SortStableFunc(g.Rules, func(a, b policy.Rule) int { return int(b.Effect) - int(a.Effect) })
}

// exactAsPrefix turns exact matches into prefixes.
func exactAsPrefix(g *policy.Gate) {
	for i := range g.Rules {
		g.Rules[i].When = asPrefix(g.Rules[i].When)
	}
}

func asPrefix(c policy.Condition) policy.Condition {
	return rewrite.Condition(c, rewrite.Leaves(func(c policy.Condition) policy.Condition {
		if is, ok := c.(policy.Is); ok && is.Attribute == attribute.Identity {
			return attribute.Identity.Prefix(is.Match.Value)
		}
		return c
	}))
}

// lastLost leaves out the last rule.
func lastLost(g *policy.Gate) { g.Rules = g.Rules[:max(len(g.Rules)-1, 0)] }

// unparsable returns well-formed filters that Envoy refuses: the regular expression does not
// parse.
func unparsable(f xds.Filters) (xds.Filters, error) {
	one, err := xds.Compile(policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Rules: []policy.Rule{
		{Verdict: policy.Verdict{Origin: "spoilt"}, When: attribute.Identity.Exact("(")},
	}}}})
	if err != nil {
		return xds.Filters{}, err
	}
	predicate := one.HTTP[0].Matcher.GetMatcherList().Matchers[0].Predicate
	predicate.GetSinglePredicate().Matcher = &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_ValueMatch{ValueMatch: &matcherv3.StringMatcher{
		MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{
			EngineType: &matcherv3.RegexMatcher_GoogleRe2{GoogleRe2: &matcherv3.RegexMatcher_GoogleRE2{}}, Regex: "(",
		}},
	}}
	f.HTTP[0].Matcher.GetMatcherList().Matchers[0].Predicate = predicate
	return f, nil
}

// sharedEnvoy is the one Envoy of all tests.
var sharedEnvoy = testbed.Bed[*harness.Harness]{Start: func() (*harness.Harness, error) {
	return harness.Start(context.Background(), harness.WithRuntime(envoy.Process))
}}

func TestMain(m *testing.M) { sharedEnvoy.Main(m) }
