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

// byURI returns the condition for a named rule: it asks for a URI SAN where the given one
// asks for the identity.
func byURI(c policy.Condition) policy.Condition {
	all := func(of []policy.Condition) (out []policy.Condition) {
		for _, c := range of {
			out = append(out, byURI(c))
		}
		return out
	}
	switch c := c.(type) {
	case policy.And:
		return policy.And(all(c))
	case policy.Or:
		return policy.Or(all(c))
	case policy.Not:
		return policy.Not{Of: byURI(c.Of)}
	case policy.Identity:
		return policy.URI(c)
	default:
		return c
	}
}

// gate draws a gate of the layer. An observer is a gate that can stand as a shadow: it
// does not log.
func gate(layer policy.Layer, observer bool) *rapid.Generator[policy.Gate] {
	return rapid.Custom(func(t *rapid.T) policy.Gate {
		effect := rapid.SampledFrom([]policy.Effect{policy.Deny, policy.Allow})
		g := policy.Gate{Layer: layer, Default: policy.Verdict{Effect: effect.Draw(t, "default"), Origin: "default"}}
		if rapid.IntRange(0, 3).Draw(t, "form") == 0 {
			g.Form, g.Default.Origin = policy.Named, ""
			if !observer && rapid.Bool().Draw(t, "logs") {
				g.Default.Effect = policy.Log
			}
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "rules") {
			r := policy.Rule{Verdict: policy.Verdict{Origin: fmt.Sprint("rule-", i)}}
			switch {
			case g.Form == policy.Ordered:
				r.Effect = effect.Draw(t, "effect")
			case g.Default.Effect == policy.Deny:
				r.Effect = policy.Allow
			case g.Logs():
				r.Effect = policy.Log
			}
			if rapid.IntRange(0, 9).Draw(t, "nil") > 0 {
				if r.When = condition(g.Layer, 2).Draw(t, "when"); g.Form == policy.Named {
					r.When = byURI(r.When)
				}
			}
			g.Rules = append(g.Rules, r)
		}
		return g
	})
}

// program draws a program that passes Check: gates of L4 in front of those of L7, and
// shadows in the order of their places.
func program() *rapid.Generator[policy.Program] {
	return rapid.Custom(func(t *rapid.T) policy.Program {
		var p policy.Program
		for _, layer := range []policy.Layer{policy.L4, policy.L7} {
			p.Gates = append(p.Gates, rapid.SliceOfN(gate(layer, false), 0, 2).Draw(t, "gates")...)
		}
		for _, layer := range []policy.Layer{policy.L4, policy.L7} {
			for _, shadow := range rapid.SliceOfN(gate(layer, true), 0, 2).Draw(t, "shadows") {
				shadow.Name = fmt.Sprint("shadow-", len(p.Shadows))
				shadow.Behind = rapid.IntRange(0, len(p.Gates)).Draw(t, "behind")
				p.Shadows = append(p.Shadows, shadow)
				if p.Check() != nil {
					p.Shadows = p.Shadows[:len(p.Shadows)-1]
				}
			}
		}
		return p
	})
}
