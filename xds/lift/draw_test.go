package lift

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/draw"
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

// drawCondition draws a condition that the layer and the form can judge, and leaves where there
// is a generator of them.
func drawCondition(t *rapid.T, layer policy.Layer, form policy.Form, leaf *rapid.Generator[policy.Condition], depth int) policy.Condition {
	kinds := []string{"constant", "caller", "caller"}
	if layer == policy.L7 {
		kinds = append(kinds, "path", "path", "method")
	}
	if leaf != nil {
		kinds = append(kinds, "any")
	}
	if depth > 0 {
		kinds = append(kinds, "and", "or", "not", "list")
	}
	deeper := func() []policy.Condition {
		return draws(t, 3, func() policy.Condition { return drawCondition(t, layer, form, leaf, depth-1) })
	}
	switch pick(t, "condition", kinds...) {
	case "constant":
		return policy.Constant(rapid.Bool().Draw(t, "constant"))
	case "any":
		return leaf.Draw(t, "leaf")
	case "path":
		return policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: pick(t, "kind", policy.Exact, policy.Segments), Value: pick(t, "path", somePaths...)}}
	case "method":
		return attribute.Method.Exact(pick(t, "method", someMethods...))
	case "and":
		return policy.And(deeper())
	case "or":
		return policy.Or(deeper())
	case "not":
		return policy.Not{Condition: drawCondition(t, layer, form, leaf, depth-1)}
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

// drawGate draws a gate that decides.
func drawGate(t *rapid.T, layer policy.Layer) policy.Gate {
	return drawGateOf(t, policy.Gate{Layer: layer, Form: pick(t, "form", policy.Ordered, policy.Ordered, policy.Named), Default: policy.Verdict{Effect: pick(t, "fallback", policy.Deny, policy.Allow)}})
}

// drawLog draws a gate that only logs.
func drawLog(t *rapid.T, layer policy.Layer) policy.Gate {
	return drawGateOf(t, policy.Gate{Layer: layer, Form: policy.Named, Default: policy.Verdict{Effect: policy.Log}})
}

func drawGateOf(t *rapid.T, g policy.Gate) policy.Gate {
	layer, effect := g.Layer, map[policy.Effect]policy.Effect{policy.Deny: policy.Allow, policy.Allow: policy.Deny, policy.Log: policy.Log}[g.Default.Effect]
	if g.Form == policy.Ordered {
		g.Default = policy.Verdict{}
	}
	if g.Form == policy.Ordered && rapid.Bool().Draw(t, "with default") {
		g.Default = drawVerdict(t, "default")
	}
	// Rules of one name have the same permissions, and some attributes are asked by these alone.
	leaf, sharing := draw.Nested(layer, g.Form), 1
	if g.Form == policy.Named && rapid.Bool().Draw(t, "share names") {
		leaf, sharing = nil, 2
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "rules") {
		rule := policy.Rule{When: drawCondition(t, layer, g.Form, leaf, 2)}
		if leaf != nil && rapid.IntRange(0, 4).Draw(t, "only a leaf") == 0 {
			rule.When = draw.Leaf(layer, g.Form).Draw(t, "leaf")
		}
		if g.Form == policy.Named {
			rule.Verdict = policy.Verdict{Effect: effect, Origin: fmt.Sprint("rule ", i/sharing)}
		} else {
			rule.Verdict = drawVerdict(t, fmt.Sprint("rule ", i))
			for j := range max(0, rapid.IntRange(-3, 2).Draw(t, "nested")) {
				rule.Then = append(rule.Then, policy.Rule{Verdict: drawVerdict(t, fmt.Sprint("rule ", i, ".", j)), When: drawCondition(t, layer, g.Form, leaf, 1)})
			}
		}
		g.Rules = append(g.Rules, rule)
	}
	return g
}

// drawShadows draws shadows of a layer that stand behind the gates of lower layers.
func drawShadows(t *rapid.T, layer policy.Layer) (out []policy.Gate) {
	for i := range rapid.IntRange(0, 2).Draw(t, "shadows") {
		shadow := drawGate(t, layer)
		shadow.Name = fmt.Sprint(layer, " shadow ", i)
		out = append(out, shadow)
	}
	return out
}

// drawGates draws gates of a layer. One of them decides.
func drawGates(t *rapid.T, layer policy.Layer) (out []policy.Gate) {
	if rapid.Bool().Draw(t, "logs") {
		out = append(out, drawLog(t, layer))
	}
	for range rapid.IntRange(1, 2).Draw(t, "gates") {
		out = append(out, drawGate(t, layer))
	}
	return out
}

func drawRoute(t *rapid.T) policy.Route {
	path := policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: pick(t, "kind", policy.Exact, policy.Segments), Value: pick(t, "path", "/", "/a", "/a/", "/a/b")}}
	route := policy.Route{Name: "route", When: path, Gates: drawGates(t, policy.L7), Shadows: drawShadows(t, policy.L7)}
	if rapid.Bool().Draw(t, "by method") {
		route.When = policy.And{path, attribute.Method.Exact(pick(t, "method", someMethods...))}
	}
	return route
}

// drawProgram draws what package xds can express.
func drawProgram(t *rapid.T) policy.Program {
	var p policy.Program
	for _, layer := range pick(t, "layers", []policy.Layer{policy.L4}, []policy.Layer{policy.L7}, []policy.Layer{policy.L4, policy.L7}) {
		p.Gates = append(p.Gates, drawGates(t, layer)...)
		for _, shadow := range drawShadows(t, layer) {
			shadow.Preceding = pick(t, "behind", 0, len(p.Gates)-1, len(p.Gates))
			if len(p.Shadows) == 0 || p.Shadows[len(p.Shadows)-1].Position(p.Gates) <= shadow.Position(p.Gates) {
				p.Shadows = append(p.Shadows, shadow)
			}
		}
	}
	if p.Gates[len(p.Gates)-1].Layer == policy.L7 {
		p.Routes = draws(t, 2, func() policy.Route { return drawRoute(t) })
	}
	return p
}

func drawRequest(t *rapid.T) policy.Request {
	r := draw.Request().Draw(t, "request")
	r.Method, r.Path = pick(t, "method", someMethods...), pick(t, "target", append(someTargets, r.Path)...)
	if rapid.Bool().Draw(t, "by parameter") {
		r.Path += pick(t, "query", "?", "&", "&id") + pick(t, "parameters", "id=1", "id=", "id", "id=2&id=1", "x=12", "id=1&x")
	}
	r.URIs = append(r.URIs, draws(t, 2, func() string { return pick(t, "uri", someNames...) })...)
	r.DNS = append(r.DNS, draws(t, 1, func() string { return pick(t, "dns", someNames...) })...)
	r.Host = pick(t, "host", "a", "b", "ab", r.Host)
	r.Headers = append(r.Headers, draws(t, 3, func() policy.Header {
		return policy.Header{Name: pick(t, "header", "x-role", "x-role", "x-other"), Value: pick(t, "line", "", "a", "b", "ab", "c")}
	})...)
	return r
}
