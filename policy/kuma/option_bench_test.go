package kuma_test

import (
	"runtime"
	"testing"

	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
	"github.com/meshproof/meshproof/xds"
)

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
