package inspect

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
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
