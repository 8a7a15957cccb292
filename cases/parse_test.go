package cases_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/language"
)

// TestParseEveryField reads a case without defaults.
func TestParseEveryField(t *testing.T) {
	t.Parallel()
	got := parse(t, `
case: every field
story: all of it
trustDomains: [a.mesh, b.mesh]
options:
  shadowForm: precise
  systemNamespace: control
  pathNormalization: {normalizePath: false, mergeSlashes: false, escapedSlashes: unescape}
workloads:
  - name: backend
    namespace: shop
    serviceAccount: api
    mesh: prod
    zone: east
    origin: zone
    labels: {app: backend}
    ip: 10.1.2.3
    inbounds:
      - {name: api, port: 8080, protocol: http2, mtls: permissive, tags: {version: v1}}
callers:
  twofold: {uris: [spiffe://b.mesh/x, spiffe://a.mesh/y], sourceIP: 10.9.9.9}
policies:
  - {type: MeshTrafficPermission, name: p}
requests:
  - from: twofold
    to: backend/api
    method: PUT
    path: /x?y
    authority: shop.example
    headers: [{x-b: "1"}, {x-a: "2"}, {x-b: "3"}]
    sourceIP: 10.8.8.8
    want: 403
    by: default
    shadow: deny
    shadowBy: kri
counters:
  backend/api: {allowed: 1, denied: 2, shadow_allowed: 3, shadow_denied: 4, rules: {friends: {allowed: 1}, default: {denied: 2}}}
expectWarning: [one, two]
features: [MeshOperator1, MTPShadow]
envoy: {from: 1.37.0, before: 1.39.3}
`)
	twofold := svid("twofold", "spiffe://b.mesh/x")
	twofold.Template.URIs = append(twofold.Template.URIs, "spiffe://a.mesh/y")
	twofold.SourceIP = netip.MustParseAddr("10.9.9.9")
	want := cases.Case{
		Name: "every field", Story: "all of it", Place: "c.yaml:2",
		Features: []feature.Name{"MeshOperator1", "MTPShadow"}, Gate: cases.Gate{From: "1.37.0", Before: "1.39.3"},
		TrustDomains: []spiffeid.TrustDomain{id("spiffe://a.mesh").TrustDomain(), id("spiffe://b.mesh").TrustDomain()},
		Options: language.Options{
			Document:    document(t, "{shadowForm: precise, systemNamespace: control}"),
			TrustDomain: spiffeid.RequireTrustDomainFromString("a.mesh"),
			Peers: []language.Peer{{
				Workload: policy.Workload{Name: "backend", Namespace: "shop", Mesh: "prod", Zone: "east", Origin: "zone", ServiceAccount: "api", Labels: map[string]string{"app": "backend"}},
				Identity: id("spiffe://a.mesh/ns/shop/sa/api"), IP: netip.MustParseAddr("10.1.2.3"),
			}},
		},
		Normalization: policy.PathNormalization{Raw: true, KeepSlashes: true, EscapedSlashes: policy.UnescapeSlashes},
		Inbounds: []cases.Inbound{{
			Inbound: policy.Inbound{
				Workload: policy.Workload{Name: "backend", Namespace: "shop", Mesh: "prod", Zone: "east", Origin: "zone", ServiceAccount: "api", Labels: map[string]string{"app": "backend"}},
				Name:     "api", Port: 8080, Protocol: policy.HTTP2, Tags: map[string]string{"version": "v1"},
			},
			Identity: id("spiffe://a.mesh/ns/shop/sa/api"), IP: netip.MustParseAddr("10.1.2.3"), MTLS: mtls.Permissive,
		}},
		Requests: []cases.Request{{
			Place: "c.yaml:25: requests[0]", From: twofold, To: "backend/api", Method: "PUT", Path: "/x?y", Authority: "shop.example",
			Headers: []policy.Header{{Name: "x-b", Value: "1"}, {Name: "x-a", Value: "2"}, {Name: "x-b", Value: "3"}}, SourceIP: netip.MustParseAddr("10.8.8.8"),
			Want: cases.Status(403), By: ptr("default"), Shadow: ptr(cases.ShadowDeny), ShadowBy: ptr("kri"),
		}},
		Counters: []cases.Counters{{Inbound: "backend/api", Allowed: ptr(uint64(1)), Denied: ptr(uint64(2)), ShadowAllowed: ptr(uint64(3)), ShadowDenied: ptr(uint64(4))},
			{Inbound: "backend/api", Rule: "default", Denied: ptr(uint64(2))}, {Inbound: "backend/api", Rule: "friends", Allowed: ptr(uint64(1))}},
		ExpectWarnings: []string{"one", "two"},
	}
	if len(got.Policies) != 1 || string(got.Policies[0].YAML()) != "type: MeshTrafficPermission\nname: p\n" || got.Policies[0].Place("name") != "c.yaml:23: policies[0].name" {
		t.Errorf("policies: %v", got.Policies)
	}
	got.Policies = nil
	if diff := cmp.Diff(want, got, sameCases); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := got.Inbounds[0].Address(), netip.MustParseAddrPort("10.1.2.3:8080"); got != want {
		t.Errorf("Address() = %s, want %s", got, want)
	}
}

// TestParseDefaults reads a case with the fewest possible fields.
func TestParseDefaults(t *testing.T) {
	t.Parallel()
	got := parse(t, `
case: as little as it can
workloads:
  - {name: v, inbounds: [{port: 80}, {port: 81, mtls: strict}]}
  - {name: w, inbounds: [{port: 80, protocol: tcp}]}
requests:
  - {from: w, to: v/80, want: allow}
`)
	inbound := func(workload string, port uint16, protocol policy.Protocol, ip string) cases.Inbound {
		return cases.Inbound{
			Inbound:  policy.Inbound{Workload: policy.Workload{Name: workload, Namespace: "default", Mesh: "default", ServiceAccount: workload}, Port: port, Protocol: protocol},
			Identity: id("spiffe://trust-domain.mesh/ns/default/sa/" + workload), IP: netip.MustParseAddr(ip),
		}
	}
	peer := func(workload, ip string) language.Peer {
		in := inbound(workload, 1, policy.HTTP, ip)
		return language.Peer{Workload: in.Workload, Identity: in.Identity, IP: in.IP}
	}
	stated := inbound("v", 81, policy.HTTP, "10.64.0.1")
	stated.MTLS = mtls.Strict
	w := svid("w", "spiffe://trust-domain.mesh/ns/default/sa/w")
	w.SourceIP = netip.MustParseAddr("10.64.0.2")
	want := cases.Case{
		Name: "as little as it can", Place: "c.yaml:2",
		TrustDomains: []spiffeid.TrustDomain{id("spiffe://" + casefile.DefaultTrustDomain).TrustDomain()},
		Options: language.Options{TrustDomain: id("spiffe://" + casefile.DefaultTrustDomain).TrustDomain(), Peers: []language.Peer{
			peer("v", "10.64.0.1"), peer("w", "10.64.0.2"),
		}},
		Inbounds: []cases.Inbound{
			inbound("v", 80, policy.HTTP, "10.64.0.1"), stated, inbound("w", 80, policy.TCP, "10.64.0.2"),
		},
		Requests: []cases.Request{{Place: "c.yaml:7: requests[0]", From: w, To: "v/80", SourceIP: w.SourceIP, Want: cases.Allow}},
	}
	if diff := cmp.Diff(want, got, sameCases); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestParseCrossesLists crosses from, to, method and path. The last list changes fastest.
func TestParseCrossesLists(t *testing.T) {
	t.Parallel()
	got := parse(t, prelude+`
  - {from: [w, anonymous], to: [w/80, w/82], method: [GET, PUT], path: [/a, /b], want: deny}
  - {from: plaintext, to: w/81, want: handshake-failure}
  - {from: w, to: w/82, grpc: s.S/M, want: allow}
  - {from: w, to: w/80, path: [/, /], want: allow}
`)
	var all []string
	for _, q := range got.Requests {
		all = append(all, q.From.Name+" "+q.To+" "+q.Method+" "+q.Path+q.GRPC+" "+q.Want.String())
	}
	want := []string{
		"w w/80 GET /a deny", "w w/80 GET /b deny", "w w/80 PUT /a deny", "w w/80 PUT /b deny",
		"w w/82 GET /a deny", "w w/82 GET /b deny", "w w/82 PUT /a deny", "w w/82 PUT /b deny",
		"anonymous w/80 GET /a deny", "anonymous w/80 GET /b deny", "anonymous w/80 PUT /a deny", "anonymous w/80 PUT /b deny",
		"anonymous w/82 GET /a deny", "anonymous w/82 GET /b deny", "anonymous w/82 PUT /a deny", "anonymous w/82 PUT /b deny",
		"plaintext w/81   handshake-failure", "w w/82  s.S/M allow", "w w/80  / allow", "w w/80  / allow",
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, q := range got.Requests[:16] {
		if q.Place != "c.yaml:5: requests[0]" {
			t.Errorf("request %d: place %s", i, q.Place)
		}
	}
}

// TestParseHeaders sorts the headers of a mapping. A list keeps its order and may repeat a
// name.
func TestParseHeaders(t *testing.T) {
	t.Parallel()
	got := parse(t, prelude+`
  - {from: w, to: w/80, want: allow}
  - {from: w, to: w/80, headers: {}, want: allow}
  - {from: w, to: w/80, headers: {b: "1", a: "2"}, want: allow}
  - {from: w, to: w/80, headers: [{b: "1"}, {a: ""}, {b: "2: 3"}], want: allow}
  - {from: w, to: w/80, headers: {a: {base64: YWRtaW7/}}, want: allow}
`)
	for i, want := range [][]policy.Header{nil, nil, {{Name: "a", Value: "2"}, {Name: "b", Value: "1"}}, {{Name: "b", Value: "1"}, {Name: "a"}, {Name: "b", Value: "2: 3"}}, {{Name: "a", Value: "admin\xff"}}} {
		if diff := cmp.Diff(want, got.Requests[i].Headers); diff != "" {
			t.Errorf("request %d (-want +got):\n%s", i, diff)
		}
	}
}

// TestParsePaths reads a path of any bytes, alone and in a list.
func TestParsePaths(t *testing.T) {
	t.Parallel()
	got := parse(t, prelude+`
  - {from: w, to: w/80, path: [/a, {base64: L3g//w==}], want: allow}
  - {from: w, to: w/80, path: {base64: L3g//w==}, want: allow}
`)
	var paths []string
	for _, q := range got.Requests {
		paths = append(paths, q.Path)
	}
	if want := []string{"/a", "/x?\xff", "/x?\xff"}; !slices.Equal(paths, want) {
		t.Errorf("got %q, want %q", paths, want)
	}
}

// TestParseSourceIP shows that the address of a request replaces the address of its caller,
// and that a workload plays its own address.
func TestParseSourceIP(t *testing.T) {
	t.Parallel()
	got := parse(t, `
case: x
workloads: [{name: w, ip: 10.0.0.1, inbounds: [{port: 80}]}]
callers: {placed: {sourceIP: 10.0.0.2}, unplaced: {}}
requests:
  - {from: [w, placed, unplaced, plaintext, spiffe://trust-domain.mesh/x], to: w/80, want: allow}
  - {from: [w, placed, unplaced, plaintext, spiffe://trust-domain.mesh/x], to: w/80, sourceIP: 10.0.0.3, want: allow}
`)
	none, three := netip.Addr{}, netip.MustParseAddr("10.0.0.3")
	want := []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), none, none, none, three, three, three, three, three}
	var all []netip.Addr
	for _, q := range got.Requests {
		all = append(all, q.SourceIP)
	}
	if !slices.Equal(all, want) {
		t.Errorf("got %v, want %v", all, want)
	}
}

// TestParseExpectations has a case without a statement about warnings, and statements of no,
// one and several warnings.
func TestParseExpectations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]cases.Case{
		"expectWarning: []":          {ExpectWarnings: []string{}},
		"expectWarning: text":        {ExpectWarnings: []string{"text"}},
		"expectWarning: [b, a]":      {ExpectWarnings: []string{"b", "a"}},
		"expectError: no such thing": {ExpectError: "no such thing"},
	} {
		got := parse(t, "case: x\n"+text)
		if diff := cmp.Diff([]any{want.ExpectWarnings, want.ExpectError}, []any{got.ExpectWarnings, got.ExpectError}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	if got := parse(t, prelude+"  - {from: w, to: w/80, want: allow}"); got.ExpectWarnings != nil {
		t.Errorf("nothing said of warnings: %q", got.ExpectWarnings)
	}
}

// prelude has the lines that the comment of requests.txtar describes.
const prelude = `case: x
workloads: [{name: w, inbounds: [{port: 80, protocol: http}, {port: 81, protocol: tcp}, {port: 82, protocol: grpc}]}]
requests:
`

// TestRoutes keeps the routes of an inbound in their order.
func TestRoutes(t *testing.T) {
	t.Parallel()
	got := parse(t, `
case: x
workloads:
  - name: w
    inbounds:
      - port: 80
        routes:
          - {name: b, path: {type: Prefix, value: /x}, method: GET}
          - {name: a, path: {type: Exact, value: /y/}}
          - {name: c, method: PUT}
      - {port: 81, protocol: grpc}
      - {port: 82, protocol: tcp}
expectWarning: []
`)
	want := []policy.InboundRoute{
		{Name: "b", When: policy.And{attribute.Path.Segments("/x"), attribute.Method.Exact("GET")}},
		{Name: "a", When: attribute.Path.Exact("/y/")},
		{Name: "c", When: attribute.Method.Exact("PUT")},
	}
	if diff := cmp.Diff(want, got.Inbounds[0].Routes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, in := range got.Inbounds[1:] {
		if in.Routes != nil {
			t.Errorf("%s has routes %v", in, in.Routes)
		}
	}
}
