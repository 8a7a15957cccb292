package classes

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// smallWorld has the leaves of deep conditions, and requests in which all values meet that matter to
// them.
func smallWorld() (leaves []policy.Condition, all []policy.Request) {
	is := func(a *policy.Attribute, kind policy.MatchKind, values ...string) {
		for _, v := range values {
			leaves = append(leaves, policy.Is{Attribute: a, Match: policy.Match{Kind: kind, Value: v}})
		}
	}
	is(attribute.Method, policy.Exact, "GET", "POST")
	is(attribute.Method, policy.Prefix, "P")
	is(attribute.Path, policy.Exact, "/a", "/b")
	is(attribute.Path, policy.Suffix, "a")
	is(attribute.URISAN, policy.Regex, ".*/ns/a/.*")
	is(attribute.URISAN, policy.Exact, "spiffe://td/ns/a/sa/x", "spiffe://td/ns/b/sa/x")
	is(attribute.Header("x-role"), policy.Exact, "a")
	leaves = append(leaves, policy.Always, policy.Never)
	for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
		for _, path := range []string{"/", "/a", "/b", "/ba"} {
			for _, ids := range [][]string{nil, {"spiffe://td/ns/a/sa/x"}, {"spiffe://td/ns/b/sa/x"}, {"spiffe://td/ns/a/sa/y"}, {"spiffe://td/x"}, {"spiffe://td/ns/a/sa/x", "spiffe://td/ns/b/sa/x"}, {"spiffe://td/ns/a/sa/y", "spiffe://td/ns/b/sa/x"}} {
				for _, headers := range [][]policy.Header{nil, {{Name: "x-role", Value: "a"}}} {
					all = append(all, policy.Request{Method: method, Path: path, URIs: ids, Headers: headers, Host: "any.example"})
				}
			}
		}
	}
	return leaves, all
}

// deep draws conditions with operands in any nesting, order and repetition.
func deep(leaves []policy.Condition, depth int) *rapid.Generator[policy.Condition] {
	leaf := rapid.SampledFrom(leaves)
	if depth == 0 {
		return leaf
	}
	some := rapid.SliceOfN(deep(leaves, depth-1), min(depth, 2), 4)
	return rapid.OneOf(leaf,
		rapid.Map(some, func(cs []policy.Condition) policy.Condition { return policy.And(cs) }),
		rapid.Map(some, func(cs []policy.Condition) policy.Condition { return policy.Or(cs) }),
		rapid.Map(deep(leaves, depth-1), func(c policy.Condition) policy.Condition { return policy.Not{Condition: c} }))
}

// TestSearchesByBruteForce draws obligations, and looks for a request that meets them. There is one
// where one of a small world meets them, and inferring first makes no difference.
func TestSearchesByBruteForce(t *testing.T) {
	t.Parallel()
	leaves, all := smallWorld()
	found, empty := 0, 0
	property.Check(t, func(t *rapid.T) {
		drawn := rapid.SliceOfN(deep(leaves, 3), 2, 5).Draw(t, "conditions")
		var gate policy.Gate
		for i, c := range drawn {
			gate.Rules = append(gate.Rules, policy.Rule{Verdict: policy.Verdict{Origin: fmt.Sprint(i)}, When: policy.And{c}})
		}
		// A suffix and a regular expression need a search.
		gate.Rules = append(gate.Rules, policy.Rule{When: policy.Or{leaves[5], leaves[6]}})
		gate.Layer, gate.Form = policy.L7, policy.Named
		cover := Cut(Surface{Protocol: policy.HTTP2}, policy.Program{Gates: []policy.Gate{gate}})
		r := cover.regular
		if !cover.Complete() || r == nil {
			t.Fatalf("%s, want a complete cover that was searched", cover)
		}
		var obligations []obligation
		for _, s := range r.steps {
			for i := range all {
				m := r.ask(&all[i])
				if r.holds(m, &s.when) != r.holds(m, &s.asked) {
					t.Fatalf("%s is %t for %+v, and its simplest form %s is not", r.condition(&s.when), r.holds(m, &s.when), all[i], r.condition(&s.asked))
				}
			}
			if rapid.Bool().Draw(t, "asked") {
				obligations = append(obligations, obligation{s, rapid.Bool().Draw(t, "want")})
			}
		}
		met := func(request *policy.Request) bool {
			m := r.ask(request)
			for _, o := range obligations {
				if r.holds(m, &o.step.when) != o.want {
					return false
				}
			}
			return true
		}
		want := automaton.Empty
		for i := range all {
			if met(&all[i]) {
				want = automaton.Found
			}
		}
		for _, first := range []bool{false, true} {
			s := solving{regular: r, obligations: obligations, literals: make([]literals, len(r.values.spaces)), request: r.values.start(), limit: maxSolving}
			if first && !s.infer() {
				if want == automaton.Found {
					t.Fatal("what follows is that there is no request, and there is one")
				}
				continue
			}
			if answer := s.run(); answer != want {
				t.Fatalf("inferred first: %t: the search ends with %d, want %d", first, answer, want)
			} else if answer == automaton.Found && !met(&s.request) {
				t.Fatalf("%+v does not meet the obligations", s.request)
			}
		}
		if want == automaton.Found {
			found++
		} else {
			empty++
		}
	})
	if found == 0 || empty == 0 {
		t.Errorf("%d searches found a request and %d found that there is none: draw others", found, empty)
	}
}

// TestSimplest has conditions of one meaning, which get the same number.
func TestSimplest(t *testing.T) {
	t.Parallel()
	a, b, c := attribute.Method.Exact("A"), attribute.Method.Exact("B"), attribute.Path.Exact("/c")
	for _, same := range [][]policy.Condition{
		{a, policy.Or{a, a}, policy.And{a, policy.Always}, policy.Not{Condition: policy.Not{Condition: a}}, policy.Or{a, policy.And{a, b}}, policy.And{policy.Or{b, a}, a}, policy.Or{policy.Never, a}},
		{policy.Or{a, b, c}, policy.Or{c, policy.Or{b, a}, b}, policy.Or{policy.Or{a, b, c}, policy.And{policy.Or{a, b, c}, policy.Not{Condition: c}}}},
		{policy.And{a, policy.Or{b, c}}, policy.Or{policy.And{a, b}, policy.And{c, a}}, policy.Or{policy.And{b, a}, policy.And{a, policy.Always, policy.Or{c, b}}, policy.And{c, a}}},
		{policy.Always, policy.Or{a, policy.Always}, policy.And{}, policy.Not{Condition: policy.Never}},
		{policy.Never, policy.Or{}, policy.And{b, policy.Never, a}, policy.Not{Condition: policy.And{}}},
	} {
		r := &regular{cover: &Cover{table: ownTable()}, numbers: map[policy.Is]int32{}, simplifier: simplifier{numbers: map[string]int32{}}}
		var first expr
		for i, condition := range same {
			e := compiler{table: ownTable(), regular: r}.condition(condition)
			simplest := r.simplifier.simplest(&e)
			if i == 0 {
				first = simplest
			}
			if simplest.id != first.id {
				t.Errorf("%s becomes %s, and not %s as %s does", condition, r.condition(&simplest), r.condition(&first), same[0])
			}
		}
	}
}
