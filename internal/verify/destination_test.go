package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/sidecar"
)

// Places in the dump of Istio's sidecar: its node, and what the rule of the caller "cache" permits
// in each chain.
const (
	istioNode     = "0.configs.0.bootstrap.node"
	cachePermits  = ".typed_config.rules.policies.ns[shop]-policy[callers]-rule[1].permissions.0.and_rules.rules.0"
	tcpPermits    = ".filters.2" + cachePermits
	instanceIPs   = istioNode + ".metadata.INSTANCE_IPS"
	destinationIP = `{"or_rules": {"rules": [{"destination_ip": {"address_prefix": "10.244.0.0", "prefix_len": 24}}]}}`
)

// TestDestinationOfPod asks for the address that callers connect to, of a sidecar that listens on
// every address. The ID of its node says which address its pod has.
func TestDestinationOfPod(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/istio/policies/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	policies := filepath.Join(t.TempDir(), "shop.yaml")
	const cache = "    - from: [{source: {principals: [cluster.local/ns/shop/sa/cache]}}]\n"
	asking := strings.Replace(string(text), cache, cache+"      when: [{key: destination.ip, values: [10.244.0.0/24]}]\n", 1)
	if asking == string(text) {
		t.Fatal("the example has no rule for the cache")
	}
	if err := os.WriteFile(policies, []byte(asking), 0o600); err != nil {
		t.Fatal(err)
	}
	permits := []string{anyPortHTTP + ".2" + cachePermits, anyPortTCP + tcpPermits, shopFilters + ".2" + cachePermits, shopTCP + tcpPermits}
	node := func(id string) edit { return put(istioNode+".id", `"`+id+`"`) }
	for name, tt := range map[string]struct {
		want  outcome
		edits []edit
	}{
		"the pod has an address of the block":          {verified, nil},
		"the pod has an address beside it":             {verified, []edit{node("sidecar~10.9.0.5~payments-5d4f.shop~shop.svc.cluster.local")}},
		"another block in one chain":                   {differs, []edit{put(permits[2]+".or_rules.rules.0.destination_ip.prefix_len", `32`)}},
		"no question in one chain":                     {differs, []edit{node("sidecar~10.9.0.5~payments-5d4f.shop~shop.svc.cluster.local"), put(permits[3], `{"any": true}`)}},
		"the metadata has the same address":            {verified, []edit{put(instanceIPs, `"10.244.0.12"`)}},
		"an address of IPv6 beside it, and no inbound": {unverified, []edit{put(instanceIPs, `"10.244.0.12,fd00::12"`)}},
		"another address in the metadata":              {unverified, []edit{put(instanceIPs, `"10.9.0.5"`)}},
		"two addresses of IPv4":                        {unverified, []edit{put(instanceIPs, `"10.244.0.12,10.9.0.5"`)}},
		"no address in the metadata":                   {unverified, []edit{put(instanceIPs, `""`)}},
		"a list in the metadata":                       {unverified, []edit{put(instanceIPs, `["10.244.0.12"]`)}},
		"no ID":                                        {unverified, []edit{drop(istioNode + ".id")}},
		"an ID of another form":                        {unverified, []edit{node("mesh.payments")}},
		"a gateway":                                    {unverified, []edit{node("router~10.244.0.12~payments-5d4f.shop~shop.svc.cluster.local")}},
		"more in the ID":                               {unverified, []edit{node("sidecar~10.244.0.12~payments-5d4f.shop~shop.svc.cluster.local~more")}},
		"no address in the ID":                         {unverified, []edit{node("sidecar~~payments-5d4f.shop~shop.svc.cluster.local")}},
		"no IP in the ID":                              {unverified, []edit{node("sidecar~payments~payments-5d4f.shop~shop.svc.cluster.local")}},
		"every address in the ID":                      {unverified, []edit{node("sidecar~0.0.0.0~payments-5d4f.shop~shop.svc.cluster.local")}},
		"the address of a machine for itself":          {unverified, []edit{node("sidecar~127.0.0.1~payments-5d4f.shop~shop.svc.cluster.local")}},
		"an address of IPv6":                           {unverified, []edit{node("sidecar~fd00::12~payments-5d4f.shop~shop.svc.cluster.local")}},
		"two namespaces in the ID":                     {unverified, []edit{node("sidecar~10.244.0.12~payments-5d4f.other~shop.svc.cluster.local")}},
		"a domain that Istio does not give":            {unverified, []edit{node("sidecar~10.244.0.12~payments-5d4f.shop~shop")}},
		"no bootstrap":                                 {unverified, []edit{drop("0.configs.0")}},
		"a second bootstrap with another address":      {unverified, []edit{copied("0.configs.0", "0.configs[]", put("bootstrap.node.id", `"sidecar~10.244.0.13~payments-5d4f.shop~shop.svc.cluster.local"`))}},
		"callers are not redirected":                   {unverified, []edit{drop(istioInbound + ".listener_filters.0")}},
		"the listener has every address of IPv6":       {unverified, []edit{put(istioInbound+".address.socket_address.address", `"::"`)}},
		"redirected callers reach another address":     {unverified, []edit{put(istioInbound+".address.socket_address.address", `"10.244.0.12"`)}},
		"more callers come by an address of IPv6":      {unverified, []edit{put(istioInbound+".additional_addresses", `[{"address": {"socket_address": {"address": "::", "port_value": 15006}}}]`)}},
		"a chain for the connections to one address":   {verified, []edit{put(shopHTTP+".filter_chain_match.prefix_ranges", `[{"address_prefix": "10.244.0.12", "prefix_len": 32}]`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var edits []edit
			for _, place := range permits {
				edits = append(edits, put(place, destinationIP))
			}
			v := matchedSidecar(t, "", policies, append(edits, tt.edits...)...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}

// Inbounds with equal filters are proven apart where the filters ask for the address, and only one of
// the inbounds has it.
func TestDestinationsApart(t *testing.T) {
	t.Parallel()
	chain := func(address string) string {
		return fmt.Sprintf(`{"name": "to-%[1]s", "filter_chain_match": {"destination_port": 8080, "prefix_ranges": [{"address_prefix": %[1]q, "prefix_len": 32}]}, "filters": [
			{"name": "rbac", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.network.rbac.v3.RBAC", "stat_prefix": "s", "rules": {"policies": {"p": {
				"permissions": [{"destination_ip": {"address_prefix": "10.0.0.7", "prefix_len": 32}}], "principals": [{"any": true}]}}}}},
			{"name": "tcp", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", "stat_prefix": "s", "cluster": "c"}}]}`, address)
	}
	found, err := sidecar.Dump(fmt.Appendf(nil, `{"name": "inbound", "traffic_direction": "INBOUND", "use_original_dst": true,
		"address": {"socket_address": {"address": "0.0.0.0", "port_value": 15006}}, "filter_chains": [%s, %s]}`, chain("10.0.0.7"), chain("10.0.0.8")))
	if err != nil {
		t.Fatal(err)
	}
	v, err := match(t, somePolicy+allowAll, false, found)
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Replays) != 2 {
		t.Errorf("%d proofs, want one for each address", len(v.Replays))
	}
}
