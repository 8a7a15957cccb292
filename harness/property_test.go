package harness

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// The values are few and similar, so that conditions match requests. All callers pass mTLS:
// their first URI SAN has the trust domain.
var (
	someCallers = [][]string{
		{"spiffe://trust-domain.mesh/ns/a/sa/1"}, {"spiffe://trust-domain.mesh/ns/a/sa/2"}, {"spiffe://trust-domain.mesh/ns/ab/sa/1"},
		{"spiffe://trust-domain.mesh/ns/b/sa/1"}, {"spiffe://trust-domain.mesh/ns/b/sa/2"}, {"spiffe://trust-domain.mesh/ns/b/sa/3"},
		{"spiffe://trust-domain.mesh/ns/a/sa/1", "spiffe://trust-domain.mesh/ns/b/sa/1"},
		{"spiffe://trust-domain.mesh/ns/b/sa/1", "spiffe://stranger.mesh/ns/a/sa/1"},
		{"spiffe://trust-domain.mesh/ns/a/sa/1,spiffe://trust-domain.mesh/ns/b/sa/1"},
	}
	// someDNS has the DNS SANs of the first callers, by their numbers.
	someDNS      = [][]string{{"web.example"}, {"web.example", "api.example"}, {"spiffe://trust-domain.mesh/ns/a/sa/1"}, {"web.example,api.example"}}
	somePrefixes = []string{"", "spiffe://trust-domain.mesh/", "spiffe://trust-domain.mesh/ns/a", "spiffe://trust-domain.mesh/ns/a/", "spiffe://trust-domain.mesh/ns/b/"}
	somePaths    = []string{"", "/", "/a", "/a/", "/a/b", "/ab"}
	someTargets  = []string{"/", "/a", "/a/", "/a/b", "/ab", "/a?b", "/a?", "/ab?/a", "/b/../a", "//a"}
	someMethods  = []string{"GET", "HEAD", "POST"}
	someNames    = []string{"", "a.example", "A.Example", "a.example.evil", "b.a.example"}
)

func drawIdentity(t *rapid.T) policy.Condition {
	if rapid.Bool().Draw(t, "exact") {
		return attribute.Identity.Exact(strings.Join(rapid.SampledFrom(someCallers).Draw(t, "caller"), ","))
	}
	return attribute.Identity.Prefix(rapid.SampledFrom(somePrefixes).Draw(t, "prefix"))
}

func drawDNS(t *rapid.T) policy.Condition {
	if rapid.Bool().Draw(t, "exact") {
		return attribute.DNSSAN.Exact(strings.Join(rapid.SampledFrom(append(someDNS, nil)).Draw(t, "DNS SANs"), ","))
	}
	return attribute.DNSSAN.Prefix(rapid.SampledFrom([]string{"web", "web.example", "web.example,", "api", "spiffe://"}).Draw(t, "DNS prefix"))
}

// dnsOf returns the DNS SANs of a caller.
func dnsOf(who int) []string {
	if who < len(someDNS) {
		return someDNS[who]
	}
	return nil
}

// drawCondition draws a condition that the layer can judge.
func drawCondition(t *rapid.T, layer policy.Layer, depth int) policy.Condition {
	kinds := []string{"identity", "identity", "everybody", "dns", "sni"}
	if layer == policy.L7 {
		kinds = append(kinds, "path", "path", "method")
	}
	if depth > 0 {
		kinds = append(kinds, "and", "or", "or", "not", "nothing")
	}
	deeper := func() []policy.Condition {
		return []policy.Condition{drawCondition(t, layer, depth-1), drawCondition(t, layer, depth-1)}
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "identity":
		return drawIdentity(t)
	case "dns":
		return drawDNS(t)
	case "sni":
		kind := rapid.SampledFrom([]policy.MatchKind{policy.Exact, policy.Prefix}).Draw(t, "match")
		return policy.Is{Attribute: attribute.SNI, Match: policy.Match{Kind: kind, Value: rapid.SampledFrom([]string{"a.example", "A.Example", "a.", "b"}).Draw(t, "sni")}}
	case "path":
		kind := rapid.SampledFrom([]policy.MatchKind{policy.Exact, policy.Segments}).Draw(t, "match")
		return policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: kind, Value: rapid.SampledFrom(somePaths).Draw(t, "path")}}
	case "method":
		return attribute.Method.Exact(rapid.SampledFrom(someMethods).Draw(t, "method"))
	case "and":
		return policy.And(deeper())
	case "or":
		return policy.Or(deeper())
	case "not":
		return policy.Not{Condition: drawCondition(t, layer, depth-1)}
	case "everybody":
		// Enough identities for a map.
		var list policy.Or
		for _, uris := range someCallers {
			list = append(list, attribute.Identity.Exact(strings.Join(uris, ",")))
		}
		return list[rapid.IntRange(0, len(list)-1).Draw(t, "cut"):]
	default:
		return policy.Never
	}
}

func drawGate(t *rapid.T, layer policy.Layer) policy.Gate {
	effects := []policy.Effect{policy.Allow, policy.Deny}
	g := policy.Gate{Layer: layer}
	if rapid.Bool().Draw(t, "named default") {
		g.Default = policy.Verdict{Effect: rapid.SampledFrom(effects).Draw(t, "default"), Origin: byDefault}
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "rules") {
		g.Rules = append(g.Rules, policy.Rule{
			Verdict: policy.Verdict{Effect: rapid.SampledFrom(effects).Draw(t, "effect"), Origin: fmt.Sprint("rule ", i)},
			When:    drawCondition(t, layer, 2),
		})
	}
	return g
}

// drawProgram draws one gate or two of a layer, in front of them a gate that logs or none,
// and shadows at any place.
func drawProgram(t *rapid.T, layer policy.Layer) policy.Program {
	var p policy.Program
	if rapid.Bool().Draw(t, "logs") {
		p.Gates = append(p.Gates, policy.Gate{Layer: layer, Form: policy.Named, Default: policy.Verdict{Effect: policy.Log}, Rules: []policy.Rule{{
			Verdict: policy.Verdict{Effect: policy.Log, Origin: "audit"}, When: rapid.SampledFrom([]policy.Condition{
				attribute.URISAN.Exact(someCallers[0][0]), attribute.SNI.Exact("a.example"), policy.Not{Condition: attribute.SNI.Prefix("a.")},
				policy.And{attribute.URISAN.Prefix("spiffe://trust-domain.mesh/ns/a"), attribute.SNI.Prefix("a.")},
			}).Draw(t, "audit"),
		}}})
	}
	for range rapid.IntRange(1, 2).Draw(t, "gates") {
		p.Gates = append(p.Gates, drawGate(t, layer))
	}
	behind := 0
	for _, name := range []string{"", "other"}[:rapid.IntRange(0, 2).Draw(t, "shadows")] {
		shadow := drawGate(t, layer)
		behind = rapid.IntRange(behind, len(p.Gates)).Draw(t, "behind")
		shadow.Name, shadow.Preceding = name, behind
		p.Shadows = append(p.Shadows, shadow)
	}
	return p
}

// verdicts lists what the gates say, then what the shadows say.
func verdicts(traces []policy.Trace) (gates, shadows []string) {
	for _, t := range traces {
		if t.Shadow {
			shadows = append(shadows, t.Gate.Name+" "+t.Verdict.String())
		} else {
			gates = append(gates, t.Verdict.String())
		}
	}
	return gates, shadows
}

func loggedVerdicts(logs []xds.FilterLog) (gates, shadows []string) {
	for _, f := range logs {
		if f.Enforced.Ran {
			gates = append(gates, f.Enforced.Verdict.String())
		}
		if f.Shadow.Ran {
			shadows = append(shadows, f.ShadowName+" "+f.Shadow.Verdict.String())
		}
	}
	return gates, shadows
}

// Envoy, asked with any program, decides as the oracle does: the same verdict for the
// same reason, filter by filter, the same shadows, and counters that add up.
func TestEnvoyDecidesAsTheOracleDoes(t *testing.T) {
	t.Parallel()
	m := sharedEnvoy.Get(t).Mesh(t, inbounds(t, allOf(policy.Deny)))
	credentials := make([]*certs.Credential, len(someCallers))
	for i, uris := range someCallers {
		credentials[i] = forge(t, m, certs.Template{URIs: uris, DNS: dnsOf(i)})
	}
	protocols := []policy.Protocol{policy.HTTP, policy.HTTP2, policy.TCP}
	property.Check(t, func(rt *rapid.T) {
		programs, filters := map[string]policy.Program{}, map[string]xds.Filters{}
		for _, p := range protocols {
			program := drawProgram(rt, p.Layer())
			compiled, err := xds.Compile(program)
			if err != nil {
				rt.Fatal(err)
			}
			programs[p.String()], filters[p.String()] = program, compiled
		}
		var requests []Request
		var asked []policy.Request
		for range rapid.IntRange(6, 12).Draw(rt, "requests") {
			who := rapid.IntRange(0, len(someCallers)-1).Draw(rt, "who")
			p := rapid.SampledFrom(protocols).Draw(rt, "protocol")
			sni := rapid.SampledFrom(someNames).Draw(rt, "sni")
			request := Request{To: p.String(), Credential: credentials[who], SNI: sni}
			ask := policy.Request{URIs: someCallers[who], DNS: dnsOf(who), SNI: strings.ToLower(sni)}
			if p.Layer() == policy.L7 {
				request.Method, request.Path = rapid.SampledFrom(someMethods).Draw(rt, "method"), rapid.SampledFrom(someTargets).Draw(rt, "target")
				path, err := policy.PathNormalization{}.Apply(request.Path)
				if err != nil {
					rt.Fatal(err)
				}
				ask.Method, ask.Path = request.Method, path
			}
			requests, asked = append(requests, request), append(asked, ask)
		}
		if err := m.SetFilters(t.Context(), filters); err != nil {
			rt.Fatal(err)
		}
		batch, err := m.Send(t.Context(), requests...)
		if err != nil {
			rt.Fatal(err)
		}
		sent := map[string][]evidence.Evidence{}
		for i, e := range batch.Evidence {
			f, err := e.Find()
			if err != nil {
				rt.Errorf("%+v to %s: %v", asked[i], requests[i].To, err)
			}
			to := requests[i].To
			sent[to] = append(sent[to], e)
			want := policy.Decide(programs[to], asked[i])
			got := policy.Decision{Verdict: f.Verdict, Layer: e.Call.Protocol.Layer(), Shadowed: f.Shadow.Ran, Shadow: f.Shadow.Verdict}
			if got != want || !f.Judged || (f.Form == evidence.Served) != (want.Effect == policy.Allow) {
				rt.Errorf("%+v to %s: it was %s (%+v), the oracle says %+v of\n%s", asked[i], to, f.Form, got, want, programs[to])
			}
			_, traces := policy.Explain(programs[to], asked[i])
			gates, shadows := verdicts(traces)
			ran, observed := loggedVerdicts(e.Log.Filters)
			if !slices.Equal(gates, ran) || !slices.Equal(shadows, observed) {
				rt.Errorf("%+v to %s: filters say %q and %q, the oracle %q and %q of\n%s", asked[i], to, ran, observed, gates, shadows, programs[to])
			}
		}
		for to, moved := range batch.Filters {
			if want := evidence.Count(sent[to]); !slices.Equal(moved, want) {
				rt.Errorf("counters of %s moved by %s, the access log adds up to %s", to, moved, want)
			}
		}
		if !slices.ContainsFunc(requests, func(r Request) bool { return batch.Counters[r.To] != (evidence.Counters{}) }) {
			rt.Error("no counter moved")
		}
	})
}
