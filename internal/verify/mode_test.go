package verify

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/policy"
)

// TestModes holds a sidecar's mTLS against the mTLS that policies ask for.
func TestModes(t *testing.T) {
	t.Parallel()
	chain := func(transport sidecar.Transport, permissive bool) sidecar.Inbound {
		return sidecar.Inbound{
			Listener: "inbound", Address: netip.MustParseAddrPort("10.0.0.1:8080"), Protocol: policy.HTTP,
			Transport: transport, Permissive: permissive,
		}
	}
	strict, permissive, plaintext := chain(sidecar.MutualTLS, false), chain(sidecar.MutualTLS, true), chain(sidecar.Plaintext, false)
	for _, tt := range []struct {
		mode   string
		chains []sidecar.Inbound
		want   string
	}{
		{"STRICT", []sidecar.Inbound{strict}, ""},
		{"PERMISSIVE", []sidecar.Inbound{permissive, plaintext}, ""},
		{"DISABLE", []sidecar.Inbound{plaintext}, ""},
		{"STRICT", []sidecar.Inbound{permissive, plaintext}, "the policies say that mtls is strict, and the sidecar's is permissive"},
		{"STRICT", []sidecar.Inbound{plaintext}, "its transport is plaintext"},
		{"PERMISSIVE", []sidecar.Inbound{strict}, "the policies say that mtls is permissive, and the sidecar's is strict"},
		{"DISABLE", []sidecar.Inbound{strict}, "the policies say that mtls is disable, and the sidecar's is strict"},
		{"DISABLE", []sidecar.Inbound{chain(sidecar.TLS, false)}, "its transport is TLS"},
		{"", []sidecar.Inbound{plaintext}, "its transport is plaintext"},
	} {
		policies := "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: a}\nspec: {action: DENY, rules: [{to: [{operation: {methods: [POST]}}]}]}\n"
		if tt.mode != "" {
			policies += fmt.Sprintf("---\napiVersion: security.istio.io/v1\nkind: PeerAuthentication\nmetadata: {name: p}\nspec: {mtls: {mode: %s}}\n", tt.mode)
		}
		v, err := match(t, policies, false, sidecar.Sidecar{Inbounds: tt.chains, Envoy: "1.40.0"})
		if err != nil {
			t.Fatal(err)
		}
		got := lines(v.Unverified)
		if tt.want == "" && len(got) > 0 || tt.want != "" && !slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, tt.want) }) {
			t.Errorf("%s and %v: %q, want %q", tt.mode, tt.chains, got, tt.want)
		}
	}
}

// TestModesOfPorts holds chains for every port against policies that have modes for ports.
func TestModesOfPorts(t *testing.T) {
	t.Parallel()
	chain := func(port uint16, transport sidecar.Transport, permissive bool) sidecar.Inbound {
		return sidecar.Inbound{
			Listener: "inbound", Address: netip.AddrPortFrom(netip.IPv4Unspecified(), port), Protocol: policy.TCP, Transport: transport, Permissive: permissive,
			Match: &listenerv3.FilterChainMatch{DestinationPort: wrapperspb.UInt32(uint32(port))},
		}
	}
	strict, permissive, plaintext := chain(0, sidecar.MutualTLS, false), chain(0, sidecar.MutualTLS, true), chain(0, sidecar.Plaintext, false)
	for _, tt := range []struct {
		mode, ports string
		chains      []sidecar.Inbound
		want        string
	}{
		{"PERMISSIVE", "7000: {mode: STRICT}", []sidecar.Inbound{permissive, plaintext}, "the policies say that mtls is strict, and the sidecar's is permissive"},
		{"PERMISSIVE", "7000: {mode: STRICT}", []sidecar.Inbound{permissive, plaintext, chain(7000, sidecar.MutualTLS, false)}, ""},
		{"PERMISSIVE", "8080: {mode: STRICT}", []sidecar.Inbound{permissive, plaintext}, "the policies say that mtls is strict, and the sidecar's is permissive"},
		{"STRICT", "1024: {mode: PERMISSIVE}", []sidecar.Inbound{permissive, plaintext}, "the policies say that mtls is strict, and the sidecar's is permissive"},
		{"STRICT", "1024: {mode: STRICT}", []sidecar.Inbound{strict}, ""},
	} {
		policies := "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: a}\nspec: {action: DENY, rules: [{from: [{source: {namespaces: [evil]}}]}]}\n" +
			fmt.Sprintf("---\napiVersion: security.istio.io/v1\nkind: PeerAuthentication\nmetadata: {name: p, namespace: default}\nspec: {selector: {matchLabels: {app: payments}}, mtls: {mode: %s}, portLevelMtls: {%s}}\n", tt.mode, tt.ports)
		read := files(t, policies)
		described := policy.Inbound{Workload: policy.Workload{Name: "backend", Namespace: "default", Labels: map[string]string{"app": "payments"}}, Port: 8080, Protocol: policy.TCP}
		all, err := read.CasesFor(lab.Surroundings{Inbound: described}, read.Inbounds())
		if err != nil {
			t.Fatal(err)
		}
		v, err := Match(t.Context(), all, read, false, "", nil, sidecar.Sidecar{Inbounds: tt.chains, Envoy: "1.40.0"})
		if err != nil {
			t.Fatal(err)
		}
		got := lines(v.Unverified)
		if tt.want == "" && len(got) > 0 || tt.want != "" && !slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, tt.want) }) {
			t.Errorf("%s and %s: %q, want %q", tt.mode, tt.ports, got, tt.want)
		}
	}
}
