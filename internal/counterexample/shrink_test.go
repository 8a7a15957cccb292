package counterexample_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/counterexample"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/manifest"
)

// counted counts how often it is asked whether a case still fails.
type counted struct {
	t     testing.TB
	holds func(c cases.Case) bool
	tries int
}

func (s *counted) reproduces(_ context.Context, r *verdict.Reading) bool {
	c := r.Case
	s.tries++
	if len(c.Requests) != 1 {
		s.t.Errorf("asked about %d requests", len(c.Requests))
	}
	return s.holds(c)
}

// names reports whether the policies contain a text.
func names(text string) func(cases.Case) bool {
	return func(c cases.Case) bool {
		return slices.ContainsFunc(c.Policies, func(doc manifest.Document) bool { return strings.Contains(string(doc.YAML()), text) })
	}
}

// reversed is an Envoy with the rules in the opposite order: it decides differently if two
// rules match a request.
func reversed(c cases.Case) bool {
	return differs(c, func(gate *policy.Gate) {
		gate.Rules = slices.Clone(gate.Rules)
		slices.Reverse(gate.Rules)
	})
}

// withoutPaths is an Envoy that ignores paths.
func withoutPaths(c cases.Case) bool {
	return differs(c, func(gate *policy.Gate) {
		gate.Rules = slices.Clone(gate.Rules)
		for i := range gate.Rules {
			gate.Rules[i].When = anyPath(gate.Rules[i].When)
		}
	})
}

func anyPath(when policy.Condition) policy.Condition {
	return rewrite.Condition(when, rewrite.Leaves(func(c policy.Condition) policy.Condition {
		if is, ok := c.(policy.Is); ok && is.Attribute == attribute.Path {
			return policy.Always
		}
		return c
	}))
}

// differs reports whether changed gates decide the request differently.
func differs(c cases.Case, change func(*policy.Gate)) bool {
	set, err := dialect.Parse(c.Policies, c.Options)
	if err != nil {
		return false
	}
	q := c.Requests[0]
	for _, in := range c.Inbounds {
		if in.String() != q.To || q.From.Plaintext || q.From.Anonymous {
			continue
		}
		program := set.Program(in.Inbound).Program
		r := policy.Request{URIs: q.From.Template.URIs, DNS: q.From.Template.DNS}
		if in.Protocol.Layer() == policy.L7 {
			r.Method, r.Path = q.Method, q.Path
			if r.Method == "" {
				r.Method = "GET"
			}
			if r.Path == "" {
				r.Path = "/"
			}
		}
		faulty := program
		faulty.Gates = slices.Clone(program.Gates)
		for i := range faulty.Gates {
			change(&faulty.Gates[i])
		}
		return policy.Decide(program, r).Effect != policy.Decide(faulty, r).Effect
	}
	return false
}

// items counts the matchers in the policies of a case.
func items(c cases.Case) int {
	n := 0
	for _, doc := range c.Policies {
		for line := range strings.Lines(string(doc.YAML())) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "- ") && line != "- default:" {
				n++
			}
		}
	}
	return n
}

// shrunk returns the small case. It can be written and read, and it still fails.
func shrunk(t *testing.T, s *counted, c cases.Case, q cases.Request) cases.Case {
	t.Helper()
	s.t = t
	small := counterexample.Shrink(t.Context(), s.reproduces, c, q)
	all, err := cases.Parse("small.yaml", casewriter.YAML(small))
	if err != nil || len(all) != 1 {
		t.Fatalf("%s: %v in\n%s", c.Place, err, casewriter.YAML(small))
	}
	if !s.holds(all[0]) || len(all[0].Requests) != 1 || len(all[0].Inbounds) != 1 || !strings.HasPrefix(small.Name, "counterexample: ") {
		t.Errorf("%s: no counterexample:\n%s", c.Place, casewriter.YAML(small))
	}
	if string(casewriter.YAML(small)) != small.Source {
		t.Errorf("%s: the source is not the case:\n%s", c.Place, small.Source)
	}
	return small
}

// disagreements returns the requests of a case's proof that a fault decides differently.
func disagreements(t *testing.T, c cases.Case, fault func(cases.Case) bool) (planned cases.Case, out []cases.Request) {
	t.Helper()
	p, err := proof.Plan(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range p.Case.Requests {
		one := p.Case
		one.Requests = []cases.Request{q}
		if fault(one) {
			out = append(out, q)
		}
	}
	return p.Case, out
}

// TestShrinkFindsTheRules has policies of several stories. If two rules have the wrong order,
// the small case has these two. If rules lose their paths, it has such a rule.
func TestShrinkFindsTheRules(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault          func(cases.Case) bool
		story          []string
		policies, item int
	}{
		"reversed":      {reversed, []string{"order", "mesh-operator-2", "service-owner-5"}, 2, 2},
		"without paths": {withoutPaths, []string{"path", "method", "mesh-operator-4", "service-owner-4"}, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen, most, sum, longest := 0, 0, 0, 0
			for _, c := range casetest.Stories(t) {
				enough := testing.Short() && seen >= 5
				if enough || !slices.Contains(tt.story, c.Story) || c.ExpectError != "" {
					continue
				}
				planned, all := disagreements(t, c, tt.fault)
				for _, q := range all[:min(len(all), 3)] {
					s := &counted{holds: tt.fault}
					small := shrunk(t, s, planned, q)
					if len(small.Policies) > tt.policies || items(small) > tt.item {
						t.Errorf("%s: %d policies with %d items:\n%s", c.Place, len(small.Policies), items(small), casewriter.YAML(small))
					}
					seen, most, sum = seen+1, max(most, s.tries), sum+s.tries
					longest = max(longest, len(casewriter.YAML(small)))
				}
			}
			if seen < 5 {
				t.Fatalf("%d disagreements are too few to say anything", seen)
			}
			t.Logf("%d counterexamples of up to %d bytes, %d tries on average, %d at most", seen, longest, sum/seen, most)
			if most > 150 {
				t.Errorf("%d tries", most)
			}
		})
	}
}

// large returns a case with many policies of many items. One item names the needle.
func large(t *testing.T, policies, items int) (cases.Case, cases.Request) {
	t.Helper()
	var b strings.Builder
	b.WriteString(`case: large
trustDomains: [a.mesh, b.mesh, c.mesh]
options: {systemNamespace: control, shadowForm: precise, pathNormalization: {mergeSlashes: false}}
workloads:
  - {name: other, inbounds: [{port: 80}]}
  - name: backend
    namespace: shop
    zone: east
    labels: {app: backend, tier: "1"}
    inbounds: [{name: api, port: 8080, protocol: http2, tags: {version: v1}, routes: [{name: r, method: GET}]}, {port: 5432, protocol: tcp}]
requests:
  - {from: spiffe://b.mesh/ns/a/sa/b, to: backend/api, method: PUT, path: "/x/y/z?q=1", authority: shop, headers: [{b: "1"}, {a: "2"}], sourceIP: 10.1.1.1, want: 403, by: default}
policies:
`)
	for i := range policies {
		name := string(rune('a' + i))
		b.WriteString("  - {type: MeshTrafficPermission, mesh: default, name: \"" + name + "\", labels: {kuma.io/origin: global}, spec: {targetRef: {kind: Dataplane, labels: {app: backend}}, default: {deny: [\n")
		for k := range items {
			b.WriteString("      {spiffeId: {type: Exact, value: spiffe://c.mesh/" + name + "/" + strings.Repeat("i", k) + "x}, path: {type: Prefix, value: /x}},\n")
		}
		b.WriteString("  ], allow: [{method: DELETE}]}}}\n")
	}
	c := casetest.Parse(t, b.String())
	return c, c.Requests[0]
}

// TestShrinkLeavesNothingOver finds one item of four hundred and drops everything else.
func TestShrinkLeavesNothingOver(t *testing.T) {
	t.Parallel()
	c, q := large(t, 20, 20)
	s := &counted{holds: names("spiffe://c.mesh/q/" + strings.Repeat("i", 13) + "x")}
	small := shrunk(t, s, c, q)
	const want = `case: "counterexample: deny expected of GET / as spiffe://b.mesh/ns to backend/api, Envoy differs"
trustDomains: [a.mesh, b.mesh]
workloads:
  - name: backend
    namespace: shop
    inbounds:
      - {name: api, port: 8080, protocol: http2}
policies:
  - type: MeshTrafficPermission
    name: q
    spec:
      default:
        deny:
          - spiffeId:
              type: Exact
              value: spiffe://c.mesh/q/iiiiiiiiiiiiix
requests:
  - {from: spiffe://b.mesh/ns, to: backend/api, want: deny}
`
	if diff := cmp.Diff(want, string(casewriter.YAML(small))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.tries > 120 {
		t.Errorf("%d tries", s.tries)
	}
	t.Logf("%d tries", s.tries)
	second := &counted{t: t, holds: s.holds}
	if again := counterexample.Shrink(t.Context(), second.reproduces, c, q); string(casewriter.YAML(again)) != string(casewriter.YAML(small)) || second.tries != s.tries {
		t.Errorf("shrunk again in %d tries to\n%s", second.tries, casewriter.YAML(again))
	}
}

// TestShrinkKeepsWhatIsNeeded keeps two items of two policies, and the request for them.
func TestShrinkKeepsWhatIsNeeded(t *testing.T) {
	t.Parallel()
	c, q := large(t, 20, 20)
	one, two := names("spiffe://c.mesh/b/ix"), names("spiffe://c.mesh/t/iiiiix")
	s := &counted{holds: func(c cases.Case) bool {
		q, to := c.Requests[0], c.Inbounds[slices.IndexFunc(c.Inbounds, func(in cases.Inbound) bool { return in.Name == "api" })]
		return one(c) && two(c) && q.Method == "PUT" && strings.HasPrefix(q.Path, "/x") && len(c.TrustDomains) == 3 &&
			to.Tags != nil && to.Workload.Labels["tier"] == "1" && slices.Contains(q.Headers, policy.Header{Name: "a", Value: "2"})
	}}
	small := shrunk(t, s, c, q)
	got := small.Requests[0]
	if len(small.Policies) != 2 || items(small) != 2 || got.Path != "/x" || got.Authority != "" || len(got.Headers) != 1 || got.By != nil || got.Want != cases.Deny {
		t.Errorf("not the smallest:\n%s", casewriter.YAML(small))
	}
	if s.tries > 400 {
		t.Errorf("%d tries", s.tries)
	}
	t.Logf("%d tries", s.tries)
}

// TestShrinkStops shows that shrinking stops at its bound and with its context, and returns
// the best case so far.
func TestShrinkStops(t *testing.T) {
	t.Parallel()
	c, q := large(t, 20, 20)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &counted{t: t, holds: func(cases.Case) bool { return true }}
	small := counterexample.Shrink(ctx, func(ctx context.Context, r *verdict.Reading) bool {
		if s.tries == 2 {
			cancel()
		}
		return s.reproduces(ctx, r)
	}, c, q)
	if s.tries != 3 || len(small.Requests) != 1 || len(small.Policies) != len(c.Policies) || len(small.Inbounds) != 1 {
		t.Errorf("%d tries:\n%.500s", s.tries, casewriter.YAML(small))
	}
	s.tries = 0
	if got := counterexample.Shrink(ctx, s.reproduces, c, q); s.tries != 0 || got.Name != c.Name {
		t.Errorf("the context was over: %d tries, case %q", s.tries, got.Name)
	}
}

// TestShrinkIsBounded has a bound on the attempts, and a bound on the cases it makes.
func TestShrinkIsBounded(t *testing.T) {
	t.Parallel()
	c, q := large(t, 2, 10)
	for _, tt := range []struct{ tries, candidates, most int }{{0, 9, 0}, {9, 0, 0}, {1, 99, 1}, {9, 99, 9}, {99, 9, 9}, {9_999, 99_999, 200}} {
		first := string(c.Policies[0].YAML())
		s := &counted{t: t, holds: names(first)}
		small := counterexample.ShrinkWithin(t.Context(), tt.tries, tt.candidates, s.reproduces, c, q)
		if s.tries > tt.most || tt.tries == 9 && s.tries < tt.tries && tt.candidates > 9 || !s.holds(small) {
			t.Errorf("%d tries of %d, %d candidates:\n%.500s", s.tries, tt.tries, tt.candidates, casewriter.YAML(small))
		}
	}
}

// TestShrinkLeavesAlone returns a case that does not fail with one request as it is.
func TestShrinkLeavesAlone(t *testing.T) {
	t.Parallel()
	c, q := large(t, 3, 3)
	yes, no := func(cases.Case) bool { return true }, func(cases.Case) bool { return false }
	elsewhere := q
	elsewhere.To = "nowhere/80"
	refused := c
	refused.Policies = make([]manifest.Document, 2)
	nowhere := c
	nowhere.Inbounds, nowhere.TrustDomains = nil, nil
	for name, tt := range map[string]struct {
		c     cases.Case
		q     cases.Request
		holds func(cases.Case) bool
	}{
		"the request is decided as specified": {c, q, no},
		"an inbound that is not there":        {c, elsewhere, yes},
		"policies that are none":              {refused, q, yes},
		"no inbound at all":                   {nowhere, q, yes},
		"the zero case":                       {cases.Case{}, cases.Request{}, yes},
	} {
		s := &counted{t: t, holds: tt.holds}
		if got := counterexample.Shrink(t.Context(), s.reproduces, tt.c, tt.q); string(casewriter.YAML(got)) != string(casewriter.YAML(tt.c)) || s.tries > 1 {
			t.Errorf("%s: %d tries:\n%.300s", name, s.tries, casewriter.YAML(got))
		}
	}
}
