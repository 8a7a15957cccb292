package harness

import (
	"net/netip"
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/internal/forwarded"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// TestForwarded asks Envoy which remote address it takes from each list of x-forwarded-for.
func TestForwarded(t *testing.T) {
	t.Parallel()
	onReleases(t, checkForwarded)
}

func checkForwarded(t *testing.T, h *Harness) {
	spec := MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}}
	direct := xds.Filters{HTTP: []*httprbacv3.RBAC{{Rules: &rbacv3.RBAC{Policies: map[string]*rbacv3.Policy{"p": {
		Permissions: []*rbacv3.Permission{{Rule: &rbacv3.Permission_Any{Any: true}}},
		Principals:  []*rbacv3.Principal{{Identifier: &rbacv3.Principal_SourceIp{SourceIp: &corev3.CidrRange{AddressPrefix: "10.1.2.3", PrefixLen: wrapperspb.UInt32(32)}}}},
	}}}}}}
	for hops := range 4 {
		for _, p := range []policy.Protocol{policy.HTTP, policy.HTTP2, policy.GRPC} {
			spec.Inbounds = append(spec.Inbounds, Inbound{
				Name: p.String() + strings.Repeat(" hop", hops), Identity: backend, TrustedHops: hops,
				Address: address(8000 + uint16(len(spec.Inbounds))), Protocol: p, Filters: direct,
			})
		}
	}
	m := h.Mesh(t, spec)
	svid := mint(t, m, frontend)
	source := netip.MustParseAddr("10.1.2.3")
	var requests []Request
	var wants []netip.Addr
	for _, in := range spec.Inbounds {
		for _, list := range [][]string{
			nil, {""}, {"203.0.113.7"}, {"198.51.100.1, 203.0.113.7"}, {"198.51.100.1,203.0.113.7 "}, {"198.51.100.1", "203.0.113.7"}, {"198.51.100.1", "203.0.113.7,203.0.113.8"},
			{"a", "203.0.113.7,203.0.113.8, 203.0.113.9"}, {"203.0.113.7,"}, {",203.0.113.7"}, {"203.0.113.7,,"}, {","}, {"203.0.113.7, unknown"}, {"unknown, 203.0.113.7"}, {"203.0.113.7:80"}, {"[2001:db8::7]"}, {"[2001:db8::7]:80"},
			{"2001:db8::7"}, {"2001:DB8:0::7"}, {"::ffff:203.0.113.7"}, {"203.0.113.07"}, {"203.0.113"}, {"0xcb007107"}, {"3405803783"}, {"203.0.113.7/32"}, {"fe80::1%eth0"}, {"fe80::1%1"}, {"2001:db8::7%1"}, {"203.0.113.7\t"}, {"\"203.0.113.7\""}, {"203.0.113.7;x"}, {"0.0.0.0"}, {"255.255.255.255"}, {"127.0.0.1"}, {"::"}, {"::1"}, {"203.0.113.7 203.0.113.8"}, {"10.1.2.3"}, {"010.1.2.3"}, {" , 203.0.113.7 , 10.0.0.1"}, {"203.0.113.7", ""}, {"", "203.0.113.7"}, {"1.2.3.4.5"}, {"2001:db8::7::"}, {"1::2:3.4.5.6"}, {"203.0.113.7\u00a0"},
		} {
			r := Request{To: in.Name, Credential: svid, SourceIP: source}
			if in.Protocol == policy.GRPC {
				if strings.ContainsAny(strings.Join(list, ""), "\t\u00a0") {
					continue
				}
				r.GRPC = "orders.Orders/List"
			}
			for _, line := range list {
				r.Headers = append(r.Headers, policy.Header{Name: forwarded.Header, Value: line})
			}
			want, ok := forwarded.Address(in.TrustedHops, r.Headers)
			if !ok {
				want = source
			}
			requests, wants = append(requests, r), append(wants, want)
		}
	}
	batch, err := m.Send(t.Context(), requests...)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range batch.Evidence {
		if e.Log.Remote != wants[i] {
			t.Errorf("%s, %q: remote address %s, want %s", requests[i].To, requests[i].Headers, e.Log.Remote, wants[i])
		}
		if e.Answer.Status != 200 {
			t.Errorf("%s, %q: %v", requests[i].To, requests[i].Headers, e.Answer)
		}
	}
}
