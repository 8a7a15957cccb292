package verify

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestListenersOfOneName has two listeners of one name. One without a name has its address in place of one.
func TestListenersOfOneName(t *testing.T) {
	t.Parallel()
	const address, other = "10.244.0.12:9102", "other"
	for name, tt := range map[string]struct {
		named string
		want  outcome
	}{
		"a port is open in the chain for every port, and another listener has it":                        {other, differs},
		"a port is open in the chain for every port, and a listener with the address as its name has it": {address, differs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matchedSidecar(t, "", "../../examples/istio/policies", nineOneOhTwo, put(istioInbound+".name", fmt.Sprintf("%q", tt.named)),
				openTo(anyPortTCP+".filters.2"), openTo(istioInbound+".filter_chains.1.filters.1.typed_config.http_filters.2"))
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}

// openTo lets everybody to the port 9102 by the rules of a filter.
func openTo(filter string) edit {
	return put(filter+".typed_config.rules.policies.ns[shop]-policy[callers]-rule[2].principals", `[`+anyone+`]`)
}

// nineOneOhTwo adds a listener without a name, with the chains for every port, for port 9102 of the pod.
func nineOneOhTwo(dump any) any {
	for _, e := range []edit{
		copied("0.configs.1.dynamic_active_clusters.1.cluster", "0.configs.1.static_clusters[]", put("name", `"inbound|9102||"`), func(part any) any { return map[string]any{"cluster": part} }),
		copied(istioInbound, "0.configs.3.static_listeners[]", drop("name"), put("address.socket_address", `{"address": "10.244.0.12", "port_value": 9102}`),
			drop("filter_chains.4"), drop("filter_chains.3"), drop("filter_chains.0"),
			put("filter_chains.0.filter_chain_match.destination_port", `9102`), put("filter_chains.1.filter_chain_match.destination_port", `9102`),
			renamed("InboundPassthroughCluster", "inbound|9102||"), listenerOf),
	} {
		dump = e(dump)
	}
	return dump
}

// renamed writes another text in the place of one, everywhere.
func renamed(old, text string) edit {
	return func(part any) any {
		all, err := json.Marshal(part)
		if err != nil {
			panic(err)
		}
		return value(strings.ReplaceAll(string(all), old, text))
	}
}
