package harness

import (
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy"
)

// TestShownHeaders compares what Envoy's access log shows of headers and authorities with what
// was sent: [evidence.Evidence.Find] fails where the two differ.
func TestShownHeaders(t *testing.T) {
	t.Parallel()
	onReleases(t, checkShownHeaders)
}

func checkShownHeaders(t *testing.T, h *Harness) {
	spec := MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}}
	for i, effect := range []policy.Effect{policy.Allow, policy.Deny} {
		for _, p := range []policy.Protocol{policy.HTTP, policy.HTTP2, policy.GRPC} {
			spec.Inbounds = append(spec.Inbounds, Inbound{
				Name: p.String() + " " + effect.String(), Identity: backend, Address: address(8000 + uint16(10*i+int(p))), Protocol: p,
				Filters: compile(t, constant(policy.L7, effect)), Headers: []string{"host", "x-role", "origin", "x-other", "cookie"},
			})
		}
	}
	m := h.Mesh(t, spec)
	svid := mint(t, m, frontend)
	lines := [][]string{nil, {""}, {"a"}, {"A", "a"}, {"a", "", "b"}, {"", ""}, {"a,b", "c"}, {"a\xff"}, {"\xffa\xfe\xfe", "ü"}, {"\u20ac\uFFFD"}}
	var requests []Request
	for _, in := range spec.Inbounds {
		for n, values := range lines {
			r := Request{To: in.Name, Credential: svid, Authority: []string{"", "a.example", "A.Example:8080"}[n%3]}
			if in.Protocol == policy.GRPC && n < 7 {
				r.GRPC = "orders.Orders/List"
			}
			for _, value := range values {
				r.Headers = append(r.Headers, policy.Header{Name: "X-Role", Value: value}, policy.Header{Name: "origin", Value: value})
			}
			requests = append(requests, r)
		}
	}
	stream(t, m, requests...)
}
