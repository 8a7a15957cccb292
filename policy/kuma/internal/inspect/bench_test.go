package inspect

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/manifest"
)

// many is a dataplane and n policies with three identities each that apply to it.
func many(n int) string {
	var b strings.Builder
	b.WriteString("{type: Dataplane, name: backend, labels: {app: backend}, networking: {inbound: [{name: http-port, port: 8080, protocol: http}]}}\n")
	for i := range n {
		fmt.Fprintf(&b, `---
type: MeshTrafficPermission
name: policy-%d
spec:
  targetRef: {kind: Dataplane, labels: {app: backend}}
  default:
    deny:
      - spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/ns/default/sa/denied-%[1]d}
    allow:
      - spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/ns/default/sa/allowed-%[1]d}
      - spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh/ns/team-%[1]d/}
`, i)
	}
	return b.String()
}

func benchmark(b *testing.B, target string) {
	handler := parse(b, many(5000), permission.Options{}).Handler()
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}

func BenchmarkInbound5000(b *testing.B) { benchmark(b, httpPort) }

func BenchmarkProxy5000(b *testing.B) { benchmark(b, "/meshes/default/dataplanes/backend/_policies") }

func BenchmarkPage5000(b *testing.B) { benchmark(b, "/?inbound=kri_dp_default___backend_http-port") }

func BenchmarkParse5000(b *testing.B) {
	text := many(5000)
	b.ReportAllocs()
	for b.Loop() {
		parse(b, text, permission.Options{})
	}
}

// BenchmarkOutbound5000 asks for one outbound of a dataplane in a mesh of 5,000 MeshTimeouts.
func BenchmarkOutbound5000(b *testing.B) {
	var text strings.Builder
	text.WriteString("{type: Dataplane, name: web, mesh: default, networking: {address: 10.0.0.1, inbound: []}}\n")
	for i := range 500 {
		fmt.Fprintf(&text, "---\n{type: MeshService, name: s%d, spec: {selector: {dataplaneTags: {app: s}}, ports: [{port: 80, targetPort: 80, appProtocol: http}]}}\n", i)
	}
	for i := range 5000 {
		fmt.Fprintf(&text, "---\n{type: MeshTimeout, name: t%d, spec: {to: [{targetRef: {kind: MeshService, name: s%d}, default: {http: {requestTimeout: 1s}}}]}}\n", i, i%500)
	}
	docs, err := manifest.Parse("p.yaml", []byte(text.String()))
	if err != nil {
		b.Fatal(err)
	}
	resources, err := Parse(docs, permission.Options{})
	if err != nil {
		b.Fatal(err)
	}
	h := resources.Handler()
	for b.Loop() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/meshes/default/dataplanes/web/_outbounds/kri_msvc_default___s7_80/_policies", nil))
		if w.Code != 200 {
			b.Fatal(w.Code)
		}
	}
}
