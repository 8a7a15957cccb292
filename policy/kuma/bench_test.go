package kuma_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/evaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// manyPolicies is the text of n policies with three identities each, of which
// every one applies to the first inbound.
func manyPolicies(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `---
type: MeshTrafficPermission
mesh: default
name: policy-%d
spec:
  targetRef:
    kind: Dataplane
    labels:
      app: backend
  default:
    deny:
      - spiffeId:
          type: Exact
          value: spiffe://trust-domain.mesh/ns/default/sa/denied-%[1]d
    allow:
      - spiffeId:
          type: Exact
          value: spiffe://trust-domain.mesh/ns/default/sa/allowed-%[1]d
      - spiffeId:
          type: Prefix
          value: spiffe://trust-domain.mesh/ns/team-%[1]d/
`, i)
	}
	return b.String()
}

func BenchmarkParse5000(b *testing.B) {
	text := manyPolicies(5000)
	b.ReportAllocs()
	for b.Loop() {
		parseAll(b, text)
	}
}

func BenchmarkSelect5000(b *testing.B) {
	ps, in := parseAll(b, manyPolicies(5000)), inbounds()[0]
	b.ReportAllocs()
	for b.Loop() {
		if sel := selection.Select(ps, in, permission.Options{}); len(sel.Policies) != 5000 {
			b.Fatal(len(sel.Policies))
		}
	}
}

func BenchmarkSelectIgnored5000(b *testing.B) {
	ps, in := parseAll(b, manyPolicies(5000)), inbounds()[3]
	b.ReportAllocs()
	for b.Loop() {
		if sel := selection.Select(ps, in, permission.Options{}); len(sel.Ignored) != 5000 {
			b.Fatal(len(sel.Ignored))
		}
	}
}

func BenchmarkLower5000(b *testing.B) {
	ps, in := parseAll(b, manyPolicies(5000)), inbounds()[0]
	sel := selection.Select(ps, in, permission.Options{})
	b.ReportAllocs()
	for b.Loop() {
		if program := lowering.Lower(sel, in, permission.Options{}); len(program.Gates[0].Rules) != 10000 {
			b.Fatal(len(program.Gates[0].Rules))
		}
	}
}

func BenchmarkLint5000(b *testing.B) {
	ps := parseAll(b, manyPolicies(5000))
	b.ReportAllocs()
	for b.Loop() {
		lint.Lint(ps, inbounds(), permission.Options{})
	}
}

func BenchmarkEvaluate(b *testing.B) {
	ps, in := parseAll(b, manyPolicies(10)), inbounds()[0]
	r := policy.Request{URIs: []string{"spiffe://trust-domain.mesh/ns/team-9/sa/a"}, Method: "GET", Path: "/"}
	b.ReportAllocs()
	for b.Loop() {
		evaluation.Evaluate(ps, in, permission.Options{}, r)
	}
}
