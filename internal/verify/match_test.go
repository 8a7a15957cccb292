package verify

import (
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
)

// inbound returns the inbound of a sidecar on an address, with mTLS and an enforcing filter.
func inbound(address string) sidecar.Inbound {
	return sidecar.Inbound{
		Listener: "inbound", Address: netip.MustParseAddrPort(address), Socket: netip.MustParseAddrPort(address), Protocol: policy.TCP, Transport: sidecar.MutualTLS,
		Guards: []sidecar.Guard{{Enforces: true}},
	}
}

// askingUpstream returns a filter that lets callers in by the address that they go to. No
// policy can ask for it.
func askingUpstream() *networkrbacv3.RBAC {
	return &networkrbacv3.RBAC{Rules: &rbacv3.RBAC{Policies: map[string]*rbacv3.Policy{"upstream": {
		Permissions: []*rbacv3.Permission{{Rule: &rbacv3.Permission_Matcher{Matcher: &corev3.TypedExtensionConfig{Name: "upstream"}}}},
		Principals:  []*rbacv3.Principal{{Identifier: &rbacv3.Principal_Any{Any: true}}},
	}}}}
}

func files(t testing.TB, text string) *lab.Files {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := lab.Open(lab.Choice{}, file)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// match matches a sidecar with the inbounds of files, or with the inbound of flags.
func match(t testing.TB, text string, portNamed bool, found sidecar.Sidecar) (*Verification, error) {
	t.Helper()
	return matchOne(t, text, portNamed, "", nil, found)
}

// matchOne is match for the inbounds of one name.
func matchOne(t testing.TB, text string, portNamed bool, to string, keys token.Keys, found sidecar.Sidecar) (*Verification, error) {
	t.Helper()
	read := files(t, text)
	described := policy.Inbound{Workload: policy.Workload{Name: "backend", Namespace: "default"}, Port: 8080, Protocol: policy.TCP}
	all, err := read.CasesFor(lab.Surroundings{Inbound: described}, read.Inbounds())
	if err != nil {
		t.Fatal(err)
	}
	return Match(t.Context(), all, read, portNamed, to, keys, found)
}

const (
	somePolicy    = "type: MeshTrafficPermission\nname: p\nmesh: default\n"
	allowAll      = "spec: {default: {allow: [{spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh/}}]}}\n"
	allowPath     = "spec: {default: {allow: [{path: {type: Prefix, value: /a}}]}}\n"
	someDataplane = `type: Dataplane
name: web
mesh: default
networking: {address: 10.0.0.1, inbound: [{port: 8080}, {port: 9090}]}
---
`
)

func dataplaneAt(name, address string) string {
	return strings.NewReplacer("web", name, "10.0.0.1", address).Replace(someDataplane)
}

// Each inbound of either side is proven, unverified for a reason, or left out.
func TestMatch(t *testing.T) {
	t.Parallel()
	unguarded, plaintext, lost := inbound("10.0.0.1:8080"), inbound("10.0.0.1:8080"), inbound("10.0.0.1:8080")
	unguarded.Guards, plaintext.Transport, lost.Incomplete = nil, sidecar.Plaintext, true
	http := inbound("10.0.0.1:8080")
	http.Protocol = policy.HTTP
	lossy := inbound("10.0.0.1:8080")
	lossy.Filters.Network = []*networkrbacv3.RBAC{askingUpstream()}
	judge := dump.Unknown{Kind: dump.BesideRBAC, Listener: "inbound", Filter: "authz", Reason: "it asks", Position: dump.InFront}
	behind := judge
	behind.Kind, behind.Position = dump.Note, dump.BehindRBAC
	for name, tt := range map[string]struct {
		files      string
		portNamed  bool
		found      sidecar.Sidecar
		replays    int
		unverified []string
		findings   []string
		leftOut    int
	}{
		"any port":      {somePolicy, false, sidecar.Sidecar{Inbounds: []sidecar.Inbound{inbound("10.0.0.1:1"), inbound("10.0.0.1:2")}}, 2, nil, nil, 0},
		"another port":  {somePolicy, true, sidecar.Sidecar{Inbounds: []sidecar.Inbound{inbound("10.0.0.1:1")}}, 0, []string{"listener inbound (10.0.0.1:1): the policies are about no inbound on this port", "backend/8080: the sidecar has no inbound on port 8080"}, nil, 0},
		"own Dataplane": {someDataplane + somePolicy, false, sidecar.Sidecar{Inbounds: []sidecar.Inbound{inbound("10.0.0.1:8080"), inbound("10.0.0.1:9090")}}, 2, nil, nil, 0},
		"other Dataplanes": {someDataplane + dataplaneAt("shop", "10.0.0.2") + somePolicy, false,
			sidecar.Sidecar{Inbounds: []sidecar.Inbound{inbound("10.0.0.1:8080"), inbound("10.0.0.1:9090")}}, 2, nil, nil, 2},
		"another address": {someDataplane + somePolicy, false, sidecar.Sidecar{Inbounds: []sidecar.Inbound{inbound("10.0.0.9:8080"), inbound("10.0.0.1:9090")}}, 2,
			[]string{"listener inbound (10.0.0.9:8080): its address is not the Dataplane's, 10.0.0.1: it may be the sidecar of another workload"}, nil, 0},
		"one more address": {someDataplane + somePolicy, false, sidecar.Sidecar{Inbounds: []sidecar.Inbound{inbound("10.0.0.9:8080"), inbound("10.0.0.1:8080"), inbound("10.0.0.1:9090")}}, 3, nil,
			[]string{"listener inbound (10.0.0.9:8080): its address is not the Dataplane's, 10.0.0.1"}, 0},
		"every address":    {someDataplane + somePolicy, false, sidecar.Sidecar{Inbounds: []sidecar.Inbound{inbound("0.0.0.0:8080"), inbound("10.0.0.1:9090")}}, 2, nil, nil, 0},
		"another protocol": {somePolicy, true, sidecar.Sidecar{Inbounds: []sidecar.Inbound{http}}, 1, nil, []string{"listener inbound (10.0.0.1:8080): it is a http listener, the inbound speaks tcp"}, 0},
		"another protocol, which the policies tell apart": {somePolicy + allowPath, true, sidecar.Sidecar{Inbounds: []sidecar.Inbound{http}}, 1,
			[]string{"listener inbound (10.0.0.1:8080): it is a http listener, the inbound speaks tcp: the policies decide otherwise there"}, nil, 0},
		"another protocol, which the policies do not tell apart": {somePolicy + allowAll, true, sidecar.Sidecar{Inbounds: []sidecar.Inbound{http}}, 1, nil,
			[]string{"listener inbound (10.0.0.1:8080): it is a http listener, the inbound speaks tcp"}, 0},
		"no filter": {somePolicy, true, sidecar.Sidecar{Inbounds: []sidecar.Inbound{unguarded}}, 1, nil, []string{"listener inbound (10.0.0.1:8080): it has no authorization filter that enforces: every caller passes"}, 0},
		"no mTLS":   {somePolicy, true, sidecar.Sidecar{Inbounds: []sidecar.Inbound{plaintext}}, 1, []string{"listener inbound (10.0.0.1:8080): its transport is plaintext: callers need no certificate of the mesh"}, nil, 0},
		"a listener that was not read": {somePolicy, true, sidecar.Sidecar{Inbounds: []sidecar.Inbound{inbound("10.0.0.1:8080")}, Unknown: []dump.Unknown{{Kind: dump.Exposed, Listener: "twin", Reason: "it warms"}}}, 1,
			[]string{`the sidecar: listener "twin": it warms`}, nil, 0},
		"a lost filter": {somePolicy, true, sidecar.Sidecar{Inbounds: []sidecar.Inbound{lost}}, 0, []string{"listener inbound (10.0.0.1:8080): a part of its filters cannot be replayed, see unknown"}, nil, 0},
		"what no class can ask": {somePolicy, true, sidecar.Sidecar{Inbounds: []sidecar.Inbound{lossy}}, 1,
			[]string{`listener inbound (10.0.0.1:8080): not all of its requests can be asked: network[0].rules.policies["upstream"].permissions[0]: no policy can ask for matcher`}, nil, 0},
		"a judge in front": {somePolicy, true, sidecar.Sidecar{Inbounds: []sidecar.Inbound{inbound("10.0.0.1:8080")}, Unknown: []dump.Unknown{judge}}, 1, []string{`listener inbound (10.0.0.1:8080): filter "authz": it asks`}, nil, 0},
		"a judge behind":   {somePolicy, true, sidecar.Sidecar{Inbounds: []sidecar.Inbound{inbound("10.0.0.1:8080")}, Unknown: []dump.Unknown{behind}}, 1, nil, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := match(t, tt.files, tt.portNamed, tt.found)
			if err != nil {
				t.Fatal(err)
			}
			replayed := 0
			for _, r := range v.Replays {
				replayed += len(r.Inbounds)
			}
			if replayed != tt.replays || !slices.Equal(lines(v.Unverified), tt.unverified) || !slices.Equal(lines(v.Findings), tt.findings) || len(v.leftOut) != tt.leftOut {
				t.Errorf("%d inbounds replayed, unverified %q, findings %q, left out %q", replayed, v.Unverified, v.Findings, v.leftOut)
			}
			if v.Holds() && len(tt.unverified) > 0 {
				t.Error("it holds with an inbound that is not verified")
			}
			text, err := json.Marshal(v)
			if err != nil || !json.Valid(text) {
				t.Errorf("%s: %v", text, err)
			}
		})
	}
}

// A chosen inbound is verified alone: the listeners of the others are left out. What is no
// inbound of a Dataplane is not.
func TestMatchOne(t *testing.T) {
	t.Parallel()
	found := sidecar.Sidecar{Inbounds: []sidecar.Inbound{inbound("10.0.0.1:8080"), inbound("10.0.0.1:9090")}}
	stray := sidecar.Sidecar{Inbounds: append(slices.Clone(found.Inbounds), inbound("10.0.0.1:1"))}
	for name, tt := range map[string]struct {
		files, inbound      string
		found               sidecar.Sidecar
		replays             []string
		unverified, leftOut []string
	}{
		"one of two": {someDataplane + somePolicy, "web/9090", found, []string{"listener inbound (10.0.0.1:9090)"}, nil,
			[]string{"listener inbound (10.0.0.1:8080): it is web/8080, and web/9090 was chosen"}},
		"a stray listener": {someDataplane + somePolicy, "web/9090", stray, []string{"listener inbound (10.0.0.1:9090)"},
			[]string{"listener inbound (10.0.0.1:1): the policies are about no inbound on this port"},
			[]string{"listener inbound (10.0.0.1:8080): it is web/8080, and web/9090 was chosen"}},
		"it has no listener": {someDataplane + somePolicy, "web/9090", sidecar.Sidecar{Inbounds: found.Inbounds[:1]}, nil,
			[]string{"web/9090: the sidecar has no inbound on port 9090"}, []string{"listener inbound (10.0.0.1:8080): it is web/8080, and web/9090 was chosen"}},
		"which of two workloads": {someDataplane + dataplaneAt("shop", "10.0.0.2") + somePolicy, "web/9090", sidecar.Sidecar{Inbounds: []sidecar.Inbound{inbound("10.0.0.9:9090"), inbound("10.0.0.9:8080")}}, []string{"listener inbound (10.0.0.9:9090)"},
			[]string{"listener inbound (10.0.0.9:9090): its address is not the Dataplane's, 10.0.0.1: it may be the sidecar of another workload"},
			[]string{"listener inbound (10.0.0.9:8080): it is web/8080, and web/9090 was chosen"}},
		"the sidecar of another": {someDataplane + dataplaneAt("shop", "10.0.0.2") + somePolicy, "shop/8080", found, nil, nil,
			[]string{"shop/8080: the sidecar belongs to another Dataplane: it does not listen on 10.0.0.2", "shop/9090: the sidecar belongs to another Dataplane: it does not listen on 10.0.0.2",
				"listener inbound (10.0.0.1:8080): it is web/8080, and shop/8080 was chosen", "listener inbound (10.0.0.1:9090): it is web/9090, and shop/8080 was chosen"}},
		"of flags": {somePolicy, "backend/8080", found, []string{"listener inbound (10.0.0.1:8080)"}, []string{"listener inbound (10.0.0.1:9090): the policies are about no inbound on this port"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := matchOne(t, tt.files, false, tt.inbound, nil, tt.found)
			if err != nil {
				t.Fatal(err)
			}
			var replays []string
			for _, r := range v.Replays {
				replays = append(replays, r.Inbounds...)
			}
			if !slices.Equal(replays, tt.replays) || !slices.Equal(lines(v.Unverified), tt.unverified) || !slices.Equal(v.leftOut, tt.leftOut) {
				t.Errorf("replayed %q, unverified %q, left out %q", replays, lines(v.Unverified), v.leftOut)
			}
		})
	}
	if _, err := matchOne(t, someDataplane+somePolicy, false, "web/1", nil, found); !errors.As(err, new(*lab.NoInboundError)) {
		t.Errorf("error %v", err)
	}
}

// Where nothing was asked, nothing is proven, although nothing is wrong either.
func TestNothingAskedIsNoProof(t *testing.T) {
	t.Parallel()
	if v := (&Verification{}); v.Holds() {
		t.Errorf("it holds: %s", v.Sentence())
	}
}

// If two workloads are possible, the error says how to choose.
func TestMatchRefusesAmbiguity(t *testing.T) {
	t.Parallel()
	found := sidecar.Sidecar{Inbounds: []sidecar.Inbound{inbound("10.0.0.9:8080")}}
	_, err := match(t, someDataplane+dataplaneAt("shop", "10.0.0.2")+somePolicy, false, found)
	if err == nil || !strings.Contains(err.Error(), "several inbounds may be meant, web/8080, shop/8080: choose one by a folder with the Dataplane of this sidecar alone") {
		t.Errorf("error %v", err)
	}
}
