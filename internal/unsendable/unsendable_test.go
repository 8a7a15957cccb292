package unsendable

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// A class whose only witness has no name hides nothing: TLS keeps that caller out, and lets in others of the class.
func TestWidenedBehindNameless(t *testing.T) {
	t.Parallel()
	friend := attribute.Identity.Exact("spiffe://td/a")
	others := policy.Not{Condition: attribute.Identity.Prefix("spiffe://")}
	for name, rule := range map[string]policy.Condition{
		"no beginning of SPIFFE":        others,
		"a method behind such a rule":   policy.Or{others, attribute.Method.Exact("get")},
		"a name behind such a rule":     policy.Or{others, policy.Is{Attribute: attribute.Identity, Match: policy.Match{Kind: policy.Suffix, Value: ",https://x"}}},
		"a fragment behind such a rule": policy.Or{others, policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: policy.Contains, Value: "#"}}},
	} {
		var programs [2]policy.Program
		for i := range programs {
			rules := []policy.Rule{{When: friend, Verdict: policy.Verdict{Effect: policy.Allow, Origin: "rule"}}, {When: rule, Verdict: policy.Verdict{Effect: policy.Allow, Origin: "more"}}}
			programs[i] = policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Form: policy.Ordered, Rules: rules[:1+i]}}}
		}
		on := classes.Surface{Protocol: policy.HTTP}
		if got := Widened(classes.Cut(on, programs[:]...), on, programs[0], programs[1], nil); len(got) == 0 {
			t.Errorf("%s: nothing is said", name)
		}
	}
}

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
		"a query with a brace":              {is(attribute.Header(":path"), policy.Contains, "?a={"), false, true},
		"a query beyond ASCII":              {is(attribute.Query, policy.Exact, "é"), false, true},
		"a parameter with brackets":         {attribute.QueryParameter("a[]").Exact("1"), false, true},
		"a parameter of the lab":            {attribute.QueryParameter("a").Exact("1"), true, false},
		"a line that begins with a space":   {attribute.Header("x-a").Exact(" a"), false, true},
		"a line that ends with a space":     {is(attribute.Header("x-a"), policy.Suffix, " "), false, true},
		"a line of the lab":                 {attribute.Header("x-a").Exact("a"), true, false},
		"a server name with a dot behind":   {attribute.SNI.Exact("shop.example."), false, true},
		"an address for a server name":      {attribute.SNI.Exact("10.0.0.1"), false, true},
		"a server name beyond ASCII":        {attribute.SNI.Exact("é"), false, true},
		"a server name that no Envoy keeps": {attribute.SNI.Exact("Shop"), false, false},
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

// Elsewhere names a few kinds, counts the others, and says what its classes leave out.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	known := netip.MustParseAddr("10.0.0.1")
	rule := func(when ...policy.Condition) policy.Rule {
		return policy.Rule{When: policy.And(when), Verdict: policy.Verdict{Effect: policy.Allow, Origin: "rule"}}
	}
	specified := policy.Program{Gates: []policy.Gate{
		{Layer: policy.L7, Form: policy.Ordered, Rules: []policy.Rule{rule(attribute.Identity.Prefix("spiffe://td/"))}},
		{Layer: policy.L7, Form: policy.Named, Rules: []policy.Rule{rule(attribute.URISAN.Prefix("spiffe://td/"), attribute.DestinationAddress.Exact(known.String()))}},
	}}
	enforced := policy.Program{Gates: slices.Clone(specified.Gates)}
	for i := range 2 * mostNamed {
		another := netip.AddrFrom4([4]byte{10, 0, 1, byte(i)})
		enforced.Gates[1].Rules = append(slices.Clone(enforced.Gates[1].Rules), rule(attribute.DestinationAddress.Exact(another.String()), attribute.Path.Exact(fmt.Sprint("/", i))))
	}
	got := Elsewhere(classes.Surface{Protocol: policy.HTTP, Destination: known}, specified, enforced)
	if len(got) < mostNamed+2 || !strings.HasSuffix(got[mostNamed], "more kinds of such requests") || !strings.HasPrefix(got[mostNamed+1], "of requests to other destination addresses, ") {
		t.Errorf("%d sentences: %q", len(got), got)
	}
	if same := Elsewhere(classes.Surface{Protocol: policy.HTTP, Destination: known}, specified, specified); len(same) != 1 {
		t.Errorf("of one program: %q", same)
	}
}
