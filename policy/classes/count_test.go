package classes_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// TestClassesDoNotMultiply counts the classes of rules by how they interact.
func TestClassesDoNotMultiply(t *testing.T) {
	t.Parallel()
	const n = 20
	caller := func(i int) policy.Condition { return attribute.Identity.Exact(fmt.Sprint("spiffe://td/", i)) }
	path := func(i int) policy.Condition { return attribute.Path.Exact(fmt.Sprint("/", i)) }
	method := attribute.Method.Exact("POST")
	many := func(effect policy.Effect, when func(i int) policy.Condition) (out []policy.Rule) {
		for i := range n {
			out = append(out, rule(effect, fmt.Sprint(i), when(i)))
		}
		return out
	}
	both := func(i int) policy.Condition { return policy.And{caller(i), path(i)} }
	var alternating []policy.Rule
	for i := range n {
		alternating = append(alternating, rule(policy.Deny, "path", path(i)), rule(policy.Allow, "caller", caller(i)))
	}
	nested := many(policy.Allow, caller)
	nested[0].Then = many(policy.Deny, path)
	l7 := func(rules ...[]policy.Rule) policy.Program {
		return policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Rules: slices.Concat(rules...)}}}
	}
	for _, tt := range []struct {
		name     string
		programs []policy.Program
		want     int
	}{
		{"callers only", []policy.Program{l7(many(policy.Allow, caller))}, n + 1},
		{"denied paths, then callers", []policy.Program{l7(many(policy.Deny, path), many(policy.Allow, caller))}, n + n + 1},
		{"callers, then paths for the others", []policy.Program{l7(many(policy.Allow, caller), many(policy.Allow, path))}, n + n + 1},
		{"callers and paths in turn", []policy.Program{l7(alternating)}, n + n + 1},
		{"a path of its own for each caller", []policy.Program{l7(many(policy.Allow, both))}, n + n + 1},
		{"a path that is denied to all, and one for each caller", []policy.Program{l7([]policy.Rule{rule(policy.Deny, "", path(n))}, many(policy.Allow, both))}, 1 + n + n + 1},
		{"a method of a path", []policy.Program{l7([]policy.Rule{rule(policy.Deny, "", policy.And{path(0), method})}, many(policy.Allow, caller))}, 1 + 2*(n+1)},
		{"paths nested in one caller", []policy.Program{l7(nested)}, n + n + 1},
		{"the same program twice", []policy.Program{l7(many(policy.Allow, caller)), l7(many(policy.Allow, caller))}, n + 1},
		{"a gate that denies, then one of callers", []policy.Program{{Gates: slices.Concat(
			[]policy.Gate{{Layer: policy.L7, Rules: many(policy.Deny, path), Default: policy.Verdict{Effect: policy.Allow}}}, l7(many(policy.Allow, caller)).Gates)}}, n + n + 1},
		{"a shadow of paths beside callers", []policy.Program{{Gates: l7(many(policy.Allow, caller)).Gates, Shadows: l7(many(policy.Deny, path)).Gates}}, (n + 1) * (n + 1)},
		{"a decided gate", []policy.Program{l7([]policy.Rule{rule(policy.Deny, "", policy.Always)}, many(policy.Allow, both))}, 1},
		{"a route", []policy.Program{{Gates: l7(many(policy.Allow, caller)).Gates, Routes: []policy.Route{{When: path(0)}}}}, 1 + n + 1},
	} {
		cover := classes.Cut(classes.Surface{}, tt.programs...)
		if got := len(cover.Classes); got != tt.want || !cover.Complete() {
			t.Errorf("%s: %d, want %d: %s", tt.name, got, tt.want, cover)
		}
	}
	if cover := classes.Cut(classes.Surface{Protocol: policy.TCP}, l7(many(policy.Allow, both))); len(cover.Classes) != 1 || len(cover.Dimensions) != 1 {
		t.Errorf("tcp, where no path matches: %s", cover)
	}
}

func TestTooManyClassesAreNoCompleteCover(t *testing.T) {
	t.Parallel()
	p := manyIdentities(100)
	cover := classes.UpTo(10, classes.Surface{}, p)
	if len(cover.Classes) != 10 || cover.Complete() || cover.Sampled[0] != "there are more than 10 classes, and no others were looked for" {
		t.Errorf("%d classes, %s", len(cover.Classes), cover)
	}
	if all := classes.Cut(classes.Surface{}, p); !classes.UpTo(len(all.Classes), classes.Surface{}, p).Complete() {
		t.Errorf("%s is not complete", all)
	}
}

// TestCallersWithSeveralNames checks the claim of a cover that callers with several names have
// no new decision. It asks all callers with up to three names.
func TestCallersWithSeveralNames(t *testing.T) {
	t.Parallel()
	names := []string{"spiffe://td/a", "spiffe://td/b", "spiffe://td/a/c"}
	leaf := rapid.Custom(func(t *rapid.T) policy.Condition {
		return policy.Is{Attribute: attribute.URISAN, Match: policy.Match{Kind: rapid.SampledFrom([]policy.MatchKind{policy.Exact, policy.Prefix}).Draw(t, "kind"), Value: rapid.SampledFrom(names).Draw(t, "name")}}
	})
	when := rapid.OneOf(leaf, leaf, leaf,
		rapid.Map(leaf, func(c policy.Condition) policy.Condition { return policy.Not{Condition: c} }),
		rapid.Map(rapid.SliceOfN(leaf, 2, 2), func(cs []policy.Condition) policy.Condition { return policy.And(cs) }),
		rapid.Map(rapid.SliceOfN(leaf, 2, 2), func(cs []policy.Condition) policy.Condition { return policy.Or(cs) }),
		rapid.Map(rapid.SampledFrom(names), func(name string) policy.Condition { return attribute.Identity.Exact(name) }),
	)
	claimed := 0
	property.Check(t, func(t *rapid.T) {
		var p policy.Program
		for range rapid.SampledFrom([]int{1, 1, 2}).Draw(t, "gates") {
			g := policy.Gate{Default: policy.Verdict{Effect: policy.Allow, Origin: "default"}}
			for i := range rapid.IntRange(1, 3).Draw(t, "rules") {
				r := rule(policy.Effect(rapid.IntRange(0, 1).Draw(t, "effect")), fmt.Sprint(i), when.Draw(t, "when"))
				if rapid.IntRange(0, 4).Draw(t, "nested") == 0 {
					r.Then = []policy.Rule{rule(policy.Allow, "then", when.Draw(t, "then"))}
				}
				g.Rules = append(g.Rules, r)
			}
			p.Gates = append(p.Gates, g)
		}
		cover := classes.Cut(classes.Surface{Protocol: policy.TCP}, p)
		if !cover.Complete() {
			return
		}
		claimed++
		for set := range 1 << (2 * len(names)) {
			var r policy.Request
			for i, name := range names {
				if set>>i&1 == 1 {
					r.URIs = append(r.URIs, name)
				}
				if set>>(i+len(names))&1 == 1 {
					r.DNS = append(r.DNS, name)
				}
			}
			want := policy.Decide(p, r)
			if !slices.ContainsFunc(cover.Classes, func(c classes.Class) bool { return policy.Decide(p, c.Witness) == want }) {
				t.Fatalf("no class is decided as %+v, %+v\n%s\n%s", r, want, cover, p)
			}
		}
	})
	// With -short rapid draws a fifth, which is too few for rare forms.
	if claimed == 0 && !testing.Short() {
		t.Error("no cover was complete")
	}
}

// A cover of one dimension says why it has fewer classes than cells.
func TestCellsThatAreDecidedAlike(t *testing.T) {
	t.Parallel()
	named := rule(policy.Allow, "", attribute.Identity.Exact("spiffe://td/a"))
	for want, rules := range map[string][]policy.Rule{
		"2 classes of requests (cells by caller: 2)":                                {named},
		"1 class of requests (cells by caller: 2, of which some are decided alike)": {rule(policy.Deny, "", policy.Always), named},
	} {
		p := policy.Program{Gates: []policy.Gate{{Rules: rules}}}
		if got := classes.Cut(classes.Surface{Protocol: policy.TCP}, p).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// opaque is a condition of an unknown kind.
type opaque struct{ policy.Condition }

func TestUnknownConditionIsNoCompleteCover(t *testing.T) {
	t.Parallel()
	p := policy.Program{Gates: []policy.Gate{{Rules: []policy.Rule{rule(policy.Allow, "", policy.Or{opaque{policy.Always}, attribute.Identity.Exact("spiffe://td/a")})}}}}
	cover := classes.Cut(classes.Surface{Protocol: policy.TCP}, p)
	if len(cover.Classes) != 2 || cover.Complete() || cover.String() != `2 classes of requests (cells by caller: 2); sampled: condition "always": requests that meet it were not looked for` {
		t.Error(cover)
	}
}

// manyIdentities is a program of n matchers of identities, in rules of two, with
// denies in front and a few rules for everybody.
func manyIdentities(n int) policy.Program {
	var denies, allows []policy.Rule
	for i := range n / 4 {
		origin, namespace := fmt.Sprint("policy-", i), fmt.Sprintf("spiffe://td/ns/team-%d/", i)
		denies = append(denies, rule(policy.Deny, origin, attribute.Identity.Exact(namespace+"sa/denied")))
		allows = append(allows, rule(policy.Allow, origin, policy.Or{
			attribute.Identity.Prefix(namespace),
			attribute.Identity.Exact(namespace + "sa/hidden"),
			policy.And{attribute.Identity.Exact(fmt.Sprintf("spiffe://td/ns/metrics/sa/%d", i)), attribute.Path.Segments("/metrics")},
		}))
	}
	allows = append(allows, rule(policy.Allow, "health", attribute.Path.Exact("/health")))
	gate := policy.Gate{Layer: policy.L7, Rules: append(denies, allows...)}
	return policy.Program{Gates: []policy.Gate{gate}}
}

func BenchmarkClasses(b *testing.B) {
	for _, n := range []int{10_000, 20_000} {
		p := manyIdentities(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cover := classes.Cut(classes.Surface{}, p)
				b.ReportMetric(float64(len(cover.Classes)), "classes")
			}
		})
	}
}

// BenchmarkClassesInterleaved has rules for everybody between those for callers.
func BenchmarkClassesInterleaved(b *testing.B) {
	gate := policy.Gate{Layer: policy.L7}
	for i := range 1000 {
		gate.Rules = append(gate.Rules,
			rule(policy.Allow, "caller", attribute.Identity.Exact(fmt.Sprint("spiffe://td/", i))),
			rule(policy.Deny, "path", attribute.Path.Exact(fmt.Sprint("/", i))))
	}
	b.ReportAllocs()
	for b.Loop() {
		classes.Cut(classes.Surface{}, policy.Program{Gates: []policy.Gate{gate}})
	}
}

// BenchmarkClassesOfVersions compares two versions of a list of names.
func BenchmarkClassesOfVersions(b *testing.B) {
	const n = 10_000
	programs := make([]policy.Program, 2)
	for v := range programs {
		gate := policy.Gate{Form: policy.Named}
		for i := v; i < n+v; i++ {
			gate.Rules = append(gate.Rules, rule(policy.Allow, "caller", attribute.URISAN.Exact(fmt.Sprint("spiffe://td/", i))))
		}
		programs[v].Gates = []policy.Gate{gate}
	}
	b.ReportAllocs()
	for b.Loop() {
		cover := classes.Cut(classes.Surface{Protocol: policy.TCP}, programs...)
		b.ReportMetric(float64(len(cover.Classes)), "classes")
	}
}

func BenchmarkNeighbours(b *testing.B) {
	cover := classes.Cut(classes.Surface{}, manyIdentities(10_000))
	b.ReportAllocs()
	for b.Loop() {
		for i := range cover.Classes {
			cover.Neighbours(i)
		}
	}
}

func BenchmarkLocate(b *testing.B) {
	cover := classes.Cut(classes.Surface{}, manyIdentities(10_000))
	r := policy.Request{URIs: []string{"spiffe://td/ns/metrics/sa/17"}, Method: "GET", Path: "/metrics/x"}
	b.ReportAllocs()
	for b.Loop() {
		cover.Locate(r)
	}
}
