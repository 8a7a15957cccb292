package kuma_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/evaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
	"github.com/meshproof/meshproof/xds"
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

// BenchmarkLintLabels5000 lints 5,000 policies of one label each, on the inbounds that they
// select.
func BenchmarkLintLabels5000(b *testing.B) {
	var text strings.Builder
	inbounds := make([]policy.Inbound, 5000)
	for i := range inbounds {
		fmt.Fprintf(&text, "---\n{type: MeshTrafficPermission, mesh: default, name: p%d, spec: {targetRef: {kind: Dataplane, labels: {app: a%d}}, default: {allow: [{spiffeId: {type: Exact, value: spiffe://td/a}}]}}}\n", i, i)
		inbounds[i] = policy.Inbound{Port: 8080, Workload: policy.Workload{Name: fmt.Sprintf("w%d", i), Mesh: "default", Labels: map[string]string{"app": fmt.Sprintf("a%d", i)}}}
	}
	ps := fixture.Parse(b, text.String())
	b.ReportAllocs()
	for b.Loop() {
		lint.Lint(ps, inbounds, permission.Options{})
	}
}

func BenchmarkEvaluate(b *testing.B) {
	ps, in := fixture.Parse(b, fixture.Policies(10)), fixture.Inbounds()[0]
	r := policy.Request{URIs: []string{"spiffe://trust-domain.mesh/ns/team-9/sa/a"}, Method: "GET", Path: "/"}
	b.ReportAllocs()
	for b.Loop() {
		evaluation.ForInbound(ps, in, permission.Options{})(r)
	}
}

// BenchmarkLowerOptions lowers 5,000 selected policies; with Option 3 the tree is
// built and pruned on the way.
func BenchmarkLowerOptions5000(b *testing.B) {
	for _, option := range fixture.EveryOption {
		b.Run(option.String(), func(b *testing.B) {
			opts := permission.Options{Option: option}
			in := fixture.Inbounds()[0]
			sel := selection.Select(fixture.Convert(b, fixture.Parse(b, fixture.Policies(5000)+fixture.WithShadow), option), in, opts)
			b.ReportAllocs()
			for b.Loop() {
				if program := lowering.Lower(sel, in, opts); len(program.Gates[0].Rules) < 2 {
					b.Fatal(program)
				}
			}
		})
	}
}

// BenchmarkCompileOptions5000 goes on from the program to Envoy's filter. The text of
// the policies, 200 MB of nodes, is gone by then, or every collection would walk it.
func BenchmarkCompileOptions5000(b *testing.B) {
	for _, option := range fixture.EveryOption {
		for _, text := range []struct{ name, policies string }{
			{"plain", fixture.Policies(5000)}, {"shadow", fixture.Policies(5000) + fixture.WithShadow},
		} {
			b.Run(option.String()+"/"+text.name, func(b *testing.B) {
				opts := permission.Options{Option: option}
				in := fixture.Inbounds()[0]
				program := lowering.Lower(selection.Select(fixture.Convert(b, fixture.Parse(b, text.policies), option), in, opts), in, opts)
				runtime.GC()
				b.ReportAllocs()
				for b.Loop() {
					if _, err := xds.Compile(program); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// manyFrom is the text of one policy with n items over two tags.
func manyFrom(n int) string {
	var b strings.Builder
	b.WriteString("type: MeshTrafficPermission\nname: a\nspec:\n  from:\n")
	actions := []string{"Deny", "Allow", "AllowWithShadowDeny", "DenyWithShadowAllow"}
	for i := range n {
		fmt.Fprintf(&b, "    - {targetRef: {kind: MeshSubset, tags: {app: app-%d, env: env-%d}}, default: {action: %s}}\n", i, i%7, actions[i%4])
	}
	return b.String()
}

// BenchmarkFrom500x6 selects and lowers 500 items for six inbounds.
func BenchmarkFrom500x6(b *testing.B) {
	ps, in := fixture.Parse(b, manyFrom(500)), fixture.Inbounds()[0]
	b.ReportAllocs()
	for b.Loop() {
		for range 6 {
			program := lowering.Lower(selection.Select(ps, in, permission.Options{}), in, permission.Options{})
			if len(program.Gates[0].Rules) != 1 {
				b.Fatal(program)
			}
		}
	}
}
