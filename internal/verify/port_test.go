package verify

import (
	"slices"
	"testing"
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
