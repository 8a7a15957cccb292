package grpcplane_test

import (
	"testing"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/grpcplane"
)

// BenchmarkAsk is one decision over a connection that is there already.
func BenchmarkAsk(b *testing.B) {
	rules, err := grpcplane.Rules(only(own))
	if err != nil {
		b.Fatal(err)
	}
	plane := start(b, domains, []*rbacv3.RBAC{rules})
	credential := wallet{plane, map[string]*certs.Credential{}}.credential(b, []string{own}, nil)
	for b.Loop() {
		if _, err := plane.Ask(b.Context(), 0, credential); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
}
