package classes_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/draw"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// Some patterns are at the edge of what a request can have, or beyond it.
var (
	oddIdentities = []string{"", "s", "spiffe://", "spiffe://t", "spiffe://td", "spiffe://td/ns/a/sa/x,spiffe://td/ns/a", "spiffe://td/ns/a,", "kuma://env/dev", "kuma://env/", "web.example"}
	oddPaths      = []string{"", "//", "/a//", "*", "/%2f", "/a{", "/a?b", "/./a"}
	oddMethods    = []string{"", "get", "CONNECT", "G T", "PURGE"}
	oddPorts      = []string{"", "x", "0", "080", "9-8", "80-80", "0-79"}
	oddAddresses  = []string{"", "x", "10.1.2.3/8", "255.255.255.255", "0.0.0.0/0", "10.1.2.3/32"}
	oddNames      = []string{"A.example", "a.example.", "10.0.0.1", "a b", ".", "b."}
)

// classedCondition draws a condition like [draw.Condition], of identities or of names, sometimes
// with an unusual value.
func classedCondition(layer policy.Layer, names bool, depth int) *rapid.Generator[policy.Condition] {
	return rapid.Custom(func(t *rapid.T) policy.Condition {
		return altered(t, draw.Condition(layer, depth).Draw(t, "condition"), names)
	})
}

func altered(t *rapid.T, c policy.Condition, names bool) policy.Condition {
	odd := map[*policy.Attribute][]string{attribute.Identity: oddIdentities, attribute.Path: oddPaths, attribute.Method: oddMethods, attribute.SNI: oddNames,
		attribute.DestinationPort: oddPorts, attribute.SourceAddress: oddAddresses, attribute.RemoteAddress: oddAddresses}
	return rewrite.Condition(c, rewrite.Leaves(func(c policy.Condition) policy.Condition {
		is, ok := c.(policy.Is)
		if !ok {
			return c
		}
		if odd := odd[is.Attribute]; odd != nil && rapid.IntRange(0, 7).Draw(t, "odd") == 0 {
			is.Match.Value = rapid.SampledFrom(odd).Draw(t, "odd value")
		}
		if names && is.Attribute == attribute.Identity {
			is.Attribute = attribute.URISAN
		}
		return is
	}))
}

func classedGate(layer policy.Layer) *rapid.Generator[policy.Gate] {
	effect := rapid.SampledFrom([]policy.Effect{policy.Deny, policy.Allow})
	var rules func(t *rapid.T, names bool, depth int) []policy.Rule
	rules = func(t *rapid.T, names bool, depth int) []policy.Rule {
		var out []policy.Rule
		for range rapid.IntRange(0, 4-depth).Draw(t, "rules") {
			r := policy.Rule{Verdict: policy.Verdict{Effect: effect.Draw(t, "effect"), Origin: rapid.StringMatching("[a-e]").Draw(t, "origin")}}
			if rapid.IntRange(0, 9).Draw(t, "nil") > 0 {
				r.When = classedCondition(layer, names, 2).Draw(t, "when")
			}
			if depth < 2 && rapid.IntRange(0, 3).Draw(t, "then") == 0 {
				r.Then = rules(t, names, depth+1)
			}
			out = append(out, r)
		}
		return out
	}
	return rapid.Custom(func(t *rapid.T) policy.Gate {
		names := rapid.IntRange(0, 3).Draw(t, "names") < 2
		return policy.Gate{
			Layer: layer, Rules: rules(t, names, 0),
			Default: policy.Verdict{Effect: effect.Draw(t, "default"), Origin: "default"},
		}
	})
}

// classedProgram draws gates of both layers, shadows and routes. On L4 no condition needs L7.
func classedProgram(layer policy.Layer) *rapid.Generator[policy.Program] {
	return rapid.Custom(func(t *rapid.T) policy.Program {
		gates := func(most int, what string) []policy.Gate {
			var out []policy.Gate
			for range rapid.IntRange(0, most).Draw(t, what) {
				l := policy.Layer(rapid.IntRange(0, int(layer)).Draw(t, "layer"))
				out = append(out, classedGate(l).Draw(t, what))
			}
			return out
		}
		p := policy.Program{Gates: gates(3, "gates"), Shadows: gates(2, "shadows")}
		// Envoy asks shadows of a connection first, see [policy.Program.Check].
		slices.SortStableFunc(p.Shadows, func(a, b policy.Gate) int { return int(a.Layer) - int(b.Layer) })
		if layer == policy.L4 {
			return p
		}
		for i := range rapid.IntRange(0, 2).Draw(t, "routes") {
			route := policy.Route{Name: fmt.Sprint("route-", i), When: policy.And{
				attribute.Path.Segments(rapid.SampledFrom(draw.Paths).Draw(t, "route's path")),
				attribute.Method.Exact(rapid.SampledFrom(draw.Methods).Draw(t, "route's method")),
			}}
			if rapid.Bool().Draw(t, "path only") {
				route.When = route.When.(policy.And)[0]
			}
			if rapid.IntRange(0, 3).Draw(t, "by parameter") == 0 {
				route.When = policy.And{route.When, attribute.QueryParameter("a").Exact(rapid.SampledFrom([]string{"", "1", "/b"}).Draw(t, "parameter"))}
			}
			for range rapid.IntRange(0, 1).Draw(t, "route's gates") {
				route.Gates = append(route.Gates, classedGate(policy.L7).Draw(t, "route's gate"))
			}
			p.Routes = append(p.Routes, route)
		}
		return p
	})
}

// anyone draws a request from values close to the patterns.
func anyone(layer policy.Layer) *rapid.Generator[policy.Request] {
	names := rapid.OneOf(
		rapid.SampledFrom(append([]string{"spiffe://td", "spiffe://td/ns", "spiffe://tdx/a", "spiffe://other/x", "kuma://env/dev", "web.example"}, draw.Identities...)),
		rapid.StringMatching(`spiffe://td/ns/ab?(/sa/[xyz]{1,2})?`),
	)
	return rapid.Custom(func(t *rapid.T) policy.Request {
		var r policy.Request
		for range rapid.SampledFrom([]int{0, 1, 1, 1, 1, 2, 3}).Draw(t, "uris") {
			r.URIs = append(r.URIs, names.Draw(t, "uri"))
		}
		if rapid.IntRange(0, 9).Draw(t, "with dns") == 0 {
			r.DNS = []string{names.Draw(t, "dns")}
		}
		r.SNI = rapid.OneOf(rapid.SampledFrom(append([]string{"a", "10.0.0.1", "a.example."}, draw.Names...)), rapid.StringMatching(`[ab.]{1,4}`)).Draw(t, "sni")
		r.Port = rapid.OneOf(rapid.SampledFrom(draw.Ports), rapid.Uint16Min(1)).Draw(t, "port")
		r.Source = netip.MustParseAddr(rapid.SampledFrom(append([]string{"0.0.0.1", "255.255.255.254", "240.0.0.1", "10.0.255.255"}, draw.Addresses...)).Draw(t, "source"))
		if layer == policy.L7 {
			r.Method = rapid.SampledFrom([]string{"GET", "HEAD", "POST", "PUT", "get"}).Draw(t, "method")
			r.Path = rapid.OneOf(rapid.SampledFrom(append([]string{"*", "/c", "/a/bc", "/a/b/c"}, draw.Paths...)), rapid.StringMatching("(/[abc]{1,2}){0,3}/?")).Draw(t, "path") +
				rapid.SampledFrom(draw.Queries).Draw(t, "query")
			r.Host, r.Headers, r.Others = rapid.SampledFrom(draw.Hosts).Draw(t, "host"), draw.Headers().Draw(t, "headers"), draw.Claims().Draw(t, "claims")
		}
		return r
	})
}

func surface() *rapid.Generator[classes.Surface] {
	return rapid.Custom(func(t *rapid.T) classes.Surface {
		return classes.Surface{
			Protocol:      rapid.SampledFrom([]policy.Protocol{policy.HTTP, policy.HTTP2, policy.GRPC, policy.TCP}).Draw(t, "protocol"),
			Normalization: policy.PathNormalization{KeepSlashes: rapid.Bool().Draw(t, "keep slashes")},
			TrustDomains:  rapid.SampledFrom([][]string{nil, {"td"}, {"td", "other"}}).Draw(t, "trust domains"),
			Ports:         rapid.SampledFrom([][]uint16{nil, {8080}, {80, 8080, 9000}}).Draw(t, "ports"),
		}
	})
}

// TestClassIsDecidedAlike shows that all requests of a class have the same decision.
func TestClassIsDecidedAlike(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		on := surface().Draw(t, "surface")
		programs := rapid.SliceOfN(classedProgram(on.Protocol.Layer()), 1, 2).Draw(t, "programs")
		cover := classes.Cut(on, programs...)
		alike := func(class int, r policy.Request, what string) {
			for _, p := range programs {
				if diff := cmp.Diff(policy.Decide(p, cover.Classes[class].Witness), policy.Decide(p, r)); diff != "" {
					t.Fatalf("%s: %+v is decided otherwise than class %d, %s, %+v (-witness +request):\n%s\n%s", what, r, class, cover.Classes[class], cover.Classes[class].Witness, diff, p)
				}
			}
		}
		for i, class := range cover.Classes {
			if at, ok := cover.Locate(class.Witness); at != i || !ok {
				t.Fatalf("the witness %+v of class %d, %s, is in class %d", class.Witness, i, class, at)
			}
			for _, n := range cover.Neighbours(i) {
				at, ok := cover.Locate(n.Request)
				if n.Class != at || ok != (at != classes.Unclassed) {
					t.Fatalf("neighbour %+v claims class %d and is in %d", n, n.Class, at)
				}
				if ok {
					alike(at, n.Request, n.Why)
				}
			}
		}
		for _, r := range rapid.SliceOfN(anyone(on.Protocol.Layer()), 20, 20).Draw(t, "requests") {
			if at, ok := cover.Locate(r); ok {
				alike(at, r, "drawn")
			}
		}
	})
}

func TestEmptyProgramHasOneClass(t *testing.T) {
	t.Parallel()
	for _, programs := range [][]policy.Program{nil, {{}}, {{}, {Gates: make([]policy.Gate, 2)}}} {
		for _, protocol := range []policy.Protocol{policy.HTTP, policy.TCP} {
			cover := classes.Cut(classes.Surface{Protocol: protocol}, programs...)
			if len(cover.Classes) != 1 || !cover.Complete() || cover.String() != "1 class of requests" || cover.Classes[0].String() != "every request" {
				t.Errorf("%s: %v", cover, cover.Classes)
			}
		}
	}
}
