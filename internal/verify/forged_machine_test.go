package verify

import (
	"fmt"
	"strings"
	"testing"
)

// forgedMachine are dumps whose inbounds have every address: what the machine has, the Dataplane says. Others send requests of Envoy's own to
// where the dump does not tell.
var forgedMachine = []forged{
	// A cluster asks a server for endpoints and certificates, also where no listener names the cluster.
	{"endpoints from the workload", unverified, []edit{clusters(ownCluster, redis, asksFor("x", served("self_inbound_dp_http-port")))}},
	{"endpoints from the workload, by another cluster", unverified, []edit{clusters(ownCluster, redis, static("server", "10.0.0.7", 8080), asksFor("x", served("server")))}},
	{"endpoints from the workload, by REST", unverified, []edit{clusters(ownCluster, redis, asksFor("x", `{"api_config_source": {"api_type": "REST", "cluster_names": ["self_inbound_dp_http-port"], "refresh_delay": "1s"}}`))}},
	{"endpoints from a client of its own", unverified, []edit{clusters(ownCluster, redis, asksFor("x", `{"api_config_source": {"api_type": "GRPC", "grpc_services": [{"google_grpc": {"target_uri": "127.0.0.1:8080"}}]}}`))}},
	{"endpoints from an inbound over mTLS", unverified, []edit{clusters(ownCluster, redis, having(static("server", "10.0.0.7", 8080), meshTLS("")), asksFor("x", served("server")))}},
	{"endpoints from another machine", verified, []edit{clusters(ownCluster, redis, static("server", "10.9.9.9", 8080), asksFor("x", served("server")))}},
	{"endpoints from the control plane", verified, []edit{clusters(ownCluster, redis, asksFor("x", `{"ads": {}}`))}},
	{"a certificate of a cluster from the workload", unverified, []edit{clusters(ownCluster, redis, having(static("x", "10.9.9.9", 1), upstreamTLS(`"tls_certificate_sds_secret_configs": [{"name": "c", "sds_config": `+served("self_inbound_dp_http-port")+`}]`)))}},
	{"endpoints from a server that cannot be read", unverified, []edit{clusters(ownCluster, redis, `{"name": "server", "type": "STATIC", "load_assignment": 5}`, asksFor("x", served("server")))}},
	{"a log to a cluster that cannot be read", unverified, []edit{logging("server"), clusters(ownCluster, redis, `{"name": "server", "type": "STATIC", "load_assignment": 5}`)}},
	{"endpoints from a server that the dump does not have", unverified, []edit{clusters(ownCluster, redis, asksFor("x", served("absent")))}},
	{"a log to a cluster that the dump does not have", unverified, []edit{logging("absent")}},
	{"traces to a cluster that the dump does not have", unverified, []edit{tracing("envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "absent", "collector_endpoint": "/admin"`)}},
	{"load that is reported to a cluster that the dump does not have", unverified, []edit{clusters(ownCluster, redis, having(static("x", "10.9.9.9", 1), `"lrs_server": `+served("absent")))}},
	{"load that is reported to the workload", unverified, []edit{clusters(ownCluster, redis, having(static("x", "10.9.9.9", 1), `"lrs_server": `+served("self_inbound_dp_http-port")))}},
	{"inbounds on every address", verified, []edit{everyAddress}},
	{"inbounds on every address, and a log to the workload", unverified, []edit{everyAddress, logging("logs"), clusters(ownCluster, redis, static("logs", "10.0.0.7", 8080))}},
	{"inbounds on every address, and a log to another machine", verified, []edit{everyAddress, logging("logs"), clusters(ownCluster, redis, static("logs", "10.9.9.9", 8080))}},
	{"inbounds on every address, and a log to an inbound over mTLS", unverified, []edit{everyAddress, logging("logs"), clusters(ownCluster, redis, having(static("logs", "10.0.0.7", 8080), meshTLS("")))}},
	{"inbounds on every address, and a check of health by POST", unverified, []edit{everyAddress, clusters(ownCluster, redis, checkedByPOST("10.0.0.7"))}},
	{"inbounds on every address, and a check of another machine by POST", verified, []edit{everyAddress, clusters(ownCluster, redis, checkedByPOST("10.9.9.9"))}},
	{"inbounds on every address, and an outbound listener that logs to the workload", unverified, []edit{everyAddress, clusters(ownCluster, redis, static("logs", "10.0.0.7", 8080), static("far", "10.9.9.9", 80)), sending("10.0.0.9", `"access_log": [`+toGRPC("logs")+`]`, "far")}},

	{"a log to a name with the port of a workload", unverified, []edit{logging("logs"), clusters(ownCluster, redis, retyped(static("logs", "localhost.localdomain", 8080), `"type": "STRICT_DNS"`))}},
	{"a log to a name with another port", verified, []edit{logging("logs"), clusters(ownCluster, redis, retyped(static("logs", "logs.example", 4317), `"type": "STRICT_DNS"`))}},
	{"a log to endpoints that the dump does not have", unverified, []edit{logging("logs"), clusters(ownCluster, redis, byEDS("logs", ""))}},
	{"a log to an endpoint with one more address", unverified, []edit{logging("logs"), clusters(ownCluster, redis, strings.Replace(static("logs", "10.9.9.9", 8080), `"endpoint": {`, `"endpoint": {"additional_addresses": [{"address": {"socket_address": {"address": "127.0.0.1", "port_value": 8080}}}], `, 1))}},
	{"a log to an endpoint by its name", unverified, []edit{logging("logs"), clusters(ownCluster, redis, strings.Replace(static("logs", "10.9.9.9", 8080), `"endpoints": [`, `"named_endpoints": {"x": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 8080}}}}, "endpoints": [`, 1))}},
	{"statistics to a name with the port of a workload", unverified, []edit{bootstrap(harmlessLayers + `, "stats_sinks": [` + typed("s", "envoy.config.metrics.v3.StatsdSink", `"tcp_cluster_name": "logs"`) + `]`), clusters(ownCluster, redis, retyped(static("logs", "logs.example", 6379), `"type": "STRICT_DNS"`))}},
	{"statistics to a name with another port", verified, []edit{bootstrap(harmlessLayers + `, "stats_sinks": [` + typed("s", "envoy.config.metrics.v3.StatsdSink", `"tcp_cluster_name": "logs"`) + `]`), clusters(ownCluster, redis, retyped(static("logs", "logs.example", 8125), `"type": "STRICT_DNS"`))}},
	{"an outbound listener that logs to a name with the port of a workload", unverified, []edit{clusters(ownCluster, redis, retyped(static("logs", "logs.example", 8080), `"type": "STRICT_DNS"`), static("far", "10.9.9.9", 80)), sending("10.0.0.9", `"access_log": [`+toGRPC("logs")+`]`, "far")}},
	{"an outbound listener that logs to a name with another port", verified, []edit{clusters(ownCluster, redis, retyped(static("logs", "logs.example", 4317), `"type": "STRICT_DNS"`), static("far", "10.9.9.9", 80)), sending("10.0.0.9", `"access_log": [`+toGRPC("logs")+`]`, "far")}},
}

// everyAddress gives both inbounds every address of IPv4, and leaves out the outbound listener, which has the port of one.
func everyAddress(dump any) any {
	return drop("configs.0.dynamic_listeners.2")(put("configs.0.dynamic_listeners.1.active_state.listener.address.socket_address.address", `"0.0.0.0"`)(put(listener+".address.socket_address.address", `"0.0.0.0"`)(dump)))
}

// checkedByPOST is a cluster whose endpoint is checked by POST.
func checkedByPOST(ip string) string {
	return having(static("checked", ip, 8080), `"health_checks": [{"timeout": "1s", "interval": "1s", "unhealthy_threshold": 1, "healthy_threshold": 1, "http_health_check": {"path": "/admin/delete", "method": "POST"}}]`)
}

// TestAddressesOfDataplane holds sidecars that send requests to a further address which their Dataplane states.
func TestAddressesOfDataplane(t *testing.T) {
	t.Parallel()
	const at, advertised = "address: 10.0.0.7", "address: 10.0.0.7\n  advertisedAddress: 203.0.113.5"
	second := "configs.0.dynamic_listeners.1.active_state.listener"
	overTLS := func(name string) string { return having(static(name, "203.0.113.5", 8080), meshTLS("")) }
	unbound := []edit{put(second+".address.socket_address.address", `"10.0.0.8"`), put(second+".freebind", `true`), put(route+".route.request_mirror_policies", `[{"cluster": "copy"}]`)}
	for name, tt := range map[string]struct {
		old, stated string
		want        outcome
		edits       []edit
	}{
		"a log over mTLS to the advertised address":                {at, advertised, unverified, []edit{logging("logs"), clusters(ownCluster, redis, overTLS("logs"))}},
		"a log over mTLS to an address that nothing states":        {at, at, verified, []edit{logging("logs"), clusters(ownCluster, redis, overTLS("logs"))}},
		"an outbound listener over mTLS to the advertised address": {at, advertised, unverified, []edit{sending("10.0.0.9", "", "self"), clusters(ownCluster, redis, overTLS("self"))}},
		"a name that others use":                                   {at, at + "\n  advertisedAddress: payments.example", unverified, nil},
		"copies to the address of another inbound":                 {"{port: 6379,", "{port: 6379, address: 10.0.0.8,", unverified, append([]edit{clusters(ownCluster, static("self_inbound_dp_6379", "10.0.0.8", 6379), static("copy", "10.0.0.8", 7777))}, unbound...)},
		"copies to another machine":                                {"{port: 6379,", "{port: 6379, address: 10.0.0.8,", verified, append([]edit{clusters(ownCluster, static("self_inbound_dp_6379", "10.0.0.8", 6379), static("copy", "10.9.9.9", 7777))}, unbound...)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matchedStating(t, tt.old, tt.stated, tt.edits...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}

// TestCopiesToPod sends copies of requests to further addresses of a pod.
func TestCopiesToPod(t *testing.T) {
	t.Parallel()
	copying := func(ip string, port int) edit {
		return func(dump any) any {
			return put(shopHTTP+".filters.1.typed_config.route_config.virtual_hosts.0.routes.0.route.request_mirror_policies", `[{"cluster": "copy"}]`)(istioCluster(static("copy", ip, port))(dump))
		}
	}
	two := put(instanceIPs, `"10.244.0.12,10.99.0.5"`)
	for name, tt := range map[string]struct {
		want  outcome
		edits []edit
	}{
		"to the address of the pod":              {unverified, []edit{copying("10.244.0.12", 5000)}},
		"to its address of IPv6":                 {unverified, []edit{bothFamilies, copying("fd00::12", 5000)}},
		"to its second address of IPv4":          {unverified, []edit{two, copying("10.99.0.5", 5000)}},
		"to the first of its addresses of IPv4":  {unverified, []edit{two, copying("10.244.0.12", 5000)}},
		"to another pod":                         {verified, []edit{bothFamilies, copying("fd00::13", 5000)}},
		"to the own port of its address of IPv6": {verified, []edit{bothFamilies, copying("fd00::12", 8080)}},
		"to another pod, beside two of its own":  {verified, []edit{two, copying("10.99.0.6", 5000)}},
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

// served is a server of configuration behind a cluster, and asksFor a cluster that takes its endpoints from a source.
func served(cluster string) string {
	return fmt.Sprintf(`{"api_config_source": {"api_type": "GRPC", "grpc_services": [{"envoy_grpc": {"cluster_name": %q}}]}}`, cluster)
}

func asksFor(name, source string) string {
	return byEDS(name, `"eds_cluster_config": {"eds_config": `+source+`}`)
}
