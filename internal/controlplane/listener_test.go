package controlplane

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

func testListener(inbounds ...Inbound) Listener {
	return Listener{
		Name:       "mesh",
		Bind:       netip.MustParseAddrPort("127.0.0.1:15006"),
		Dial:       "127.0.0.1:15006",
		Validation: "mesh/trust",
		Inbounds:   inbounds,
	}
}

func testInbound(p policy.Protocol, f xds.Filters) Inbound {
	return Inbound{
		Stat:        p.String(),
		Destination: netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), 80+uint16(p)),
		Protocol:    p,
		Identity:    "mesh/identity/" + p.String(),
		Filters:     f,
	}
}

func TestListenerGolden(t *testing.T) {
	t.Parallel()
	l4 := mustCompile(t, twoPolicies(policy.L4, true))
	l7 := mustCompile(t, enforce(policy.L7, allow("p", is("spiffe://td.mesh/a"))))
	raw := policy.PathNormalization{Raw: true, KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes}
	unescaped := policy.PathNormalization{EscapedSlashes: policy.UnescapeSlashes}
	v6 := testInbound(policy.HTTP2, l7)
	v6.Destination = netip.MustParseAddrPort("[fd00::1]:81")
	v6.Normalization = raw
	grpc := testInbound(policy.GRPC, xds.Filters{Network: l4.Network, HTTP: l7.HTTP})
	grpc.Normalization = unescaped
	permissive := testInbound(policy.TCP, l4)
	permissive.MTLS = xds.Permissive
	judged := testInbound(policy.HTTP, mustCompile(t, policy.Program{Gates: []policy.Gate{{Form: policy.Named, Rules: []policy.Rule{allow("p", attribute.URISAN.Exact("spiffe://td.mesh/a"))}}}}))
	judged.MTLS, judged.JudgesPlaintext = xds.Permissive, true
	disabled := judged
	disabled.MTLS = xds.Disable
	for name, l := range map[string]Listener{
		"strict":     testListener(testInbound(policy.HTTP, l7), v6, grpc, testInbound(policy.TCP, l4)),
		"permissive": testListener(permissive),
		"judged":     testListener(judged),
		"disabled":   testListener(disabled),
		"several":    testListener(testInbound(policy.HTTP, mustCompile(t, severalGates()))),
		"empty":      testListener(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			built, err := l.build("version 7")
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, "listener/"+name+".golden", golden.YAML(t, built, redact))
			again, err := l.build("version 7")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(built, again, protocmp.Transform()); diff != "" {
				t.Errorf("a listener has to be built the same each time:\n%s", diff)
			}
		})
	}
}

// TestListenerLeavesFilters shows that the stat prefix goes into a copy: a program
// is compiled once and may stand on many inbounds.
func TestListenerLeavesFilters(t *testing.T) {
	t.Parallel()
	f := mustCompile(t, twoPolicies(policy.L4, true))
	if _, err := testListener(testInbound(policy.TCP, f)).build("v"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(mustCompile(t, twoPolicies(policy.L4, true)), f, protocmp.Transform()); diff != "" {
		t.Errorf("the filter was changed:\n%s", diff)
	}
}
