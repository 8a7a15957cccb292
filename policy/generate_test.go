package policy_test

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/policy"
)

// The values are few and alike, so that conditions meet requests and each other.
var (
	identities = []string{"spiffe://td/ns/a/sa/x", "spiffe://td/ns/a/sa/y", "spiffe://td/ns/ab/sa/x", "spiffe://td/ns/a", "spiffe://td/"}
	paths      = []string{"/", "/a", "/a/", "/a/b", "/ab", "/a//b"}
	methods    = []string{"GET", "HEAD", "POST"}
)

// condition draws a condition that can be judged on the layer, nested at most
// depth levels deep.
func condition(layer policy.Layer, depth int) *rapid.Generator[policy.Condition] {
	return rapid.Custom(func(t *rapid.T) policy.Condition {
		kinds := []string{"constant", "identity"}
		if layer == policy.L7 {
			kinds = append(kinds, "path", "method")
		}
		if depth > 0 {
			kinds = append(kinds, "and", "or", "not")
		}
		kind := rapid.SampledFrom([]policy.MatchKind{policy.Exact, policy.Prefix})
		switch rapid.SampledFrom(kinds).Draw(t, "kind") {
		case "constant":
			return policy.Constant(rapid.Bool().Draw(t, "constant"))
		case "identity":
			return policy.Identity{Kind: kind.Draw(t, "match"), Value: rapid.SampledFrom(identities).Draw(t, "identity")}
		case "path":
			return policy.Path{Kind: kind.Draw(t, "match"), Value: rapid.SampledFrom(paths).Draw(t, "path")}
		case "method":
			return policy.Method(rapid.SampledFrom(methods).Draw(t, "method"))
		case "and":
			return policy.And(rapid.SliceOfN(condition(layer, depth-1), 0, 3).Draw(t, "and"))
		case "or":
			return policy.Or(rapid.SliceOfN(condition(layer, depth-1), 0, 3).Draw(t, "or"))
		default:
			return policy.Not{Of: condition(layer, depth-1).Draw(t, "not")}
		}
	})
}

func request() *rapid.Generator[policy.Request] {
	return rapid.Custom(func(t *rapid.T) policy.Request {
		return policy.Request{
			URIs:   rapid.SliceOfN(rapid.SampledFrom(identities), 0, 2).Draw(t, "uris"),
			Method: rapid.SampledFrom(methods).Draw(t, "method"),
			Path:   rapid.SampledFrom(paths).Draw(t, "path") + rapid.SampledFrom([]string{"", "?", "?a=/b"}).Draw(t, "query"),
		}
	})
}

func gate() *rapid.Generator[policy.Gate] {
	return rapid.Custom(func(t *rapid.T) policy.Gate {
		effect := rapid.SampledFrom([]policy.Effect{policy.Deny, policy.Allow})
		g := policy.Gate{
			Layer:   rapid.SampledFrom([]policy.Layer{policy.L4, policy.L7}).Draw(t, "layer"),
			Default: policy.Verdict{Effect: effect.Draw(t, "default"), Origin: "default"},
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "rules") {
			r := policy.Rule{Verdict: policy.Verdict{Effect: effect.Draw(t, "effect"), Origin: fmt.Sprint("rule-", i)}}
			if rapid.IntRange(0, 9).Draw(t, "nil") > 0 {
				r.When = condition(g.Layer, 2).Draw(t, "when")
			}
			g.Rules = append(g.Rules, r)
		}
		return g
	})
}

func program() *rapid.Generator[policy.Program] {
	return rapid.Custom(func(t *rapid.T) policy.Program {
		return policy.Program{
			Gates:   rapid.SliceOfN(gate(), 0, 3).Draw(t, "gates"),
			Shadows: rapid.SliceOfN(gate(), 0, 2).Draw(t, "shadows"),
		}
	})
}
