package lift

import (
	"fmt"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// BenchmarkProgram reads a filter of ten thousand identities.
func BenchmarkProgram(b *testing.B) {
	var list policy.Or
	for i := range 10_000 {
		list = append(list, attribute.Identity.Exact(fmt.Sprintf("spiffe://td/ns/a/sa/%d", i)))
	}
	rule := policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "p"}, When: list}
	f := must[xds.Filters](b)(xds.Compile(policy.Program{Gates: []policy.Gate{{Rules: []policy.Rule{rule}}}}))
	b.ReportAllocs()
	for b.Loop() {
		if p, lost := Program(f, 0); len(lost) > 0 || len(p.Gates) != 1 {
			b.Fatalf("lost %q, %d gates", lost, len(p.Gates))
		}
	}
}
