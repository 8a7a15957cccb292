package beyond

import (
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// A rule lets in what no class of requests of the lab has.
func TestWidened(t *testing.T) {
	t.Parallel()
	program := func(form policy.Form, when ...policy.Condition) policy.Program {
		gate := policy.Gate{Layer: policy.L7, Form: form}
		for _, c := range when {
			gate.Rules = append(gate.Rules, policy.Rule{When: c, Verdict: policy.Verdict{Effect: policy.Allow, Origin: "rule"}})
		}
		return policy.Program{Gates: []policy.Gate{gate}}
	}
	is := func(a *policy.Attribute, kind policy.MatchKind, value string) policy.Condition {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: kind, Value: value}}
	}
	friend := attribute.Identity.Exact("spiffe://td/a")
	for name, tt := range map[string]struct {
		rule policy.Condition
		// asked is true where a class of the lab's requests shows it, so that it is not said.
		asked, widened bool
	}{
		"the same":                          {friend, false, false},
		"another name":                      {attribute.Identity.Exact("spiffe://td/b"), true, false},
		"a name that is none of SPIFFE":     {attribute.Identity.Exact("kuma://b"), false, true},
		"a part that is none of SPIFFE":     {is(attribute.Identity, policy.Contains, "kuma://b"), false, true},
		"no beginning of SPIFFE":            {policy.And{policy.Not{Condition: attribute.Identity.Prefix("spiffe://")}, policy.Not{Condition: attribute.Identity.Exact("")}}, false, true},
		"an end beyond ASCII":               {is(attribute.Identity, policy.Suffix, "é"), false, true},
		"a method in lower case":            {attribute.Method.Exact("get"), false, true},
		"a path that is normalized away":    {attribute.Path.Exact("/a//b"), false, true},
		"a path that would not be absolute": {attribute.Path.Prefix("http://"), false, false},
		"nothing at all":                    {policy.And{attribute.Path.Exact("/a"), attribute.Path.Exact("/b")}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			specified, enforced := program(policy.Ordered, friend), program(policy.Ordered, friend, tt.rule)
			on := classes.Surface{Protocol: policy.HTTP}
			cover := classes.Cut(on, specified, enforced)
			shown := false
			for _, class := range cover.Classes {
				shown = shown || policy.Decide(specified, class.Witness).Effect != policy.Decide(enforced, class.Witness).Effect
			}
			got := Widened(cover, on, specified, enforced, nil)
			if shown != tt.asked || len(got) > 0 != tt.widened {
				t.Errorf("asked %t, want %t; %q", shown, tt.asked, got)
			}
			if back := Widened(cover, on, enforced, specified, nil); len(back) > 0 {
				t.Errorf("the other way round: %q", back)
			}
		})
	}
}
