package xds

import (
	"fmt"
	"testing"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/policy"
)

// allowList allows n identities, each by a rule of its own.
func allowList(n int) policy.Program {
	g := policy.Gate{Layer: policy.L4, Default: byDefault, Rules: make([]policy.Rule, n)}
	for i := range g.Rules {
		g.Rules[i] = allow(fmt.Sprint("policy-", i), is(fmt.Sprintf("spiffe://td.mesh/ns/a/sa/workload-%d", i)))
	}
	return policy.Program{Gates: []policy.Gate{g}}
}

var benchPrograms = []struct {
	name    string
	program policy.Program
}{
	{"two policies", twoPolicies(policy.L7, true)},
	{"1000 identities", allowList(1_000)},
	{"10000 identities", allowList(10_000)},
}

func BenchmarkCompile(b *testing.B) {
	for _, bb := range benchPrograms {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mustCompile(b, bb.program)
			}
		})
	}
}

func BenchmarkValidate(b *testing.B) {
	for _, bb := range benchPrograms {
		m := withStatPrefix(mustCompile(b, bb.program).Messages()[0])
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := messages.Validate(m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
