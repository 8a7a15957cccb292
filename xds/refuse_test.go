package xds

import (
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// foreign is an attribute that package xds has no row for.
var foreign = &policy.Attribute{
	Name: "weather", Phrase: "weather", Kinds: []policy.MatchKind{policy.Exact, policy.Prefix, policy.Segments},
	Forms:    []policy.Form{policy.Ordered, policy.Named},
	Text:     func(*policy.Request) (string, bool) { return "", false },
	Routable: true,
}

// foreignCondition is a condition of a type that package policy does not have.
type foreignCondition struct{ policy.Condition }

func TestCompileNamesWhatItCannotSay(t *testing.T) {
	t.Parallel()
	rain := foreign.Exact("rain")
	ordered, named := enforce(policy.L7, allow("p", policy.Not{Condition: rain})), enforce(policy.L7, allow("p", rain))
	named.Gates[0].Form, named.Gates[0].Default = policy.Named, policy.Verdict{}
	routed := enforce(policy.L7, allow("p", is("a")))
	routed.Routes = []policy.Route{{Name: "r", When: rain, Gates: routed.Gates}}
	sans := enforce(policy.L4, allow("p", attribute.DNSSAN.Exact("a")))
	sans.Gates[0].Form, sans.Gates[0].Default = policy.Named, policy.Verdict{}
	mixed := enforce(policy.L4, allow("p", policy.Or{attribute.URISAN.Exact("a"), attribute.SNI.Exact("b")}))
	mixed.Gates[0].Form, mixed.Gates[0].Default = policy.Named, policy.Verdict{}
	for name, tt := range map[string]struct {
		program policy.Program
		want    string
	}{
		"a mixed part":     {mixed, `condition "a URI SAN = \"a\" or SNI = \"b\"": no named rule can ask Envoy for it, since one part of it is a permission and another a principal`},
		"ordered rules":    {ordered, `rule 0: condition "weather = \"rain\"": a gate of ordered rules cannot ask Envoy for the attribute weather`},
		"named rules":      {named, `rule 0: condition "weather = \"rain\"": a gate of named rules cannot ask Envoy for the attribute weather`},
		"a route":          {routed, `route r: condition "weather = \"rain\"": no route can ask Envoy for the attribute weather`},
		"no attribute":     {enforce(policy.L4, allow("p", policy.Is{})), `condition "no attribute = \"\"" names no attribute`},
		"another kind":     {enforce(policy.L4, allow("p", policy.Is{Attribute: attribute.Identity, Match: policy.Match{Kind: policy.Segments}})), "the attribute identity has no match of the kind Segments"},
		"another type":     {enforce(policy.L4, allow("p", foreignCondition{policy.Always})), `condition "always" of the type xds.foreignCondition is none of package policy`},
		"another form":     {sans, `condition "DNS SANs = \"a\"" cannot be judged by a gate of named rules`},
		"no text of UTF-8": {enforce(policy.L4, allow("p", is("\xff"))), `rule 0: "\xff" is not valid UTF-8`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Compile(tt.program)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// TestCompileNeverPanics compiles programs that have no meaning. What compiles all the
// same meets the rules that Envoy's messages carry.
func TestCompileNeverPanics(t *testing.T) {
	t.Parallel()
	attributes := append(attribute.All(), foreign, nil)
	text := rapid.SampledFrom([]string{"", "/", "/a", "/a?b", "a", "spiffe://td/a", "\xff", "GET"})
	var condition func(depth int) *rapid.Generator[policy.Condition]
	condition = func(depth int) *rapid.Generator[policy.Condition] {
		return rapid.Custom(func(t *rapid.T) policy.Condition {
			operands := func() []policy.Condition {
				return rapid.SliceOfN(condition(depth-1), 0, 3).Draw(t, "operands")
			}
			kinds := []string{"constant", "identity", "identity", "name", "is", "foreign", "nothing"}
			if depth > 0 {
				kinds = append(kinds, "and", "or", "or", "not")
			}
			switch rapid.SampledFrom(kinds).Draw(t, "kind") {
			case "nothing":
				return nil
			case "constant":
				return policy.Constant(rapid.Bool().Draw(t, "constant"))
			case "identity":
				return attribute.Identity.Exact(text.Draw(t, "identity"))
			case "name":
				return attribute.URISAN.Exact(text.Draw(t, "name"))
			case "and":
				return policy.And(operands())
			case "or":
				return policy.Or(operands())
			case "not":
				return policy.Not{Condition: condition(depth-1).Draw(t, "operand")}
			case "foreign":
				return foreignCondition{policy.Always}
			default:
				return policy.Is{
					Attribute: rapid.SampledFrom(attributes).Draw(t, "attribute"),
					Match:     policy.Match{Kind: policy.MatchKind(rapid.IntRange(0, 3).Draw(t, "match")), Value: text.Draw(t, "value")},
				}
			}
		})
	}
	verdict := rapid.Custom(func(t *rapid.T) policy.Verdict {
		return policy.Verdict{Effect: rapid.SampledFrom([]policy.Effect{0, 0, 0, 1, 1, 1, 1, 2, 3}).Draw(t, "effect"), Origin: rapid.SampledFrom([]string{"p", "p", "p", "q", "q", "r", "", "\xff"}).Draw(t, "origin")}
	})
	gate := rapid.Custom(func(t *rapid.T) policy.Gate {
		g := policy.Gate{
			Layer: rapid.SampledFrom([]policy.Layer{0, 0, 0, 1, 1, 1, 2}).Draw(t, "layer"), Form: rapid.SampledFrom([]policy.Form{0, 0, 0, 1, 1, 1, 2}).Draw(t, "form"), Default: verdict.Draw(t, "default"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "rules") {
			r := policy.Rule{Verdict: verdict.Draw(t, "verdict"), When: condition(2).Draw(t, "when")}
			if rapid.Bool().Draw(t, "nested") {
				r.Then = []policy.Rule{{Verdict: verdict.Draw(t, "verdict"), When: condition(1).Draw(t, "when")}}
			}
			g.Rules = append(g.Rules, r)
		}
		return g
	})
	var compiled, refused atomic.Uint64
	property.Check(t, func(t *rapid.T) {
		p := policy.Program{Gates: rapid.SliceOfN(gate, 0, 2).Draw(t, "gates"), Shadows: rapid.SliceOfN(gate, 0, 1).Draw(t, "shadows")}
		if rapid.Bool().Draw(t, "route") {
			p.Routes = []policy.Route{{When: condition(1).Draw(t, "when"), Gates: []policy.Gate{gate.Draw(t, "route's gate")}}}
		}
		filters, err := Compile(p)
		if err != nil {
			refused.Add(1)
			return
		}
		compiled.Add(1)
		policy.Decide(p, policy.Request{})
		for _, m := range filters.Messages() {
			if err := messages.Validate(withStatPrefix(m)); err != nil {
				t.Fatalf("%v:\n%s", err, p)
			}
		}
	})
	// With -short rapid draws a fifth, which is too few for rare forms.
	if !testing.Short() && (compiled.Load() == 0 || refused.Load() == 0) {
		t.Errorf("%d programs compiled, %d were refused: the programs do not try both", compiled.Load(), refused.Load())
	}
}
