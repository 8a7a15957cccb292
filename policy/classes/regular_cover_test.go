package classes_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/programtest"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// is is a match of an attribute.
func is(a *policy.Attribute, kind policy.MatchKind, value string) policy.Is {
	return policy.Is{Attribute: a, Match: policy.Match{Kind: kind, Value: value}}
}

// ordered is a gate of a rule for each condition.
func ordered(conditions ...policy.Condition) policy.Program {
	gate := policy.Gate{Layer: policy.L7, Default: policy.Verdict{Origin: "default"}}
	for i, c := range conditions {
		gate.Rules = append(gate.Rules, rule(policy.Effect(i%2), fmt.Sprint("rule-", i), c))
	}
	return policy.Program{Gates: []policy.Gate{gate}}
}

// mixedMatches are suffixes, parts and regular expressions of identities, a third each.
func mixedMatches(n int) (out []policy.Condition) {
	for i := range n {
		switch i % 3 {
		case 0:
			out = append(out, is(attribute.Identity, policy.Suffix, fmt.Sprintf("/sa/account%d", i)))
		case 1:
			out = append(out, is(attribute.Identity, policy.Contains, fmt.Sprintf("/ns/space%d/", i)))
		default:
			out = append(out, is(attribute.Identity, policy.Regex, fmt.Sprintf(`spiffe://[^/]+/ns/team%d-[a-z]+/sa/[a-z-]+`, i)))
		}
	}
	return out
}

// TestMixedMatches cuts by matches that overlap: each has its class, and a request.
func TestMixedMatches(t *testing.T) {
	t.Parallel()
	p := ordered(mixedMatches(60)...)
	cover := classes.Cut(classes.Surface{}, p)
	if !cover.Complete() || len(cover.Classes) != 61 {
		t.Fatalf("%s, want 61 classes", cover)
	}
	for i, c := range cover.Classes {
		if at, ok := cover.Locate(c.Witness); !ok || at != i {
			t.Errorf("the witness of class %d is in class %d", i, at)
		}
		if id := c.Witness.URIs[0]; !strings.HasPrefix(id, "spiffe://trust-domain.mesh/ns/") {
			t.Errorf("the witness %s is not natural", id)
		}
	}
}

// TestHiddenMatches finds what has no request.
func TestHiddenMatches(t *testing.T) {
	t.Parallel()
	p := ordered(
		is(attribute.Identity, policy.Regex, `.*/ns/[a-m][^/]*/.*`),
		is(attribute.Identity, policy.Contains, "/ns/b/"),
		is(attribute.Identity, policy.Suffix, "//"),
		policy.And{is(attribute.Path, policy.Suffix, ".json"), attribute.Path.Segments("/api")},
	)
	cover := classes.Cut(classes.Surface{}, p)
	if !cover.Complete() || len(cover.Classes) != 3 {
		t.Fatalf("%s, want 3 classes: %v", cover, cover.Classes)
	}
	if w := cover.Classes[1].Witness; w.Path != "/api/a.json" {
		t.Errorf("the witness of %s is %s", cover.Classes[1], w.Path)
	}
	unreachable := cover.Dimensions[0].Unreachable
	if len(unreachable) != 1 || unreachable[0].Cell != `identity ends with "//"` {
		t.Errorf("unreachable: %v", unreachable)
	}
	why := func(n classes.Neighbour) string { return n.Why }
	var whys []string
	for _, n := range cover.Neighbours(0) {
		whys = append(whys, why(n))
	}
	if !slices.Contains(whys, `a matcher that is never asked: identity contains "/ns/b/"`) {
		t.Errorf("the neighbours are %q", whys)
	}
}

// TestNamesByRegex cuts callers as sets of names, as the filters of Istio do.
func TestNamesByRegex(t *testing.T) {
	t.Parallel()
	gate := policy.Gate{Layer: policy.L7, Form: policy.Named}
	for i, ns := range []string{"a", "b", "c"} {
		gate.Rules = append(gate.Rules, rule(policy.Allow, fmt.Sprint(i), policy.And{
			is(attribute.URISAN, policy.Regex, ".*/ns/"+ns+"/.*"), attribute.Path.Segments("/" + ns),
		}))
	}
	cover := classes.Cut(classes.Surface{}, policy.Program{Gates: []policy.Gate{gate}})
	if !cover.Complete() || len(cover.Classes) != 4 {
		t.Fatalf("%s, want 4 classes", cover)
	}
	for i := range cover.Classes[:3] {
		var without bool
		for _, n := range cover.Neighbours(i) {
			without = without || strings.HasPrefix(n.Why, "without: path") && n.Class != i
		}
		if !without {
			t.Errorf("class %d has no neighbour of another path: %v", i, cover.Neighbours(i))
		}
	}
}

// TestMatchesThatMeetTheLimit meets the limit, and says so.
func TestMatchesThatMeetTheLimit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes 20 s under the race detector")
	}
	cover := classes.Cut(classes.Surface{}, ordered(exploding()...))
	if cover.Complete() || !strings.Contains(cover.Sampled[0], "met their limit") || !strings.Contains(cover.Sampled[0], "identity matches the regex") {
		t.Errorf("sampled: %q", cover.Sampled)
	}
}

// exploding are patterns of which no search can say quickly whether they leave anything: a
// puzzle of 40 letters.
func exploding() []policy.Condition {
	const front = `spiffe://[^/]+/ns/a/sa/`
	all := policy.And{is(attribute.Identity, policy.Regex, front+`[ab]{40}`)}
	for _, pattern := range programtest.Puzzle() {
		all = append(all, policy.Not{Condition: is(attribute.Identity, policy.Regex, front+pattern)})
	}
	return []policy.Condition{all}
}

// BenchmarkMixedMatches has suffixes, parts and regular expressions on one attribute.
func BenchmarkMixedMatches(b *testing.B) {
	for _, n := range []int{300, 3000} {
		p := ordered(mixedMatches(n)...)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cover := classes.Cut(classes.Surface{}, p)
				if !cover.Complete() {
					b.Fatal(cover.Sampled)
				}
				b.ReportMetric(float64(len(cover.Classes)), "classes")
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.HeapAlloc)/1e6, "heap-MB")
				b.ReportMetric(float64(m.Sys)/1e6, "sys-MB")
				runtime.KeepAlive(cover)
			}
		})
	}
}

// BenchmarkExplodingMatches ends every search at its limit.
func BenchmarkExplodingMatches(b *testing.B) {
	p := ordered(exploding()...)
	for b.Loop() {
		classes.Cut(classes.Surface{}, p)
	}
}

// BenchmarkRegularPairs compares two versions of rules on two attributes, of which a tenth
// changed.
func BenchmarkRegularPairs(b *testing.B) {
	const n = 300
	version := func(v int) policy.Program {
		ids, gate := mixedMatches(n), policy.Gate{Layer: policy.L7}
		for i := range n {
			path := fmt.Sprintf("/api/v%d", i)
			if i%10 == 0 {
				path += strings.Repeat("x", v)
			}
			gate.Rules = append(gate.Rules, rule(policy.Effect(i%2), fmt.Sprint(i), policy.And{ids[i], attribute.Path.Segments(path)}))
		}
		return policy.Program{Gates: []policy.Gate{gate}}
	}
	was, is := version(0), version(1)
	for b.Loop() {
		cover := classes.Cut(classes.Surface{}, was, is)
		if !cover.Complete() {
			b.Fatal(cover.Sampled)
		}
		b.ReportMetric(float64(len(cover.Classes)), "classes")
	}
}

// TestUnprintableNames says that names of other bytes were not looked for.
func TestUnprintableNames(t *testing.T) {
	t.Parallel()
	for expression, complete := range map[string]bool{`.*/evil\xff`: false, `[^\x00-\x7f]+`: false, `spiffe://td/a b`: false, `.*/ns/[a-z]+/.*|\xff`: true} {
		gate := policy.Gate{Form: policy.Named, Default: policy.Verdict{Effect: policy.Allow}}
		gate.Rules = []policy.Rule{rule(policy.Deny, "evil", is(attribute.URISAN, policy.Regex, expression))}
		cover := classes.Cut(classes.Surface{Protocol: policy.TCP}, policy.Program{Gates: []policy.Gate{gate}})
		if cover.Complete() != complete {
			t.Errorf("%s: %s", expression, cover)
		}
	}
}

// TestPrefixBesideRegex has a beginning and a regular expression for the same names: only a name
// with an end of a line tells them apart, and no certificate has one.
func TestPrefixBesideRegex(t *testing.T) {
	t.Parallel()
	program := func(kind policy.MatchKind, value string) policy.Program {
		return policy.Program{Gates: []policy.Gate{{Form: policy.Named, Rules: []policy.Rule{rule(policy.Allow, "friend", is(attribute.URISAN, kind, value))}}}}
	}
	cover := classes.Cut(classes.Surface{Protocol: policy.TCP}, program(policy.Prefix, "spiffe://td/ns/a/"), program(policy.Regex, "spiffe://td/ns/a/.*"))
	if !cover.Complete() || len(cover.Classes) < 2 {
		t.Error(cover)
	}
}

// TestDomainsHaveLabels cuts by the end of a trust domain: the witness has something in front of it,
// for Go reads no certificate with spiffe://.partner.example.
func TestDomainsHaveLabels(t *testing.T) {
	t.Parallel()
	cover := classes.Cut(classes.Surface{}, ordered(is(attribute.URISAN, policy.Regex, `spiffe://[^/]*\.partner\.example/.*`)))
	if !cover.Complete() || len(cover.Classes) != 2 {
		t.Fatalf("%s, want 2 classes", cover)
	}
	for _, c := range cover.Classes {
		if id := c.Witness.URIs[0]; strings.HasPrefix(id, "spiffe://.") {
			t.Errorf("no caller can have a certificate for %s", id)
		}
	}
}
