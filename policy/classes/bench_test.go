package classes_test

import (
	"fmt"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// manyIdentities is a program of n matchers of identities, in rules of two, with
// denies in front and a few rules for everybody.
func manyIdentities(n int) policy.Program {
	var denies, allows []policy.Rule
	for i := range n / 4 {
		origin, namespace := fmt.Sprint("policy-", i), fmt.Sprintf("spiffe://td/ns/team-%d/", i)
		denies = append(denies, rule(policy.Deny, origin, attribute.Identity.Exact(namespace+"sa/denied")))
		allows = append(allows, rule(policy.Allow, origin, policy.Or{
			attribute.Identity.Prefix(namespace),
			attribute.Identity.Exact(namespace + "sa/hidden"),
			policy.And{attribute.Identity.Exact(fmt.Sprintf("spiffe://td/ns/metrics/sa/%d", i)), attribute.Path.Segments("/metrics")},
		}))
	}
	allows = append(allows, rule(policy.Allow, "health", attribute.Path.Exact("/health")))
	gate := policy.Gate{Layer: policy.L7, Rules: append(denies, allows...)}
	return policy.Program{Gates: []policy.Gate{gate}}
}

func BenchmarkClasses(b *testing.B) {
	for _, n := range []int{10_000, 20_000} {
		p := manyIdentities(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cover := classes.Of(classes.Surface{}, p)
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
			rule(policy.Allow, "caller", attribute.Identity.Exact(fmt.Sprint("spiffe://td/", i))),
			rule(policy.Deny, "path", attribute.Path.Exact(fmt.Sprint("/", i))))
	}
	b.ReportAllocs()
	for b.Loop() {
		classes.Of(classes.Surface{}, policy.Program{Gates: []policy.Gate{gate}})
	}
}

// BenchmarkClassesOfVersions compares two versions of a list of names.
func BenchmarkClassesOfVersions(b *testing.B) {
	const n = 10_000
	programs := make([]policy.Program, 2)
	for v := range programs {
		gate := policy.Gate{Form: policy.Named}
		for i := v; i < n+v; i++ {
			gate.Rules = append(gate.Rules, rule(policy.Allow, "caller", attribute.URISAN.Exact(fmt.Sprint("spiffe://td/", i))))
		}
		programs[v].Gates = []policy.Gate{gate}
	}
	b.ReportAllocs()
	for b.Loop() {
		cover := classes.Of(classes.Surface{Protocol: policy.TCP}, programs...)
		b.ReportMetric(float64(len(cover.Classes)), "classes")
	}
}

func BenchmarkNeighbours(b *testing.B) {
	cover := classes.Of(classes.Surface{}, manyIdentities(10_000))
	b.ReportAllocs()
	for b.Loop() {
		for i := range cover.Classes {
			cover.Neighbours(i)
		}
	}
}

func BenchmarkLocate(b *testing.B) {
	cover := classes.Of(classes.Surface{}, manyIdentities(10_000))
	r := policy.Request{URIs: []string{"spiffe://td/ns/metrics/sa/17"}, Method: "GET", Path: "/metrics/x"}
	b.ReportAllocs()
	for b.Loop() {
		cover.Locate(r)
	}
}
