package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/draw"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

func TestProgramText(t *testing.T) {
	t.Parallel()
	id := attribute.Identity.Exact(`spiffe://td/"quoted"`)
	get, under := attribute.Method.Exact("GET"), attribute.Path.Segments("/metrics")
	p := policy.Program{
		Gates: []policy.Gate{
			{Default: policy.Verdict{Effect: policy.Allow}},
			{Layer: policy.L7, Default: policy.Verdict{Origin: "default"}, Rules: []policy.Rule{
				rule(policy.Deny, "never", nil),
				rule(policy.Deny, "empty", policy.Or{}),
				rule(policy.Deny, "everybody", policy.Always),
				rule(policy.Allow, "leaf", id),
				rule(policy.Allow, "all", policy.And{id, under, get}),
				rule(policy.Allow, "any", policy.Or{policy.And{get, id}, attribute.Path.Exact("/a")}),
				rule(policy.Allow, "brackets", policy.And{policy.Or{get, id}, policy.Not{Condition: policy.Or{get, under}}, policy.Not{Condition: get}}),
				rule(policy.Allow, "nested alike", policy.Or{policy.Or{get, id}, policy.And{policy.And{get, id}, policy.Not{Condition: policy.Not{Condition: get}}}}),
				rule(policy.Allow, "prefix", attribute.Identity.Prefix("spiffe://td/")),
			}},
		},
		Shadows: []policy.Gate{{Layer: policy.L7, Default: policy.Verdict{Origin: "default"}, Rules: []policy.Rule{rule(policy.Deny, "shadow", id)}}},
	}
	golden.Compare(t, "program.golden", p.String())
}

func TestCheck(t *testing.T) {
	t.Parallel()
	l7 := rule(policy.Allow, "p", policy.And{attribute.Identity.Exact("spiffe://td/a"), attribute.Path.Exact("/a")})
	l4 := rule(policy.Allow, "q", attribute.Identity.Exact("spiffe://td/a"))
	const want = `policy: rule allow by p: condition "identity = \"spiffe://td/a\" and path = \"/a\"" cannot be judged by an L4 gate`
	for name, tt := range map[string]struct {
		program policy.Program
		want    string
	}{
		"nothing":           {policy.Program{}, ""},
		"identity on L4":    {policy.Program{Gates: []policy.Gate{{Rules: []policy.Rule{l4, {}}}}}, ""},
		"path on L7":        {policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Rules: []policy.Rule{l4, l7}}}}, ""},
		"path on L4":        {policy.Program{Gates: []policy.Gate{{Rules: []policy.Rule{l4, l7}}}}, want},
		"path on L4 shadow": {policy.Program{Shadows: []policy.Gate{{Rules: []policy.Rule{l7}}}}, want},
	} {
		got := ""
		if err := tt.program.Check(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	property.Check(t, func(t *rapid.T) {
		if p := draw.Program().Draw(t, "program"); p.Check() != nil {
			t.Fatalf("%v\n%s", p.Check(), p)
		}
	})
}

func TestEqual(t *testing.T) {
	t.Parallel()
	build := func(values ...string) policy.Program {
		var anyOf policy.Or
		for _, v := range values {
			anyOf = append(anyOf, attribute.Identity.Exact(v))
		}
		return policy.Program{Gates: []policy.Gate{{Rules: []policy.Rule{rule(policy.Allow, "p", anyOf)}}}}
	}
	if !build("a", "b").Equal(build("a", "b")) {
		t.Error("a program does not equal its copy")
	}
	if build("a", "b").Equal(build("b", "a")) || build("a").Equal(build("a", "a")) {
		t.Error("programs that merely decide alike are equal")
	}
}

func TestInbound(t *testing.T) {
	t.Parallel()
	in := policy.Inbound{Workload: policy.Workload{Name: "backend"}, Port: 8080}
	if got := in.String(); got != "backend/8080" {
		t.Errorf("unnamed: %s", got)
	}
	in.Name = "http-port"
	if got := in.String(); got != "backend/http-port" {
		t.Errorf("named: %s", got)
	}
	for p, layer := range map[policy.Protocol]policy.Layer{policy.HTTP: policy.L7, policy.HTTP2: policy.L7, policy.GRPC: policy.L7, policy.TCP: policy.L4} {
		text, err := p.MarshalText()
		var got policy.Protocol
		if err != nil || got.UnmarshalText(text) != nil || got != p || p.Layer() != layer {
			t.Errorf("%s reads back as %s on %s", text, got, p.Layer())
		}
	}
	var p policy.Protocol
	if err := p.UnmarshalText([]byte("HTTP")); err == nil || err.Error() != `protocol "HTTP" is unknown: use one of http, http2, grpc, tcp` {
		t.Errorf("UnmarshalText(HTTP) = %v", err)
	}
}

func TestWarning(t *testing.T) {
	t.Parallel()
	w := policy.Warning{Kind: "no-rules", Place: "p.yaml:1: spec", Message: "careful"}
	if got := w.String(); got != "p.yaml:1: spec: careful [no-rules]" {
		t.Error(got)
	}
	if w.Place = ""; w.String() != "careful [no-rules]" {
		t.Error(w)
	}
}

func BenchmarkDecide(b *testing.B) {
	for name, caller := range map[string]string{"first": "spiffe://td/ns/0/sa/a", "default": "spiffe://other/a"} {
		var anyOf policy.Or
		for _, ns := range strings.Fields("0 1 2 3 4 5 6 7 8 9") {
			anyOf = append(anyOf, policy.And{attribute.Identity.Prefix("spiffe://td/ns/" + ns + "/"), attribute.Method.Exact("GET"), attribute.Path.Segments("/a")})
		}
		gate := policy.Gate{Layer: policy.L7}
		for range 10 {
			gate.Rules = append(gate.Rules, rule(policy.Allow, "p", anyOf))
		}
		p := policy.Program{Gates: []policy.Gate{gate}, Shadows: []policy.Gate{gate}}
		r := policy.Request{URIs: []string{caller}, Method: "GET", Path: "/a/b?c=d"}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				policy.Decide(p, r)
			}
		})
	}
}

// A value that no constant has is printed, as in an error about it.
func TestUnknownValuesHaveAText(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]fmt.Stringer{
		"effect 99": policy.Effect(99), "form 99": policy.Form(99), "kind 99": policy.MatchKind(99),
		"protocol 99": policy.Protocol(99), "escaped slashes 99": policy.EscapedSlashes(99),
	} {
		if got := value.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
