package verify

import (
	"net/netip"
	"slices"
	"testing"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/policy"
)

// ported adds to the chains for every port of Istio's sidecar, of HTTP and of TCP, a rule that lets everybody to what a permission says.
func ported(permission string) []edit {
	var out []edit
	for _, filter := range []string{anyPortTCP + ".filters.2", istioInbound + ".filter_chains.1.filters.1.typed_config.http_filters.2"} {
		out = append(out, put(filter+".typed_config.rules.policies.more", `{"permissions": [`+permission+`], "principals": [`+anyone+`]}`))
	}
	return out
}

// TestPortsOfEveryPort opens ports in the chains for every port, beside the chains of the ports 6379 and 8080: each kind of port is asked.
func TestPortsOfEveryPort(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		want       outcome
		permission string
	}{
		"a port with a chain of its own":                                  {verified, `{"destination_port": 8080}`},
		"a port without a chain":                                          {differs, `{"destination_port": 7000}`},
		"a range beside a port with a chain":                              {differs, `{"destination_port_range": {"start": 8080, "end": 8090}}`},
		"a range whose ends have chains":                                  {differs, `{"destination_port_range": {"start": 6379, "end": 8081}}`},
		"two ranges whose common part has chains at its ends":             {differs, `{"and_rules": {"rules": [{"destination_port_range": {"start": 1, "end": 8081}}, {"destination_port_range": {"start": 6379, "end": 65536}}]}}`},
		"all that is not in one of two ranges, between ports with chains": {differs, `{"not_rule": {"or_rules": {"rules": [{"destination_port_range": {"start": 1, "end": 6379}}, {"destination_port_range": {"start": 8081, "end": 65536}}]}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matchedSidecar(t, "", "../../examples/istio/policies", ported(tt.permission)...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}

// TestWitnesses holds the ports that are asked against intervals and ports with chains.
func TestWitnesses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		begins []int
		taken  []uint16
		want   []uint16
	}{
		{[]int{1}, nil, []uint16{1024}},
		{[]int{1}, []uint16{1024, 1025}, []uint16{1026}},
		{[]int{1, 80, 81}, nil, []uint16{1, 80, 1024}},
		{[]int{1, 80, 81}, []uint16{1, 80}, []uint16{2, 1024}},
		{[]int{81, 7000, 1, 7003, 80, 7000}, []uint16{7000, 7002}, []uint16{1, 80, 1024, 7001, 7003}},
		{[]int{1, 7000, 7003}, []uint16{7000, 7001, 7002}, []uint16{1024, 7003}},
		{[]int{1, 1024}, nil, []uint16{1, 1024}},
		{[]int{1, 65535, 65536}, []uint16{65535}, []uint16{1024}},
		{[]int{0, 1}, nil, []uint16{1024}},
	} {
		taken := map[uint16]bool{}
		for _, port := range tt.taken {
			taken[port] = true
		}
		if got := witnesses(tt.begins, taken); !slices.Equal(got, tt.want) {
			t.Errorf("intervals from %v without %v: %v, want %v", tt.begins, tt.taken, got, tt.want)
		}
	}
}

// TestPortsOfPolicies has policies that select by ranges of ports, of which no condition asks: one port is asked in each interval.
func TestPortsOfPolicies(t *testing.T) {
	t.Parallel()
	chain := func(port uint16) sidecar.Inbound {
		return sidecar.Inbound{
			Listener: "inbound", Address: netip.AddrPortFrom(netip.IPv4Unspecified(), port), Protocol: policy.TCP, Transport: sidecar.MutualTLS,
			Match: &listenerv3.FilterChainMatch{DestinationPort: wrapperspb.UInt32(uint32(port))},
		}
	}
	const policies = `
apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {name: a, namespace: default}
spec:
  endpointSelector: {matchLabels: {app: payments}}
  ingress:
    - fromEndpoints: [{matchLabels: {app: web}}]
      toPorts: [{ports: [{port: "7000", endPort: 7010, protocol: TCP}]}]
`
	for name, tt := range map[string]struct {
		chains  []uint16
		ofRange int
	}{
		"no chain of a port":                  {nil, 4},
		"chains of both ends":                 {[]uint16{7000, 7010}, 2},
		"chains of both ends and beside them": {[]uint16{6999, 7000, 7001, 7010, 7011}, 1},
		"chains of all but one":               {[]uint16{7000, 7001, 7002, 7003, 7004, 7006, 7007, 7008, 7009, 7010}, 1},
		"chains of all":                       {[]uint16{7000, 7001, 7002, 7003, 7004, 7005, 7006, 7007, 7008, 7009, 7010}, 0},
	} {
		read := files(t, policies)
		described := policy.Inbound{Workload: policy.Workload{Name: "backend", Namespace: "default", Labels: map[string]string{"app": "payments"}}, Port: 8080, Protocol: policy.TCP}
		all, err := read.CasesFor(lab.Surroundings{Inbound: described}, read.Inbounds())
		if err != nil {
			t.Fatal(err)
		}
		every := chain(0)
		every.Match = nil
		found := sidecar.Sidecar{Inbounds: []sidecar.Inbound{every}}
		for _, port := range tt.chains {
			found.Inbounds = append(found.Inbounds, chain(port))
		}
		asked, err := subjectsOf(all, read, false)[0].onPorts(every, found)
		if err != nil {
			t.Fatal(err)
		}
		ofRange := 0
		for _, in := range asked {
			port := in.Address.Port()
			if slices.Contains(tt.chains, port) {
				t.Errorf("%s: the port %d is asked, which has a chain of its own", name, port)
			}
			if port >= 7000 && port <= 7010 {
				ofRange++
			}
		}
		if ofRange != tt.ofRange || len(asked) == ofRange {
			t.Errorf("%s: %d ports of the range are asked, and %d others, want %d and some", name, ofRange, len(asked)-ofRange, tt.ofRange)
		}
	}
}
