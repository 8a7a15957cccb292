package policy_test

import (
	"fmt"
	"testing"

	"github.com/meshproof/meshproof/policy"
)

// manyIdentities is a program of n matchers of identities, in rules of two, with
// denies in front and a few rules for everybody.
func manyIdentities(n int) policy.Program {
	var denies, allows []policy.Rule
	for i := range n / 4 {
		origin, namespace := fmt.Sprint("policy-", i), fmt.Sprintf("spiffe://td/ns/team-%d/", i)
		denies = append(denies, rule(policy.Deny, origin, policy.Identity{Value: namespace + "sa/denied"}))
		allows = append(allows, rule(policy.Allow, origin, policy.Or{
			policy.Identity{Kind: policy.Prefix, Value: namespace},
			policy.Identity{Value: namespace + "sa/hidden"},
			policy.And{policy.Identity{Value: fmt.Sprintf("spiffe://td/ns/metrics/sa/%d", i)}, policy.Path{Kind: policy.Prefix, Value: "/metrics"}},
		}))
	}
	allows = append(allows, rule(policy.Allow, "health", policy.Path{Value: "/health"}))
	gate := policy.Gate{Layer: policy.L7, Rules: append(denies, allows...)}
	return policy.Program{Gates: []policy.Gate{gate}}
}

func BenchmarkClasses(b *testing.B) {
	for _, n := range []int{10_000, 20_000} {
		p := manyIdentities(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cover := policy.Classes(policy.Surface{}, p)
				b.ReportMetric(float64(len(cover.Classes)), "classes")
			}
		})
	}
}

// BenchmarkClassesInterleaved has rules for everybody between those for callers.
func BenchmarkClassesInterleaved(b *testing.B) {
	gate := policy.Gate{Layer: policy.L7}
	for i := range 1000 {
		gate.Rules = append(gate.Rules,
			rule(policy.Allow, "caller", policy.Identity{Value: fmt.Sprint("spiffe://td/", i)}),
			rule(policy.Deny, "path", policy.Path{Value: fmt.Sprint("/", i)}))
	}
	b.ReportAllocs()
	for b.Loop() {
		policy.Classes(policy.Surface{}, policy.Program{Gates: []policy.Gate{gate}})
	}
}

func BenchmarkNeighbours(b *testing.B) {
	cover := policy.Classes(policy.Surface{}, manyIdentities(10_000))
	b.ReportAllocs()
	for b.Loop() {
		for i := range cover.Classes {
			cover.Neighbours(i)
		}
	}
}

func BenchmarkLocate(b *testing.B) {
	cover := policy.Classes(policy.Surface{}, manyIdentities(10_000))
	r := policy.Request{URIs: []string{"spiffe://td/ns/metrics/sa/17"}, Method: "GET", Path: "/metrics/x"}
	b.ReportAllocs()
	for b.Loop() {
		cover.Locate(r)
	}
}
