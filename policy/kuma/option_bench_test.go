package kuma_test

import (
	"runtime"
	"testing"

	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
	"github.com/meshproof/meshproof/xds"
)

// withShadow adds a policy to those of manyPolicies, which makes the tree of
// Option 3 nest.
const withShadow = `---
{type: MeshTrafficPermission, name: legacy, spec: {default: {allowWithShadowDeny: [{spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh/ns/legacy/}}]}}}
`

// BenchmarkLowerOptions lowers 5,000 selected policies; with Option 3 the tree is
// built and pruned on the way.
func BenchmarkLowerOptions5000(b *testing.B) {
	for _, option := range everyOption {
		b.Run(option.String(), func(b *testing.B) {
			opts := permission.Options{Option: option}
			in := inbounds()[0]
			sel := selection.Select(convert(b, parseAll(b, manyPolicies(5000)+withShadow), option), in, opts)
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
	for _, option := range everyOption {
		for _, text := range []struct{ name, policies string }{
			{"plain", manyPolicies(5000)}, {"shadow", manyPolicies(5000) + withShadow},
		} {
			b.Run(option.String()+"/"+text.name, func(b *testing.B) {
				opts := permission.Options{Option: option}
				in := inbounds()[0]
				program := lowering.Lower(selection.Select(convert(b, parseAll(b, text.policies), option), in, opts), in, opts)
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
