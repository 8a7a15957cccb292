package policy_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/draw"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

func rule(effect policy.Effect, origin string, when policy.Condition) policy.Rule {
	return policy.Rule{Verdict: policy.Verdict{Effect: effect, Origin: origin}, When: when}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	byDefault := policy.Verdict{Effect: policy.Deny, Origin: "default"}
	everybody := attribute.Identity.Prefix("spiffe://td/")
	mallory := attribute.Identity.Exact("spiffe://td/mallory")
	legacy := attribute.Identity.Exact("spiffe://td/legacy")
	one := policy.Gate{Layer: policy.L7, Default: byDefault, Rules: []policy.Rule{
		rule(policy.Deny, "operator", mallory), rule(policy.Allow, "owner", everybody), rule(policy.Deny, "late", legacy), rule(policy.Allow, "nil", nil),
	}}
	shadow := policy.Gate{Layer: policy.L7, Default: byDefault, Rules: []policy.Rule{rule(policy.Deny, "owner", legacy)}}
	l4 := policy.Gate{Default: byDefault, Rules: []policy.Rule{rule(policy.Allow, "ports", everybody)}}
	deny4 := policy.Gate{Default: policy.Verdict{Effect: policy.Allow, Origin: "pass"}, Rules: []policy.Rule{rule(policy.Deny, "wall", legacy)}}
	for _, tt := range []struct {
		name    string
		program policy.Program
		caller  string
		want    policy.Decision
	}{
		{"no gate", policy.Program{}, "spiffe://td/a", policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}}},
		{"zero gate", policy.Program{Gates: make([]policy.Gate, 1)}, "spiffe://td/a", policy.Decision{}},
		{"first match allows", policy.Program{Gates: []policy.Gate{one}}, "spiffe://td/a",
			policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "owner"}, Layer: policy.L7}},
		{"a deny in front of an allow", policy.Program{Gates: []policy.Gate{one}}, "spiffe://td/mallory",
			policy.Decision{Verdict: policy.Verdict{Effect: policy.Deny, Origin: "operator"}, Layer: policy.L7}},
		{"a deny behind an allow", policy.Program{Gates: []policy.Gate{one}}, "spiffe://td/legacy",
			policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "owner"}, Layer: policy.L7}},
		{"default", policy.Program{Gates: []policy.Gate{one}}, "spiffe://other/a", policy.Decision{Verdict: byDefault, Layer: policy.L7}},
		{"shadow denies", policy.Program{Gates: []policy.Gate{one}, Shadows: []policy.Gate{shadow}}, "spiffe://td/legacy",
			policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "owner"}, Layer: policy.L7, Shadowed: true, Shadow: policy.Verdict{Effect: policy.Deny, Origin: "owner"}}},
		{"shadow by default", policy.Program{Gates: []policy.Gate{one}, Shadows: []policy.Gate{shadow}}, "spiffe://td/a",
			policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "owner"}, Layer: policy.L7, Shadowed: true, Shadow: byDefault}},
		{"every gate lets it pass", policy.Program{Gates: []policy.Gate{l4, one}}, "spiffe://td/a",
			policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "owner"}, Layer: policy.L7}},
		{"the first gate denies", policy.Program{Gates: []policy.Gate{deny4, one}}, "spiffe://td/legacy",
			policy.Decision{Verdict: policy.Verdict{Effect: policy.Deny, Origin: "wall"}, Layer: policy.L4}},
		{"a later gate denies", policy.Program{Gates: []policy.Gate{l4, one}}, "spiffe://td/mallory",
			policy.Decision{Verdict: policy.Verdict{Effect: policy.Deny, Origin: "operator"}, Layer: policy.L7}},
		{"shadows combine as gates do", policy.Program{Shadows: []policy.Gate{deny4, l4}}, "spiffe://td/legacy",
			policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}, Shadowed: true, Shadow: policy.Verdict{Effect: policy.Deny, Origin: "wall"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := policy.Decide(tt.program, policy.Request{URIs: []string{tt.caller}, Method: "GET", Path: "/"})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestShadowNeverDecides(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		p, r := draw.Program().Draw(t, "program"), draw.Request().Draw(t, "request")
		with, without := policy.Decide(p, r), policy.Decide(policy.Program{Gates: p.Gates}, r)
		if with.Verdict != without.Verdict || with.Layer != without.Layer {
			t.Fatalf("%+v with the shadow, %+v without:\n%s", with, without, p)
		}
		// Envoy never asks a shadow after the gate that refuses.
		asked := slices.ContainsFunc(p.Shadows, func(shadow policy.Gate) bool {
			before := policy.Program{Gates: p.Gates[:shadow.Position(p.Gates)]}
			return policy.Decide(before, r).Effect == policy.Allow
		})
		if with.Shadowed != asked {
			t.Fatalf("shadowed: %t, a shadow is asked: %t:\n%s", with.Shadowed, asked, p)
		}
	})
}

func TestExplainAgreesWithDecide(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		p, r := draw.Program().Draw(t, "program"), draw.Request().Draw(t, "request")
		d, traces := policy.Explain(p, r)
		if want := policy.Decide(p, r); d != want {
			t.Fatalf("Explain: %+v, Decide: %+v\n%s", d, want, p)
		}
		want := policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}}
		for _, trace := range traces {
			checkTrace(t, trace, r)
			switch {
			case trace.Gate.Logs():
			case !trace.Shadow:
				want.Verdict, want.Layer = trace.Verdict, trace.Gate.Layer
			case !want.Shadowed || want.Shadow.Effect == policy.Allow:
				want.Shadowed, want.Shadow = true, trace.Verdict
			}
			if trace.Decides && (!trace.Shadow && trace.Verdict != d.Verdict || trace.Shadow && trace.Verdict != d.Shadow) {
				t.Fatalf("%s decides, the decision is %+v\n%s", trace.Verdict, d, p)
			}
		}
		if want != d {
			t.Fatalf("the traces add up to %+v, the decision is %+v\n%s", want, d, p)
		}
	})
}

// checkTrace holds a trace against its own gate.
func checkTrace(t *rapid.T, trace policy.Trace, r policy.Request) {
	if len(trace.Matched) != len(trace.Gate.Rules) {
		t.Fatalf("%d entries for %d rules", len(trace.Matched), len(trace.Gate.Rules))
	}
	want := trace.Gate.Default
	decisive := -1
	for i, rule := range trace.Gate.Rules {
		if trace.Matched[i] != rule.Matches(&r) {
			t.Fatalf("rule %d: matched is %t", i, trace.Matched[i])
		}
		if trace.Matched[i] && decisive < 0 {
			decisive, want = i, rule.Verdict
		}
	}
	if trace.Decisive != decisive || trace.Verdict != want {
		t.Fatalf("decisive %d %s, want %d %s", trace.Decisive, trace.Verdict, decisive, want)
	}
}
