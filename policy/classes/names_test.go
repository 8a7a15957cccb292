package classes_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// The tests draw sets of these few names. Some are prefixes of others.
var (
	someNames = []string{
		"spiffe://td/a", "spiffe://td/b", "spiffe://td/a/c", "spiffe://other/a", "spiffe://td/b/",
		"kuma://env/dev", "kuma://env/dev-2", "kuma://env/prod", "kuma://zone/east", "web.example",
	}
	someBeginnings = []string{"", "s", "spiffe://", "spiffe://td/", "spiffe://td/a", "kuma://", "kuma://env/", "kuma://env/d", "web"}
)

func uriMatcher() *rapid.Generator[policy.Condition] {
	return rapid.Custom(func(t *rapid.T) policy.Condition {
		if rapid.IntRange(0, 2).Draw(t, "kind") == 0 {
			return attribute.URISAN.Prefix(rapid.SampledFrom(someBeginnings).Draw(t, "beginning"))
		}
		return attribute.URISAN.Exact(rapid.SampledFrom(someNames).Draw(t, "name"))
	})
}

// nameCondition combines matchers of names freely, sometimes with a matcher of paths.
func nameCondition(layer policy.Layer, depth int) *rapid.Generator[policy.Condition] {
	return rapid.Custom(func(t *rapid.T) policy.Condition {
		kind := rapid.IntRange(0, 7).Draw(t, "condition")
		several := func() []policy.Condition {
			return rapid.SliceOfN(nameCondition(layer, depth-1), 1, 3).Draw(t, "operands")
		}
		switch {
		case kind == 0 && layer == policy.L7:
			return attribute.Path.Segments(rapid.SampledFrom([]string{"/a", "/b"}).Draw(t, "path"))
		case depth == 0 || kind < 4:
			return uriMatcher().Draw(t, "matcher")
		case kind == 4:
			return policy.Or(several())
		case kind < 7:
			return policy.And(several())
		default:
			return policy.Not{Condition: nameCondition(layer, depth-1).Draw(t, "not")}
		}
	})
}

func nameProgram(layer policy.Layer) *rapid.Generator[policy.Program] {
	effect := rapid.SampledFrom([]policy.Effect{policy.Deny, policy.Allow})
	gates := rapid.Custom(func(t *rapid.T) policy.Gate {
		g := policy.Gate{Layer: layer, Form: rapid.SampledFrom([]policy.Form{policy.Ordered, policy.Named}).Draw(t, "form"), Default: policy.Verdict{Effect: effect.Draw(t, "default"), Origin: "default"}}
		for i := range rapid.IntRange(1, 3).Draw(t, "rules") {
			r := rule(effect.Draw(t, "effect"), fmt.Sprint(i), nameCondition(layer, 2).Draw(t, "when"))
			if rapid.IntRange(0, 4).Draw(t, "nested") == 0 {
				r.Then = []policy.Rule{rule(effect.Draw(t, "effect"), "then", nameCondition(layer, 1).Draw(t, "then"))}
			}
			g.Rules = append(g.Rules, r)
		}
		return g
	})
	return rapid.Custom(func(t *rapid.T) policy.Program {
		p := policy.Program{Gates: rapid.SliceOfN(gates, 1, 2).Draw(t, "gates"), Shadows: rapid.SliceOfN(gates, 0, 1).Draw(t, "shadows")}
		if layer == policy.L7 && rapid.IntRange(0, 2).Draw(t, "routed") == 0 {
			p.Routes = []policy.Route{{Name: "route", When: attribute.Path.Segments("/a"), Gates: rapid.SliceOfN(gates, 1, 1).Draw(t, "route's gates")}}
		}
		return p
	})
}

// manyNamed draws a caller with one to four names in any order. Half of them begin
// with a SPIFFE ID.
func manyNamed(layer policy.Layer) *rapid.Generator[policy.Request] {
	name := rapid.OneOf(rapid.SampledFrom(someNames), rapid.SampledFrom(someNames), rapid.Map(rapid.SampledFrom(someBeginnings), func(s string) string { return s + "x/y" }))
	return rapid.Custom(func(t *rapid.T) policy.Request {
		var r policy.Request
		names := rapid.SliceOfN(name, 1, 4).Draw(t, "names")
		if rapid.Bool().Draw(t, "sound") {
			names[0] = rapid.SampledFrom([]string{"spiffe://td/a", "spiffe://td/b", "spiffe://td/z", "spiffe://other/a", "spiffe://third/z"}).Draw(t, "first")
		}
		dns := rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "dns")
		cut := max(len(names)-dns, 0)
		r.URIs, r.DNS = names[:cut], names[cut:]
		if layer == policy.L7 {
			r.Method, r.Path = "GET", rapid.SampledFrom([]string{"/", "/a", "/b/c"}).Draw(t, "path")
		}
		return r
	})
}

// matchersIn counts the different matchers of names.
func matchersIn(p policy.Program) int {
	seen := make(map[policy.Condition]bool)
	for _, c := range leavesOf(p) {
		if is, ok := c.(policy.Is); ok && is.Attribute == attribute.URISAN {
			seen[c] = true
		}
	}
	return len(seen)
}

// TestNamesInAnyNumberAndOrder checks the claims of a cover of freely combined names. It is
// complete, each caller that can have an SVID is in a class, and has the decision of its
// witness.
func TestNamesInAnyNumberAndOrder(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		on := classes.Surface{
			Protocol:     rapid.SampledFrom([]policy.Protocol{policy.HTTP2, policy.TCP}).Draw(t, "protocol"),
			TrustDomains: rapid.SampledFrom([][]string{nil, nil, {"td"}, {"td", "other"}}).Draw(t, "trust domains"),
		}
		layer := on.Protocol.Layer()
		programs := rapid.SliceOfN(nameProgram(layer), 1, 2).Draw(t, "programs")
		cover := classes.Cut(on, programs...)
		if !cover.Complete() {
			t.Fatal(cover)
		}
		var all policy.Program
		for _, p := range programs {
			all.Gates, all.Shadows, all.Routes = append(all.Gates, p.Gates...), append(all.Shadows, p.Shadows...), append(all.Routes, p.Routes...)
		}
		bound := 1 << matchersIn(all)
		if layer == policy.L7 {
			bound *= 3
		}
		if len(cover.Classes) > bound {
			t.Fatalf("%s: more than the product, %d\n%v", cover, bound, programs)
		}
		for i, class := range cover.Classes {
			if at, ok := cover.Locate(class.Witness); at != i || !ok || !sendable(on, all, class.Witness) {
				t.Fatalf("the witness %+v of class %d, %s, is in class %d", class.Witness, i, class, at)
			}
		}
		for _, r := range rapid.SliceOfN(manyNamed(layer), 40, 40).Draw(t, "requests") {
			at, ok := cover.Locate(r)
			if !ok {
				if sendable(on, all, r) {
					t.Fatalf("%+v is in no class of %s: %v\n%v", r, cover, cover.Classes, programs)
				}
				continue
			}
			for _, p := range programs {
				if diff := cmp.Diff(policy.Decide(p, cover.Classes[at].Witness), policy.Decide(p, r)); diff != "" {
					t.Fatalf("%+v is not decided as class %d, %s, %+v (-witness +request):\n%s\n%s", r, at, cover.Classes[at], cover.Classes[at].Witness, diff, p)
				}
			}
		}
	})
}
