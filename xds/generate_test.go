package xds

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/draw"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// The values are few and alike, so that conditions meet requests and each other;
// the identities are enough for a map. "" is the identity of a caller without a
// URI SAN, and the one with a comma is what two SANs look like.
var (
	someIdentities = []string{
		"", "spiffe://td/ns/a/sa/1", "spiffe://td/ns/a/sa/2", "spiffe://td/ns/a/sa/3", "spiffe://td/ns/a/sa/4",
		"spiffe://td/ns/a/sa/1,spiffe://td/ns/b/sa/1", "spiffe://td/ns/ab/sa/1", "spiffe://td/ns/a", "spiffe://td/ns/b/sa/1",
		"spiffe://td/ns/b/sa/2", "spiffe://td/ns/b/sa/3", "spiffe://td/ns/b/sa/1/x", "spiffe://td2/ns/a/sa/1",
	}
	somePrefixes = []string{"", "spiffe://td/", "spiffe://td", "spiffe://td/ns/a/", "spiffe://td/ns/a", "spiffe://td/ns/b/sa/1"}
	somePaths    = []string{"", "/", "/a", "/a/", "/a/b", "/ab", "/a?b", "*"}
	someTargets  = []string{"/", "/a", "/a/", "/a/b", "/ab", "/a?b", "/a?", "/a/?b=/a", "/ab?/a", "*"}
	someMethods  = []string{"GET", "HEAD", "POST"}
)

func drawIdentity() *rapid.Generator[policy.Condition] {
	return rapid.Custom(func(t *rapid.T) policy.Condition {
		if rapid.IntRange(0, 3).Draw(t, "exact") > 0 {
			return attribute.Identity.Exact(rapid.SampledFrom(someIdentities).Draw(t, "identity"))
		}
		return attribute.Identity.Prefix(rapid.SampledFrom(somePrefixes).Draw(t, "prefix"))
	})
}

// drawCondition draws a condition that the layer can judge, nested at most depth
// levels deep. Half of them are what policies are made of: long lists of
// identities, alone or together with a method or a path.
func drawCondition(layer policy.Layer, leaf *rapid.Generator[policy.Condition], depth int) *rapid.Generator[policy.Condition] {
	return rapid.Custom(func(t *rapid.T) policy.Condition {
		kinds := []string{"constant", "identity", "identity"}
		if leaf != nil {
			kinds = append(kinds, "any")
		}
		if layer == policy.L7 {
			kinds = append(kinds, "path", "method")
		}
		if depth > 0 {
			kinds = append(kinds, "and", "or", "not", "guarded", "list", "list", "list", "list")
		}
		deeper := func(atLeast, atMost int) []policy.Condition {
			return rapid.SliceOfN(drawCondition(layer, leaf, depth-1), atLeast, atMost).Draw(t, "of")
		}
		pathKind := rapid.SampledFrom([]policy.MatchKind{policy.Exact, policy.Segments})
		switch rapid.SampledFrom(kinds).Draw(t, "kind") {
		case "constant":
			return policy.Constant(rapid.Bool().Draw(t, "constant"))
		case "identity":
			return drawIdentity().Draw(t, "identity")
		case "any":
			return leaf.Draw(t, "leaf")
		case "path":
			return policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: pathKind.Draw(t, "match"), Value: rapid.SampledFrom(somePaths).Draw(t, "path")}}
		case "method":
			return attribute.Method.Exact(rapid.SampledFrom(someMethods).Draw(t, "method"))
		case "and":
			return policy.And(deeper(0, 3))
		case "or":
			return policy.Or(deeper(0, 3))
		case "not":
			return policy.Not{Condition: drawCondition(layer, leaf, depth-1).Draw(t, "of")}
		case "guarded":
			return policy.And(append(deeper(1, 2), drawIdentity().Draw(t, "guard")))
		default:
			// rapid prefers short slices and small numbers; a map needs a long list.
			var list policy.Or
			for _, identity := range rapid.Permutation(someIdentities).Draw(t, "list")[rapid.IntRange(0, 7).Draw(t, "cut"):] {
				list = append(list, is(identity))
			}
			return append(list, deeper(0, 2)...)
		}
	})
}

func drawGate(layer policy.Layer) *rapid.Generator[policy.Gate] {
	leaf := draw.Nested(layer, policy.Ordered)
	return rapid.Custom(func(t *rapid.T) policy.Gate {
		effect := rapid.SampledFrom([]policy.Effect{policy.Deny, policy.Allow})
		g := policy.Gate{Layer: layer}
		if rapid.Bool().Draw(t, "named default") {
			g.Default = policy.Verdict{Effect: effect.Draw(t, "default"), Origin: "default"}
		}
		for i := range rapid.IntRange(0, 6).Draw(t, "rules") {
			rule := policy.Rule{
				Verdict: policy.Verdict{Effect: effect.Draw(t, "effect"), Origin: fmt.Sprint("rule ", i)},
				When:    drawCondition(layer, leaf, 2).Draw(t, "when"),
			}
			for j := range max(0, rapid.IntRange(-4, 2).Draw(t, "nested")) {
				rule.Then = append(rule.Then, policy.Rule{
					Verdict: policy.Verdict{Effect: effect.Draw(t, "nested effect"), Origin: fmt.Sprint("rule ", i, ".", j)},
					When:    drawCondition(layer, leaf, 1).Draw(t, "nested when"),
				})
			}
			g.Rules = append(g.Rules, rule)
		}
		return g
	})
}

// drawNamed draws a gate of named rules. Some of them share a name.
func drawNamed(layer policy.Layer, fallbacks ...policy.Effect) *rapid.Generator[policy.Gate] {
	return rapid.Custom(func(t *rapid.T) policy.Gate {
		fallback := rapid.SampledFrom(fallbacks).Draw(t, "fallback")
		g := policy.Gate{Layer: layer, Form: policy.Named, Default: policy.Verdict{Effect: fallback}}
		effect := map[policy.Effect]policy.Effect{policy.Deny: policy.Allow, policy.Allow: policy.Deny, policy.Log: policy.Log}[fallback]
		// Rules of one name have the same permissions, and some attributes are asked by these alone.
		leaf, sharing := draw.Nested(layer, policy.Named), 1
		if rapid.Bool().Draw(t, "share names") {
			leaf, sharing = nil, 2
		}
		for i := range rapid.IntRange(0, 5).Draw(t, "rules") {
			g.Rules = append(g.Rules, policy.Rule{
				Verdict: policy.Verdict{Effect: effect, Origin: fmt.Sprint("rule ", i/sharing)},
				When:    byURI(drawCondition(layer, leaf, 2).Draw(t, "when")),
			})
			if leaf != nil && rapid.IntRange(0, 4).Draw(t, "only a leaf") == 0 {
				g.Rules[i].When = draw.Leaf(layer, policy.Named).Draw(t, "leaf")
			}
		}
		return g
	})
}

// byURI asks each URI SAN where the condition asks for the peer's identity.
func byURI(c policy.Condition) policy.Condition {
	return rewrite.Condition(c, rewrite.Leaves(func(c policy.Condition) policy.Condition {
		is, _ := c.(policy.Is)
		switch {
		case is.Attribute != attribute.Identity:
			return c
		case is.Match.Value == "":
			return policy.Never
		default:
			return policy.Is{Attribute: attribute.URISAN, Match: is.Match}
		}
	}))
}

// drawForm draws a gate of either form that can stand as a shadow too: it does not log.
func drawForm(layer policy.Layer) *rapid.Generator[policy.Gate] {
	return rapid.OneOf(drawGate(layer), drawGate(layer), drawGate(layer), drawNamed(layer, policy.Deny, policy.Allow))
}

// drawGates draws at most two gates of a layer. Some of them only log.
func drawGates(layer policy.Layer) *rapid.Generator[[]policy.Gate] {
	return rapid.SliceOfN(rapid.OneOf(drawForm(layer), drawForm(layer), drawForm(layer), drawNamed(layer, policy.Log)), 0, 2)
}

// drawShadows draws shadows for the gates, as far as the program takes them behind those
// that it has.
func drawShadows(t *rapid.T, layer policy.Layer, gates, shadows []policy.Gate) (out []policy.Gate) {
	for i := range rapid.IntRange(0, 2).Draw(t, "shadows") {
		shadow := drawForm(layer).Draw(t, "shadow")
		shadow.Name = rapid.SampledFrom([]string{"", fmt.Sprint("shadow", i), fmt.Sprint("other", i)}).Draw(t, "name")
		shadow.Preceding = rapid.IntRange(0, len(gates)).Draw(t, "behind")
		with := append(slices.Clone(shadows), append(out, shadow)...)
		if (policy.Program{Gates: gates, Shadows: with}).Check() == nil {
			out = append(out, shadow)
		}
	}
	return out
}

func drawRoute(own policy.Program) *rapid.Generator[policy.Route] {
	return rapid.Custom(func(t *rapid.T) policy.Route {
		path := policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: rapid.SampledFrom([]policy.MatchKind{policy.Exact, policy.Segments}).Draw(t, "kind"), Value: rapid.SampledFrom([]string{"/", "/a", "/a/", "/a/b"}).Draw(t, "path")}}
		route := policy.Route{Name: "route", When: path, Gates: drawGates(policy.L7).Draw(t, "route's gates")}
		if rapid.Bool().Draw(t, "by method") {
			route.When = policy.And{path, attribute.Method.Exact(rapid.SampledFrom(someMethods).Draw(t, "method"))}
		}
		if rapid.IntRange(0, 3).Draw(t, "by parameter") == 0 {
			route.When = policy.And{path, attribute.QueryParameter("a").Exact(rapid.SampledFrom([]string{"", "1", "/b"}).Draw(t, "parameter"))}
		}
		route.Shadows = drawShadows(t, policy.L7, append(onL4(own.Gates), route.Gates...), onL4(own.Shadows))
		return route
	})
}

// drawProgram draws gates and shadows on both layers, and routes where there is an HTTP
// filter that they can replace.
func drawProgram() *rapid.Generator[policy.Program] {
	return rapid.Custom(func(t *rapid.T) policy.Program {
		var p policy.Program
		for _, layer := range []policy.Layer{policy.L4, policy.L7} {
			p.Gates = append(p.Gates, drawGates(layer).Draw(t, "gates")...)
		}
		for _, layer := range []policy.Layer{policy.L4, policy.L7} {
			p.Shadows = append(p.Shadows, drawShadows(t, layer, p.Gates, p.Shadows)...)
		}
		if len(p.Gates)+len(p.Shadows) > len(onL4(p.Gates))+len(onL4(p.Shadows)) {
			p.Routes = rapid.SliceOfN(drawRoute(p), 0, 2).Draw(t, "routes")
		}
		return p
	})
}

func drawRequest() *rapid.Generator[policy.Request] {
	return rapid.Custom(func(t *rapid.T) policy.Request {
		r := policy.Request{
			Method: rapid.SampledFrom(someMethods).Draw(t, "method"),
			Path:   rapid.SampledFrom(append([]string{"/a?a=1", "/a/b?a&a=1", "/?b=2&a=1"}, someTargets...)).Draw(t, "path"),
			SNI:    rapid.SampledFrom(draw.Names).Draw(t, "sni"),
			Port:   rapid.SampledFrom(draw.Ports).Draw(t, "port"),
			Source: netip.MustParseAddr(rapid.SampledFrom(draw.Addresses).Draw(t, "source")),
			Host:   rapid.SampledFrom(draw.Hosts).Draw(t, "host"), Headers: draw.Headers().Draw(t, "headers"), Others: draw.Claims().Draw(t, "claims"),
		}
		for range rapid.SampledFrom([]int{0, 1, 1, 1, 1, 2}).Draw(t, "uris") {
			r.URIs = append(r.URIs, rapid.SampledFrom(someIdentities[1:]).Draw(t, "uri"))
		}
		for range rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "dns") {
			r.DNS = append(r.DNS, rapid.SampledFrom(someIdentities[1:]).Draw(t, "name"))
		}
		return r
	})
}

// FuzzCompile compiles programs with random names and values. A compiled filter follows the
// validation rules of Envoy's messages.
func FuzzCompile(f *testing.F) {
	f.Add("p", "spiffe://td/a", "/a", "GET", uint16(0))
	f.Add("kri_mtp_default___p_", "spiffe://td/", "/", "", uint16(0b1011))
	f.Add("", "", "", "", uint16(0b1111111))
	f.Add("o", "", "/", "GET", uint16(0b110)) // a name that begins with nothing
	f.Add("\xff", "a,b", "/a?", "\n", uint16(0b101010))
	f.Fuzz(func(t *testing.T, origin, caller, path, method string, choices uint16) {
		flag := func(bit int) bool { return choices>>bit&1 == 1 }
		gate := policy.Gate{Layer: policy.L7}
		if flag(0) {
			gate.Layer = policy.L4
		}
		kind, pathKind := policy.Exact, policy.Exact
		if flag(1) {
			kind, pathKind = policy.Prefix, policy.Segments
		}
		var who policy.Condition = policy.Is{Attribute: attribute.Identity, Match: policy.Match{Kind: kind, Value: caller}}
		if flag(2) {
			gate.Form, who = policy.Named, policy.Is{Attribute: attribute.URISAN, Match: policy.Match{Kind: kind, Value: caller}}
		}
		when := policy.And{policy.Or{who, policy.Not{Condition: who}}, who}
		if flag(3) {
			when = append(when, policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: pathKind, Value: path}}, attribute.Method.Exact(method))
		}
		verdict := policy.Verdict{Effect: policy.Allow, Origin: origin}
		gate.Rules = []policy.Rule{{Verdict: verdict, When: who}, {Verdict: verdict, When: when}}
		if flag(4) {
			gate.Rules[0].Then = []policy.Rule{{Verdict: verdict, When: when}}
		}
		if flag(5) {
			gate.Default = verdict
		}
		p := policy.Program{Gates: []policy.Gate{gate}}
		if flag(6) {
			p.Shadows = p.Gates
		}
		filters, err := Compile(p)
		if err != nil {
			return
		}
		for _, m := range filters.Messages() {
			if err := messages.Validate(withStatPrefix(m)); err != nil {
				t.Fatalf("%v:\n%s", err, p)
			}
		}
	})
}
