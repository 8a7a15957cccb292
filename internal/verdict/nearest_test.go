package verdict_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// A request that no rule matches is near a rule that differs in a few letters.
func TestNearestRule(t *testing.T) {
	t.Parallel()
	r, err := verdict.Read(casetest.Parse(t, `case: near
workloads: [{name: backend, inbounds: [{port: 8080}]}]
policies:
  - type: MeshTrafficPermission
    name: shop
    spec:
      default:
        deny: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/ns/shop/sa/checkout3}}]
        allow:
          - {spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/ns/shop/sa/chekout}}
          - {spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh/ns/platform/}, path: {type: Prefix, value: /metrics}, method: GET}
requests: [{from: backend, to: backend/8080, want: deny}]
`))
	if err != nil {
		t.Fatal(err)
	}
	const td = "spiffe://trust-domain.mesh/ns/"
	for _, tt := range []struct{ id, method, path, want string }{
		{td + "shop/sa/checkout", "GET", "/", `allow by kri_mtp_default___shop_ when identity = "` + td + `shop/sa/chekout"`},
		{td + "platform/sa/prometheus", "GET", "/metric", `allow by kri_mtp_default___shop_ when identity starts with "` + td + `platform/" and path under "/metrics" and method = "GET"`},
		{td + "shop/sa/chekout", "GET", "/", ""},
		{td + "shop/sa/checkout3", "GET", "/", ""},
		{"spiffe://another.example/a/very/different/caller/altogether", "GET", "/", ""},
		{"", "GET", "/", ""},
	} {
		request := policy.Request{Method: tt.method, Path: tt.path}
		if tt.id != "" {
			request.URIs = []string{tt.id}
		}
		if got := r.Inbound("backend/8080").NearestRule(request); got != tt.want {
			t.Errorf("%s %s as %s: %s, want %s", tt.method, tt.path, tt.id, got, tt.want)
		}
	}
}
