package kuma_test

import (
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/evaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

func BenchmarkParse5000(b *testing.B) {
	text := fixture.Policies(5000)
	b.ReportAllocs()
	for b.Loop() {
		fixture.Parse(b, text)
	}
}

func BenchmarkSelect5000(b *testing.B) {
	ps, in := fixture.Parse(b, fixture.Policies(5000)), fixture.Inbounds()[0]
	b.ReportAllocs()
	for b.Loop() {
		if sel := selection.Select(ps, in, permission.Options{}); len(sel.Policies) != 5000 {
			b.Fatal(len(sel.Policies))
		}
	}
}

func BenchmarkSelectIgnored5000(b *testing.B) {
	ps, in := fixture.Parse(b, fixture.Policies(5000)), fixture.Inbounds()[3]
	b.ReportAllocs()
	for b.Loop() {
		if sel := selection.Select(ps, in, permission.Options{}); len(sel.Ignored) != 5000 {
			b.Fatal(len(sel.Ignored))
		}
	}
}

func BenchmarkLower5000(b *testing.B) {
	ps, in := fixture.Parse(b, fixture.Policies(5000)), fixture.Inbounds()[0]
	sel := selection.Select(ps, in, permission.Options{})
	b.ReportAllocs()
	for b.Loop() {
		if program := lowering.Lower(sel, in, permission.Options{}); len(program.Gates[0].Rules) != 10000 {
			b.Fatal(len(program.Gates[0].Rules))
		}
	}
}

func BenchmarkLint5000(b *testing.B) {
	ps := fixture.Parse(b, fixture.Policies(5000))
	b.ReportAllocs()
	for b.Loop() {
		lint.Lint(ps, fixture.Inbounds(), permission.Options{})
	}
}

func BenchmarkEvaluate(b *testing.B) {
	ps, in := fixture.Parse(b, fixture.Policies(10)), fixture.Inbounds()[0]
	r := policy.Request{URIs: []string{"spiffe://trust-domain.mesh/ns/team-9/sa/a"}, Method: "GET", Path: "/"}
	b.ReportAllocs()
	for b.Loop() {
		evaluation.Evaluate(ps, in, permission.Options{}, r)
	}
}
