package lift

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// The values are few and alike, so that conditions meet requests and each other; the
// names are enough for a map of package xds. One with a comma is what two SANs look
// like.
var (
	someNames = []string{
		"spiffe://td/a/1", "spiffe://td/a/2", "spiffe://td/a/3", "spiffe://td/a", "spiffe://td/ab/1", "spiffe://td/b/1",
		"spiffe://td/b/2", "spiffe://td/b/1/x", "spiffe://td2/a/1", "spiffe://td/a/1,spiffe://td/b/1", "x",
	}
	somePrefixes = []string{"", "spiffe://td/", "spiffe://td", "spiffe://td/a/", "spiffe://td/a", "spiffe://td/b/1"}
	somePaths    = []string{"", "/", "/a", "/a/", "/a/b", "/ab", "/a?b", "*"}
	someTargets  = []string{"/", "/?", "/a", "/a/", "/a//", "/a/b", "/ab", "/a?b", "/a?", "/a/?b=/a", "/ab?/a"}
	someMethods  = []string{"GET", "HEAD", "POST"}
)

func pick[T any](t *rapid.T, label string, of ...T) T { return rapid.SampledFrom(of).Draw(t, label) }

func drawKind(t *rapid.T) policy.MatchKind { return pick(t, "kind", policy.Exact, policy.Prefix) }

func drawCaller(t *rapid.T, form policy.Form) policy.Condition {
	m := policy.Match{Kind: drawKind(t)}
	if m.Kind == policy.Exact {
		m.Value = pick(t, "name", someNames...)
	} else {
		m.Value = pick(t, "prefix", somePrefixes...)
	}
	switch {
	case form == policy.Ordered:
		return policy.Is{Attribute: attribute.Identity, Match: m}
	case m.Value == "":
		return policy.Never
	default:
		return policy.Is{Attribute: attribute.URISAN, Match: m}
	}
}

// drawCondition draws a condition that the layer and the form can judge.
func drawCondition(t *rapid.T, layer policy.Layer, form policy.Form, depth int) policy.Condition {
	kinds := []string{"constant", "caller", "caller"}
	if layer == policy.L7 {
		kinds = append(kinds, "path", "path", "method")
	}
	if depth > 0 {
		kinds = append(kinds, "and", "or", "not", "list")
	}
	deeper := func() []policy.Condition {
		return draws(t, 3, func() policy.Condition { return drawCondition(t, layer, form, depth-1) })
	}
	switch pick(t, "condition", kinds...) {
	case "constant":
		return policy.Constant(rapid.Bool().Draw(t, "constant"))
	case "path":
		return policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: pick(t, "kind", policy.Exact, policy.Segments), Value: pick(t, "path", somePaths...)}}
	case "method":
		return attribute.Method.Exact(pick(t, "method", someMethods...))
	case "and":
		return policy.And(deeper())
	case "or":
		return policy.Or(deeper())
	case "not":
		return policy.Not{Of: drawCondition(t, layer, form, depth-1)}
	case "list":
		list := policy.Or(deeper())
		for _, name := range someNames[rapid.IntRange(0, 3).Draw(t, "cut"):] {
			if form == policy.Named {
				list = append(list, attribute.URISAN.Exact(name))
			} else {
				list = append(list, attribute.Identity.Exact(name))
			}
		}
		return list
	default:
		return drawCaller(t, form)
	}
}

// draws draws up to so many.
func draws[T any](t *rapid.T, most int, draw func() T) []T {
	var out []T
	for range rapid.IntRange(0, most).Draw(t, "number") {
		out = append(out, draw())
	}
	return out
}

func drawVerdict(t *rapid.T, origin string) policy.Verdict {
	return policy.Verdict{Effect: pick(t, "effect", policy.Deny, policy.Allow), Origin: origin}
}

func drawGate(t *rapid.T, layer policy.Layer) policy.Gate {
	g := policy.Gate{Layer: layer, Form: pick(t, "form", policy.Ordered, policy.Ordered, policy.Named)}
	if g.Form == policy.Ordered && rapid.Bool().Draw(t, "with default") {
		g.Default = drawVerdict(t, "default")
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "rules") {
		rule := policy.Rule{When: drawCondition(t, layer, g.Form, 2)}
		if g.Form == policy.Named {
			rule.Verdict = policy.Verdict{Effect: policy.Allow, Origin: fmt.Sprint("rule ", i/2)}
		} else {
			rule.Verdict = drawVerdict(t, fmt.Sprint("rule ", i))
			for j := range max(0, rapid.IntRange(-3, 2).Draw(t, "nested")) {
				rule.Then = append(rule.Then, policy.Rule{Verdict: drawVerdict(t, fmt.Sprint("rule ", i, ".", j)), When: drawCondition(t, layer, g.Form, 1)})
			}
		}
		g.Rules = append(g.Rules, rule)
	}
	return g
}

func drawRoute(t *rapid.T) policy.Route {
	path := policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: pick(t, "kind", policy.Exact, policy.Segments), Value: pick(t, "path", "/", "/a", "/a/", "/a/b")}}
	route := policy.Route{Name: "route", When: path, Gates: []policy.Gate{drawGate(t, policy.L7)}}
	if rapid.Bool().Draw(t, "by method") {
		route.When = policy.And{path, attribute.Method.Exact(pick(t, "method", someMethods...))}
	}
	if rapid.Bool().Draw(t, "route's shadow") {
		route.Shadows = []policy.Gate{drawGate(t, policy.L7)}
	}
	return route
}

// drawProgram draws what package xds can express.
func drawProgram(t *rapid.T) policy.Program {
	layer := pick(t, "layer", policy.L4, policy.L7)
	p := policy.Program{Gates: []policy.Gate{drawGate(t, layer)}}
	if layer == policy.L4 && rapid.Bool().Draw(t, "second gate") {
		p.Gates = append(p.Gates, drawGate(t, policy.L7))
	}
	if rapid.Bool().Draw(t, "shadow") {
		p.Shadows = []policy.Gate{drawGate(t, layer)}
	}
	if p.Gates[len(p.Gates)-1].Layer == policy.L7 && (layer == policy.L7 || len(p.Shadows) == 0) {
		p.Routes = draws(t, 2, func() policy.Route { return drawRoute(t) })
	}
	return p
}

func drawRequest(t *rapid.T) policy.Request {
	return policy.Request{
		Method: pick(t, "method", someMethods...),
		Path:   pick(t, "target", someTargets...),
		URIs:   draws(t, 2, func() string { return pick(t, "uri", someNames...) }),
		DNS:    draws(t, 1, func() string { return pick(t, "dns", someNames...) }),
	}
}
