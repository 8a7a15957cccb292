package outbound_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/outbound"
	"github.com/meshproof/meshproof/policy/manifest"
)

// BenchmarkFor5000 makes the outbound side of one proxy in a mesh of 5,000 MeshTimeouts and
// 2,000 MeshHTTPRoutes to 500 services.
func BenchmarkFor5000(b *testing.B) {
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "---\n{type: MeshService, name: s%d, spec: {selector: {dataplaneTags: {kuma.io/service: s%[1]d}}, ports: [{port: 80, targetPort: 80, appProtocol: http}]}}\n", i)
	}
	for i := range 2000 {
		fmt.Fprintf(&text, "---\n{type: MeshHTTPRoute, name: r%d, spec: {to: [{targetRef: {kind: MeshService, name: s%d}, rules: [{matches: [{path: {type: PathPrefix, value: /r%[1]d}}], default: {}}]}]}}\n", i, i%500)
	}
	for i := range 5000 {
		ref := fmt.Sprintf("{kind: MeshHTTPRoute, name: r%d}", i%2000)
		if i%2 == 0 {
			ref = fmt.Sprintf("{kind: MeshService, name: s%d}", i%500)
		}
		fmt.Fprintf(&text, "---\n{type: MeshTimeout, name: t%d, spec: {to: [{targetRef: %s, default: {http: {requestTimeout: %dms}}}]}}\n", i, ref, i+1)
	}
	docs, err := manifest.Parse("p.yaml", []byte(text.String()))
	if err != nil {
		b.Fatal(err)
	}
	r, err := outbound.Parse(docs, "kuma-system", outbound.Seed)
	if err != nil {
		b.Fatal(err)
	}
	proxy := policy.Inbound{Workload: policy.Workload{Name: "web"}}
	for b.Loop() {
		if p := r.ProxyOf(proxy); len(p.Rules) != 1250 || len(p.Outbounds) != 500 {
			b.Fatalf("%d rules, %d outbounds", len(p.Rules), len(p.Outbounds))
		}
	}
}
