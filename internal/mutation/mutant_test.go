package mutation_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/mutation"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

const (
	friend = "spiffe://td/ns/shop/sa/friend"
	enemy  = "spiffe://td/ns/shop/sa/enemy"
)

// program denies an enemy, and allows whoever is of the shop on one path, a friend
// everywhere; its shadow denies everybody.
func program() policy.Program {
	return policy.Program{
		Gates: []policy.Gate{{Layer: policy.L7, Default: policy.Verdict{Origin: "default"}, Rules: []policy.Rule{
			{Verdict: policy.Verdict{Origin: "deny"}, When: attribute.Identity.Exact(enemy)},
			{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "path"}, When: policy.And{attribute.Identity.Prefix("spiffe://td/ns/shop/"), attribute.Path.Segments("/a")}},
			{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "friend"}, When: attribute.Identity.Exact(friend)},
		}}},
		Shadows: []policy.Gate{{Layer: policy.L7, Default: policy.Verdict{Origin: "shadow"}}},
	}
}

func TestMutants(t *testing.T) {
	t.Parallel()
	mutants, left := mutation.Mutants(classes.Surface{}, program())
	var got []string
	for _, m := range mutants {
		got = append(got, m.Kind.String()+" at "+m.Where)
	}
	want := []string{
		"deny moved behind an allow at gate 1, rule 1 (deny by deny)",
		"exact turned prefix at gate 1, rule 1 (deny by deny)",
		"and turned or at gate 1, rule 2 (allow by path)",
		"exact turned prefix at gate 1, rule 3 (allow by friend)",
		"last rule lost at gate 1, rule 3 (allow by friend)",
		"no-match inverted at gate 1, no match",
		"no-match dropped at gate 1, no match",
		"no-match inverted at shadow 1, no match",
		"no-match dropped at shadow 1, no match",
		"shadow swapped with enforced at L7",
		"wrong kind of filter at every filter",
		"stale trust bundle at the validation secret",
		"path without normalization at the listener",
	}
	if diff := cmp.Diff(want, got); diff != "" || left != (mutation.Left{}) {
		t.Errorf("left out: %+v (-want +got):\n%s", left, diff)
	}
	for _, m := range mutants {
		if _, err := m.Compile(); err != nil {
			t.Error(err)
		}
	}
}

// What decides nothing cannot be mistaken: nobody has to list such mutants.
func TestEquivalentMutants(t *testing.T) {
	t.Parallel()
	allow := policy.Verdict{Effect: policy.Allow, Origin: "p"}
	everybody := policy.Program{Gates: []policy.Gate{{Layer: policy.L4, Default: allow, Rules: []policy.Rule{
		// The same verdict as the default's, by the same name.
		{Verdict: allow, When: attribute.Identity.Exact(friend)},
	}}}}
	mutants, left := mutation.Mutants(classes.Surface{Protocol: policy.TCP}, everybody)
	for _, m := range mutants {
		if m.Kind == mutation.ExactToPrefix || m.Kind == mutation.LastRuleLost {
			t.Errorf("%s at %s changes no decision", m.Kind, m.Where)
		}
	}
	if left != (mutation.Left{Equivalent: 2}) {
		t.Errorf("left out: %+v, want 2 that are equivalent", left)
	}
	// A listener that does not normalize cannot forget to.
	raw := policy.PathNormalization{Raw: true, KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes}
	mutants, _ = mutation.Mutants(classes.Surface{Normalization: raw}, program())
	if slices.ContainsFunc(mutants, func(m mutation.Mutant) bool { return m.Kind == mutation.RawPaths }) {
		t.Error("raw paths are no mistake where they are meant")
	}
	// Without a policy there is nothing to get wrong but the trust.
	mutants, _ = mutation.Mutants(classes.Surface{}, policy.Program{})
	if len(mutants) != 1 || mutants[0].Kind != mutation.StaleTrust {
		t.Errorf("%v", mutants)
	}
}

// Of a list of thousands, some at either end are enough.
func TestMutantsAreBounded(t *testing.T) {
	t.Parallel()
	var many policy.Or
	for i := range 2000 {
		many = append(many, attribute.Identity.Exact("spiffe://td/"+strings.Repeat("a", i%50)+string(rune('a'+i/50%26))+strings.Repeat("b", i/1300)))
	}
	p := policy.Program{Gates: []policy.Gate{{Layer: policy.L4, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "p"}, When: many}}}}}
	mutants, left := mutation.Mutants(classes.Surface{Protocol: policy.TCP}, p)
	if n := len(mutants) + left.Equivalent + left.Invalid; n > 40 {
		t.Errorf("%d mutants", n)
	}
}

// A proof of a case asks for a request on which the mutant decides otherwise. Go says so
// here, for every built-in case; that Envoy agrees is another test. With -short the test
// takes one case of each story.
func TestProofsTellEveryMutant(t *testing.T) {
	t.Parallel()
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	told, least := 0, 1000
	if testing.Short() {
		all, least = sample(t), 100
	}
	for _, c := range all {
		if c.ExpectError != "" || len(c.Requests) == 0 || c.Story == "legacy-size" {
			continue
		}
		p, err := proof.Plan(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range p.Inbounds {
			program := in.Program
			mutants, _ := mutation.Mutants(in.Surface(), program)
			for _, m := range mutants {
				if !slices.ContainsFunc(p.Asked(), func(q proof.Asked) bool { return q.To == in.String() && m.Tells(program, q) }) {
					t.Errorf("%s: %s: nothing tells %s at %s", c.Place, in, m.Kind, m.Where)
				}
				told++
			}
		}
	}
	if told < least {
		t.Errorf("%d mutants in all", told)
	}
}
