package verify

import (
	"fmt"
	"strings"
	"testing"
)

// tunnelsTo is the cluster by which a sidecar of Istio opens tunnels, with other fields of its choice of endpoints; tunnelsIn is the listener
// inside of Envoy that leads to a cluster.
func tunnelsTo(chooses, socket string) edit {
	return istioCluster(`{"name": "connect_originate", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED", "original_dst_lb_config": {` + chooses + `}, ` + socket + `}`)
}

func tunnelsIn(cluster string, edits ...edit) edit {
	return copied("0.configs.3", "0.configs.3.static_listeners[]", append([]edit{func(any) any {
		return value(fmt.Sprintf(`{"listener": {"name": "connect_originate", "use_original_dst": false, "internal_listener": {}, "listener_filters": [%s], "filter_chains": [{"filters": [%s]}]}}`,
			typed("original_dst", "envoy.extensions.filters.listener.original_dst.v3.OriginalDst", ""),
			typed("t", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", fmt.Sprintf(`"stat_prefix": "x", "cluster": %q, "access_log": [%s], "tunneling_config": {"hostname": "%%DOWNSTREAM_LOCAL_ADDRESS%%"}`, cluster, toFile))))
	}}, edits...)...)
}

// TestForgedAmbient reads dumps of a sidecar of Istio in a mesh with ambient mode. It opens tunnels (HBONE) to other machines by a listener inside of
// Envoy, which is no way in while it leads to nothing but the port of HBONE, over mTLS.
func TestForgedAmbient(t *testing.T) {
	t.Parallel()
	const chosen = `"upstream_port_override": 15008, "metadata_key": {"key": "envoy.filters.listener.original_dst", "path": [{"key": "waypoint"}]}`
	inMesh := strings.NewReplacer("default.zone-1.mesh.local", "cluster.local", "system_trust_bundle", "ROOTCA").Replace(meshTLS(""))
	tunnels, originates := tunnelsTo(chosen, inMesh), tunnelsIn("connect_originate")
	const first = "listener.filter_chains.0"
	for name, tt := range map[string]struct {
		want  outcome
		edits []edit
	}{
		"tunnels to other machines":                          {verified, []edit{tunnels, originates}},
		"and an outbound cluster that takes them":            {verified, []edit{tunnels, originates, istioCluster(internalCluster("outbound|9080||reviews.shop.svc.cluster.local", "connect_originate")), besides("0.0.0.0", put("filter_chains.0.filters.1.typed_config.cluster", `"outbound|9080||reviews.shop.svc.cluster.local"`))}},
		"and an outbound listener that others reach":         {unverified, []edit{tunnels, originates, istioCluster(internalCluster("tunneled", "connect_originate")), istioOutbound(`{"socket_address": {"address": "10.244.0.99", "port_value": 7777}}`, "tunneled")}},
		"and an inbound that takes them":                     {unverified, []edit{tunnels, originates, put("0.configs.1.dynamic_active_clusters.3.cluster", internalCluster("inbound|8080||", "connect_originate"))}},
		"tunnels without a cluster":                          {unverified, []edit{originates}},
		"tunnels to any port":                                {unverified, []edit{tunnelsTo(strings.Replace(chosen, `"upstream_port_override": 15008, `, "", 1), inMesh), originates}},
		"tunnels to the port of the workload":                {unverified, []edit{tunnelsTo(strings.Replace(chosen, "15008", "8080", 1), inMesh), originates}},
		"tunnels in plaintext":                               {unverified, []edit{tunnelsTo(chosen, `"alt_stat_name": "x"`), originates}},
		"tunnels to whatever has a certificate":              {unverified, []edit{tunnelsTo(chosen, strings.Replace(inMesh, `"prefix": "spiffe://cluster.local/"`, `"prefix": "spiffe://"`, 1)), originates}},
		"tunnels by a new field":                             {unverified, []edit{tunnelsTo(chosen+`, "leads": "x"`, inMesh), originates}},
		"connections that a listener of tunnels leads to":    {unverified, []edit{tunnels, tunnelsIn("inbound|8080||")}},
		"connections that it leads to where they were going": {unverified, []edit{tunnels, tunnelsIn("PassthroughCluster")}},
		"a second chain of it":                               {unverified, []edit{tunnels, tunnelsIn("connect_originate", copied(first, "listener.filter_chains[]", put("filters.0.typed_config.cluster", `"inbound|8080||"`)))}},
		"a filter of it":                                     {unverified, []edit{tunnels, tunnelsIn("connect_originate", push(first+".filters", typed("x", "envoy.extensions.filters.network.ext_proc.v3.NetworkExternalProcessor", "")))}},
		"a listener filter of it":                            {unverified, []edit{tunnels, tunnelsIn("connect_originate", push("listener.listener_filters", typed("x", "envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol", "")))}},
		"logs of it by a service":                            {unverified, []edit{tunnels, tunnelsIn("connect_originate", put(first+".filters.0.typed_config.access_log", `[`+toGRPC("inbound|8080||")+`]`))}},
		"it hands connections over":                          {unverified, []edit{tunnels, tunnelsIn("connect_originate", put("listener.use_original_dst", `true`))}},
		"it has an address":                                  {unverified, []edit{tunnels, tunnelsIn("connect_originate", drop("listener.internal_listener"), put("listener.address", `{"socket_address": {"address": "10.244.0.12", "port_value": 7777}}`))}},
		"it takes tunnels, too":                              {unverified, []edit{tunnels, originates, terminating("connect_terminate", "0.0.0.0", 15008, "BlackHoleCluster")}},
		"a node that is no sidecar of Istio":                 {unverified, []edit{tunnels, originates, put(istioNode+".id", `"default.dp"`)}},
		"a chain for the port of tunnels":                    {unverified, []edit{tunnels, originates, put(shopTCP+".filter_chain_match.destination_port", `15008`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matchedSidecar(t, "", "../../examples/istio/policies", tt.edits...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}
