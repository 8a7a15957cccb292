package harness

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/forwarded"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// TestForwarded asks Envoy which remote address it takes from each list of x-forwarded-for, and
// what named and ordered rules make of it. The peer's address stays the caller's own.
func TestForwarded(t *testing.T) {
	t.Parallel()
	onReleases(t, checkForwarded)
}

func checkForwarded(t *testing.T, h *Harness) {
	spec := MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}}
	block := policy.Is{Attribute: attribute.RemoteAddress, Match: policy.Match{Kind: policy.CIDR, Value: "203.0.113.0/24"}}
	byForm := map[policy.Form]policy.Program{}
	for _, form := range []policy.Form{policy.Named, policy.Ordered} {
		var otherwise policy.Verdict
		if form == policy.Ordered {
			otherwise.Origin = byDefault
		}
		allow := policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "block"}, When: block}
		// A filter of the network knows no header: the address of the connection passes it.
		early := policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "early"}, When: policy.Is{Attribute: attribute.RemoteAddress, Match: policy.Match{Kind: policy.CIDR, Value: "10.0.0.0/8"}}}
		byForm[form] = policy.Program{Gates: []policy.Gate{
			{Layer: policy.L4, Form: form, Rules: []policy.Rule{early}, Default: otherwise},
			{Layer: policy.L7, Form: form, Rules: []policy.Rule{allow}, Default: otherwise},
		}}
	}
	deny := policy.Rule{Verdict: policy.Verdict{Effect: policy.Deny, Origin: "peer"}, When: attribute.SourceAddress.Exact("10.1.2.4")}
	named := byForm[policy.Named]
	named.Gates = append([]policy.Gate{named.Gates[0], {Layer: policy.L7, Form: policy.Named, Rules: []policy.Rule{deny}, Default: policy.Verdict{Effect: policy.Allow}}}, named.Gates[1:]...)
	byForm[policy.Named] = named
	programs := map[string]policy.Program{}
	for hops := range 4 {
		for _, p := range []policy.Protocol{policy.HTTP, policy.HTTP2, policy.GRPC} {
			for form, program := range byForm {
				in := Inbound{
					Name: p.String() + " " + form.String() + strings.Repeat(" hop", hops), Identity: backend, TrustedHops: hops,
					Address: address(8000 + uint16(len(spec.Inbounds))), Protocol: p, Filters: compile(t, program),
				}
				spec.Inbounds, programs[in.Name] = append(spec.Inbounds, in), program
			}
		}
	}
	m := h.Mesh(t, spec)
	svid := mint(t, m, frontend)
	var requests []Request
	var seen []policy.Request
	for _, in := range spec.Inbounds {
		for _, source := range []string{"10.1.2.3", "10.1.2.4"} {
			for n, list := range forwardedLists {
				if testing.Short() && (n+int(in.Protocol))%3 != 0 {
					continue
				}
				r := Request{To: in.Name, Credential: svid, SourceIP: netip.MustParseAddr(source)}
				if in.Protocol == policy.GRPC {
					r.GRPC = "orders.Orders/List"
				}
				for _, line := range list {
					r.Headers = append(r.Headers, policy.Header{Name: forwarded.Header, Value: line})
				}
				as := policy.Request{Source: r.SourceIP}
				as.Remote, _ = forwarded.Address(in.TrustedHops, r.Headers)
				requests, seen = append(requests, r), append(seen, as)
			}
		}
	}
	batch, err := m.Stream(t.Context(), requests...)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range batch.Evidence {
		found, err := e.Find()
		want := policy.Decide(programs[requests[i].To], seen[i])
		if err != nil || found.Verdict != want.Verdict {
			t.Errorf("%s, %q from %s: %v, %v, want %s", requests[i].To, requests[i].Headers, requests[i].SourceIP, found.Verdict, err, want.Verdict)
		}
		remote, _ := attribute.RemoteAddress.Text(&seen[i])
		if found.Layer != policy.L4 && e.Log.Remote.String() != remote {
			t.Errorf("%s, %q: the remote address is %s, want %s", requests[i].To, requests[i].Headers, e.Log.Remote, remote)
		}
	}
}

// forwardedLists are the lines of requests: lists, and what is no list of addresses.
var forwardedLists = [][]string{
	nil, {""}, {"203.0.113.7"}, {"198.51.100.1, 203.0.113.7"}, {"198.51.100.1,203.0.113.7 "}, {"203.0.113.7,198.51.100.1 , 10.0.0.1"},
	{"198.51.100.1", "203.0.113.7"}, {"198.51.100.1", "203.0.113.7,203.0.113.8"}, {"203.0.113.7", ""}, {"", "203.0.113.7"},
	{"203.0.113.7,"}, {",203.0.113.7"}, {"203.0.113.7,,"}, {","}, {"203.0.113.7, unknown"}, {"unknown, 203.0.113.7"}, {"203.0.113.7 203.0.113.8"},
	{"203.0.113.7:80"}, {"203.0.113.7/32"}, {"203.0.113.07"}, {"203.0.113"}, {"203.0.113.7.1"}, {"0xcb007107"}, {"3405803783"}, {`"203.0.113.7"`}, {"203.0.113.7;x"},
	{"2001:db8::7"}, {"2001:DB8:0::7"}, {"::ffff:203.0.113.7"}, {"[2001:db8::7]"}, {"[2001:db8::7]:80"}, {"2001:db8::7%1"}, {"2001:db8::7::"}, {"::2:203.0.113.7"},
	{"0.0.0.0"}, {"255.255.255.255"}, {"127.0.0.1"}, {"::"}, {"::1"}, {"10.1.2.3"}, {"10.1.2.4"},
}
