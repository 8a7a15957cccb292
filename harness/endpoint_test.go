package harness

import (
	"net/netip"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
	"github.com/meshproof/meshproof/xds/lift"
)

// endpointMatches are matches of each kind on ports and addresses.
func endpointMatches() (out []policy.Condition) {
	is := func(a *policy.Attribute, kind policy.MatchKind, value string) policy.Is {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: kind, Value: value}}
	}
	for _, a := range []*policy.Attribute{attribute.SourceAddress, attribute.RemoteAddress, attribute.DestinationAddress} {
		out = append(out,
			a.Exact("10.1.2.3"), a.Exact("2001:db8::7"), a.Exact("::ffff:10.1.2.3"), a.Exact("255.255.255.254"),
			is(a, policy.CIDR, "10.0.0.0/8"), is(a, policy.CIDR, "10.1.2.3/32"), is(a, policy.CIDR, "10.128.0.0/9"), is(a, policy.CIDR, "0.0.0.0/0"), is(a, policy.CIDR, "::/0"),
			is(a, policy.CIDR, "2001:db8::/33"), is(a, policy.CIDR, "::ffff:10.0.0.0/104"), is(a, policy.CIDR, "192.0.2.254/31"),
			policy.And{is(a, policy.CIDR, "10.0.0.0/8"), policy.Not{Condition: is(a, policy.CIDR, "10.1.0.0/16")}},
			policy.Not{Condition: is(a, policy.CIDR, "10.0.0.0/8")},
		)
	}
	port := attribute.DestinationPort
	return append(out, port.Exact("8080"), port.Exact("65535"), is(port, policy.Range, "8000-8999"), is(port, policy.Range, "1-1023"), is(port, policy.Range, "9-10"),
		is(port, policy.Range, "40000-65535"), policy.Not{Condition: is(port, policy.Range, "1024-65535")})
}

// TestEnvoyEndpoints asks Envoy for a request of each class of ports and addresses, and for
// its neighbours, in each form of a gate and on both layers.
func TestEnvoyEndpoints(t *testing.T) {
	t.Parallel()
	for _, protocol := range []policy.Protocol{policy.TCP, policy.HTTP} {
		askEnvoy(t, sharedEnvoy.Get(t), protocol, token.Demand{}, 100, func(policy.Form) []policy.Condition { return endpointMatches() })
	}
}

// TestEnvoyForeignEndpoints asks Envoy by blocks, ranges and texts that package xds does not
// write, and holds it against the program that they are read back to.
func TestEnvoyForeignEndpoints(t *testing.T) {
	t.Parallel()
	block := func(prefix string, length *wrapperspb.UInt32Value) *corev3.CidrRange {
		return &corev3.CidrRange{AddressPrefix: prefix, PrefixLen: length}
	}
	byBlock := func(of *corev3.CidrRange) *rbacv3.Policy {
		return &rbacv3.Policy{
			Permissions: []*rbacv3.Permission{{Rule: &rbacv3.Permission_Any{Any: true}}},
			Principals:  []*rbacv3.Principal{{Identifier: &rbacv3.Principal_RemoteIp{RemoteIp: of}}},
		}
	}
	byPort := func(first, behind int32) *rbacv3.Policy {
		return &rbacv3.Policy{
			Permissions: []*rbacv3.Permission{{Rule: &rbacv3.Permission_DestinationPortRange{DestinationPortRange: &typev3.Int32Range{Start: first, End: behind}}}},
			Principals:  []*rbacv3.Principal{{Identifier: &rbacv3.Principal_Any{Any: true}}},
		}
	}
	spec := MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}}
	var requests []Request
	var programs []policy.Program
	var seen []policy.Request
	svid := certs.Template{URIs: []string{frontend.String()}}
	for name, p := range map[string]*rbacv3.Policy{
		"no length":       byBlock(block("10.0.0.0", nil)),
		"long length":     byBlock(block("10.1.2.3", wrapperspb.UInt32(64))),
		"bits behind":     byBlock(block("10.1.2.3", wrapperspb.UInt32(8))),
		"bits behind 6":   byBlock(block("2001:db8:1::1", wrapperspb.UInt32(32))),
		"long spelling":   byBlock(block("2001:DB8:0:0::1", wrapperspb.UInt32(128))),
		"all of 6":        byBlock(block("::", nil)),
		"mapped":          byBlock(block("::ffff:10.0.0.0", wrapperspb.UInt32(104))),
		"one port":        byPort(8080, 8081),
		"half of a range": byPort(8081, 9000),
		"every port":      byPort(0, 65536),
	} {
		in := Inbound{
			Name: name, Identity: backend, Protocol: policy.TCP, Address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 201, 0, byte(1 + len(spec.Inbounds))}), 8080),
			Filters: xds.Filters{Network: []*networkrbacv3.RBAC{{Rules: &rbacv3.RBAC{Policies: map[string]*rbacv3.Policy{"p": p}}}}},
		}
		spec.Inbounds = append(spec.Inbounds, in)
		program, lost := lift.Program(in.Filters, 0)
		if len(lost) > 0 {
			t.Errorf("%s: lost %q", name, lost)
		}
		for _, from := range []string{"10.0.0.1", "10.1.2.3", "10.1.2.4", "11.0.0.1", "2001:db8::1", "2001:db8:ffff::1", "2001:db9::1", "::ffff:10.1.2.3"} {
			source := netip.MustParseAddr(from)
			programs, seen = append(programs, program), append(seen, policy.Request{URIs: svid.URIs, Port: 8080, Source: source})
			requests = append(requests, Request{To: name, SourceIP: source})
		}
	}
	m := sharedEnvoy.Get(t).Mesh(t, spec)
	ca, err := m.Authority(domain)
	if err != nil {
		t.Fatal(err)
	}
	credential, err := ca.Forge(svid)
	if err != nil {
		t.Fatal(err)
	}
	for i := range requests {
		requests[i].Credential = credential
	}
	findings := stream(t, m, requests...)
	for i, r := range seen {
		want := evidence.Refused
		if policy.Decide(programs[i], r).Effect == policy.Allow {
			want = evidence.Served
		}
		if findings[i].Form != want {
			t.Errorf("%s from %s: %s, want %s, by\n%s", requests[i].To, r.Source, findings[i].Form, want, programs[i])
		}
	}
}
