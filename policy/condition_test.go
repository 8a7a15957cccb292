package policy_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/draw"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

func TestEmptyAndOr(t *testing.T) {
	t.Parallel()
	r := &policy.Request{}
	for _, tt := range []struct {
		c    policy.Condition
		want bool
		text string
	}{
		{policy.And{}, true, "always"},
		{policy.And(nil), true, "always"},
		{policy.Or{}, false, "never"},
		{policy.Or(nil), false, "never"},
		{policy.Always, true, "always"},
		{policy.Never, false, "never"},
		{policy.Not{Condition: policy.Never}, true, "not never"},
	} {
		if got := tt.c.Holds(r); got != tt.want {
			t.Errorf("%#v holds: %t, want %t", tt.c, got, tt.want)
		}
		if got := tt.c.String(); got != tt.text {
			t.Errorf("%#v prints %q, want %q", tt.c, got, tt.text)
		}
		if got := policy.LayerOf(tt.c); got != policy.L4 {
			t.Errorf("%#v needs %s", tt.c, got)
		}
	}
}

// TestAlgebra checks the laws of logic on conditions.
func TestAlgebra(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		a, b := draw.Condition(policy.L7, 2).Draw(t, "a"), draw.Condition(policy.L7, 2).Draw(t, "b")
		r := draw.Request().Draw(t, "request")
		for law, pair := range map[string][2]policy.Condition{
			"not (a and b) = not a or not b":  {policy.Not{Condition: policy.And{a, b}}, policy.Or{policy.Not{Condition: a}, policy.Not{Condition: b}}},
			"not (a or b) = not a and not b":  {policy.Not{Condition: policy.Or{a, b}}, policy.And{policy.Not{Condition: a}, policy.Not{Condition: b}}},
			"not not a = a":                   {policy.Not{Condition: policy.Not{Condition: a}}, a},
			"a and b = b and a":               {policy.And{a, b}, policy.And{b, a}},
			"a or b = b or a":                 {policy.Or{a, b}, policy.Or{b, a}},
			"(a) = a":                         {policy.And{a}, policy.Or{a}},
			"a = (a)":                         {a, policy.And{a}},
			"a and never = never":             {policy.And{a, policy.Never}, policy.Never},
			"a or always = always":            {policy.Or{a, policy.Always}, policy.Always},
			"a and (a or b) = a":              {policy.And{a, policy.Or{a, b}}, a},
			"a and not a = never":             {policy.And{a, policy.Not{Condition: a}}, policy.Never},
			"a or (b and not b) = a or never": {policy.Or{a, policy.And{b, policy.Not{Condition: b}}}, policy.Or{a, policy.Never}},
		} {
			if got, want := pair[0].Holds(&r), pair[1].Holds(&r); got != want {
				t.Fatalf("%s: %t and %t for a: %s; b: %s; %+v", law, got, want, a, b, r)
			}
		}
	})
}

func TestLayerIsThatOfTheMostDemandingPart(t *testing.T) {
	t.Parallel()
	id, path := attribute.Identity.Exact("spiffe://td/a"), attribute.Path.Exact("/a")
	for _, tt := range []struct {
		c    policy.Condition
		want policy.Layer
	}{
		{id, policy.L4},
		{path, policy.L7},
		{attribute.Method.Exact("GET"), policy.L7},
		{policy.And{id, id}, policy.L4},
		{policy.And{id, path}, policy.L7},
		{policy.Or{id, policy.And{id, policy.Not{Condition: attribute.Method.Exact("GET")}}}, policy.L7},
		{policy.Not{Condition: id}, policy.L4},
	} {
		if got := policy.LayerOf(tt.c); got != tt.want {
			t.Errorf("%s needs %s, want %s", tt.c, got, tt.want)
		}
	}
	property.Check(t, func(t *rapid.T) {
		if c := draw.Condition(policy.L4, 3).Draw(t, "condition"); policy.LayerOf(c) != policy.L4 {
			t.Fatalf("%s needs %s", c, policy.LayerOf(c))
		}
	})
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	const good, bad = "spiffe://td/ns/a/sa/good", "spiffe://td/ns/a/sa/bad"
	for _, tt := range []struct {
		kind  policy.MatchKind
		value string
		uris  []string
		want  bool
	}{
		{policy.Exact, good, []string{good}, true},
		{policy.Exact, good, []string{good + "2"}, false},
		{policy.Exact, good, nil, false},
		{policy.Exact, "", nil, true},
		{policy.Prefix, "spiffe://td/ns/a", []string{good}, true},
		{policy.Prefix, "spiffe://td/ns/a", []string{"spiffe://td/ns/ab/sa/x"}, true},
		{policy.Prefix, "spiffe://td/ns/a/", []string{"spiffe://td/ns/ab/sa/x"}, false},
		{policy.Prefix, "spiffe://TD/", []string{good}, false},
		{policy.Prefix, "spiffe://", nil, false},
		// Envoy joins the URI SANs. So an exact match matches none of several SANs, and a prefix only
		// the first one.
		{policy.Exact, good, []string{good, bad}, false},
		{policy.Exact, bad, []string{good, bad}, false},
		{policy.Exact, good + "," + bad, []string{good, bad}, true},
		{policy.Prefix, good, []string{good, bad}, true},
		{policy.Prefix, bad, []string{good, bad}, false},
	} {
		c := policy.Is{Attribute: attribute.Identity, Match: policy.Match{Kind: tt.kind, Value: tt.value}}
		if got := c.Holds(&policy.Request{URIs: tt.uris}); got != tt.want {
			t.Errorf("%s for %q: %t, want %t", c, tt.uris, got, tt.want)
		}
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind        policy.MatchKind
		value, path string
		want        bool
	}{
		{policy.Exact, "/metrics", "/metrics", true},
		{policy.Exact, "/metrics", "/metrics?a=b", true},
		{policy.Exact, "/metrics", "/metrics?", true},
		{policy.Exact, "/metrics", "/metrics/", false},
		{policy.Exact, "/metrics", "/Metrics", false},
		{policy.Exact, "/metrics", "/metrics%3fa", false},
		{policy.Exact, "/metrics/", "/metrics", false},
		{policy.Exact, "/metrics/", "/metrics/", true},
		{policy.Segments, "/metrics", "/metrics", true},
		{policy.Segments, "/metrics", "/metrics/", true},
		{policy.Segments, "/metrics", "/metrics/x", true},
		{policy.Segments, "/metrics", "/metrics?x", true},
		{policy.Segments, "/metrics", "/metrics/x?y", true},
		{policy.Segments, "/metrics", "/metricsx", false},
		{policy.Segments, "/metrics", "/metrics;x", false},
		{policy.Segments, "/metrics", "/metrics-evil/x", false},
		{policy.Segments, "/metrics", "/metric", false},
		{policy.Segments, "/metrics", "/", false},
		{policy.Segments, "/metrics", "/x?/metrics", false},
		{policy.Segments, "/metrics", "/x/metrics", false},
		{policy.Segments, "/metrics/", "/metrics", true},
		{policy.Segments, "/metrics/", "/metrics/x", true},
		{policy.Segments, "/metrics/", "/metricsx", false},
		{policy.Segments, "/a/b", "/a/b/c", true},
		{policy.Segments, "/a/b", "/a", false},
		{policy.Segments, "/", "/", true},
		{policy.Segments, "/", "/x", true},
		{policy.Segments, "/", "/?x", true},
	} {
		c := policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: tt.kind, Value: tt.value}}
		if got := c.Holds(&policy.Request{Path: tt.path}); got != tt.want {
			t.Errorf("%s for %s: %t, want %t", c, tt.path, got, tt.want)
		}
	}
}

func TestMethod(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		method string
		want   bool
	}{{"GET", true}, {"HEAD", false}, {"get", false}, {"", false}, {"GETS", false}} {
		if got := attribute.Method.Exact("GET").Holds(&policy.Request{Method: tt.method}); got != tt.want {
			t.Errorf("method %q: %t, want %t", tt.method, got, tt.want)
		}
	}
}
