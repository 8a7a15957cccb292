package verify

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
)

// onItsWay is the cluster of the HTTP inbound that sends connections on to where they were going.
const onItsWay = `{"name": "self_inbound_dp_http-port", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED"}`

// byDestination gives the HTTP inbound such a cluster, behind a redirection as Istio has it.
func byDestination(more ...string) []edit {
	return redirected(append([]string{onItsWay, redis}, more...)...)
}

// redirected puts the HTTP inbound behind a redirection, and adds clusters.
func redirected(all ...string) []edit {
	return []edit{
		put(listener+".address.socket_address", `{"address": "0.0.0.0", "port_value": 15006}`),
		put(listener+".listener_filters", `[`+typed("o", "envoy.extensions.filters.listener.original_dst.v3.OriginalDst", "")+`]`),
		put(chain+".filter_chain_match", `{"destination_port": 8080, "prefix_ranges": [{"address_prefix": "10.0.0.7", "prefix_len": 32}]}`),
		clusters(all...),
	}
}

// secondInbound copies the HTTP listener to another address, after some edits.
func secondInbound(edits ...edit) edit {
	named := []edit{put("name", `"in2"`), put("active_state.listener.name", `"in2"`), put("active_state.listener.address.socket_address.address", `"10.0.0.8"`),
		put(copyOf+".stat_prefix", `"in2"`), put(copyOf+".route_config.name", `"in2"`), put(copyOf+".route_config.virtual_hosts.0.name", `"in2"`)}
	return copied("configs.0.dynamic_listeners.0", "configs.0.dynamic_listeners[]", append(named, edits...)...)
}

// secondChain copies the chain of the HTTP inbound to another address, without its filter.
var secondChain = copied(chain, listener+".filter_chains[]", put("name", `"second"`), put("filter_chain_match.prefix_ranges.0.address_prefix", `"10.0.0.8"`),
	put("filters.0.typed_config.stat_prefix", `"in2"`), put("filters.0.typed_config.route_config.name", `"in2"`), put("filters.0.typed_config.route_config.virtual_hosts.0.name", `"in2"`),
	drop("filters.0.typed_config.http_filters.0"), put("filters.0.typed_config.route_config.virtual_hosts.0.routes.0.route.cluster", `"in2"`))

// Places in the copy of a listener, and an inbound of a Dataplane with another one beside it.
const (
	copyOf   = "active_state.listener.filter_chains.0.filters.0.typed_config"
	openly   = copyOf + ".http_filters.0"
	leadsTo  = copyOf + ".route_config.virtual_hosts.0.routes.0.route.cluster"
	twoPorts = "port: 8080, protocol: http}\n    - {name: second, port: 8080, address: 10.0.0.8, "
)

// TestDestinationOfInbounds holds dumps whose inbounds send connections on to where they were going, and dumps with inbounds
// of one port number on two addresses, against a Dataplane.
func TestDestinationOfInbounds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/sidecar/policies/dataplane.yaml")
	if err != nil {
		t.Fatal(err)
	}
	mtp, err := os.ReadFile("../../examples/sidecar/policies/mtp.yaml")
	if err != nil {
		t.Fatal(err)
	}
	ready := serving("/ready", "kuma:readiness", `, "prefix_rewrite": "/ready"`)
	far := static("far", "10.9.9.9", 80)
	for _, tt := range []struct {
		name, chosen string
		// old is replaced by stated in the Dataplane.
		old, stated string
		want        outcome
		edits       []edit
	}{
		{"to where they were going", "", "", "", verified, byDestination()},
		{"the service port is another one", "", "port: 8080,", "port: 8080, servicePort: 9090,", unverified, byDestination()},
		{"the service port is the same", "", "port: 8080,", "port: 8080, servicePort: 8080,", verified, byDestination()},
		{"the service address is of another machine", "", "port: 8080,", "port: 8080, serviceAddress: 10.0.0.99,", unverified, byDestination()},
		{"the service address is of this machine", "", "port: 8080,", "port: 8080, serviceAddress: 127.0.0.1,", verified, byDestination()},
		{"the service address is the address of the Dataplane", "", "port: 8080,", "port: 8080, serviceAddress: 10.0.0.7,", verified, byDestination()},
		{"the inbound that is left out leads to the workload", "dp/http-port", "", "", unverified, append(redirected(onItsWay, static("self_inbound_dp_6379", "127.0.0.1", 8080)), drop(tcpChain+".filters.0"))},
		{"the inbound that is left out leads to its own", "dp/http-port", "", "", verified, byDestination()},
		{"a route of the inbound that is left out leads to the workload", "dp/6379", "", "", unverified, []edit{clusters(ownCluster, `{"name": "self_inbound_dp_6379", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED"}`, static("w", "127.0.0.1", 6379)), push(host+".routes", `{"match": {"prefix": "/debug"}, "route": {"cluster": "w"}}`)}},
		{"an inbound logs to the workload", "", "", "", unverified, append(byDestination(static("w", "127.0.0.1", 8080)), put(tcpProxy+".access_log", `[`+toGRPC("w")+`]`))},
		{"an inbound logs to another machine", "", "", "", verified, append(byDestination(far), put(tcpProxy+".access_log", `[`+toGRPC("far")+`]`))},
		{"the inbound logs to its own workload, on IPv6", "", "", "", unverified, append(byDestination(static("w", "::1", 8080)), put(manager+".access_log", `[`+toGRPC("w")+`]`))},
		{"the inbound logs to where connections were going", "", "", "", unverified, append(byDestination(`{"name": "w", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED"}`), put(manager+".access_log", `[`+toGRPC("self_inbound_dp_http-port")+`]`))},
		{"an outbound listener logs to the workload", "", "", "", unverified, append(byDestination(static("w", "127.0.0.1", 8080), far), sending("10.0.0.9", `"access_log": [`+toGRPC("w")+`]`, "far"))},
		{"an outbound listener logs to another machine", "", "", "", verified, append(byDestination(static("w", "10.9.9.8", 8080), far), sending("10.0.0.9", `"access_log": [`+toGRPC("w")+`]`, "far"))},
		{"to where they were going, of any address", "", "", "", unverified, append(byDestination(), put(chain+".filter_chain_match", `{"destination_port": 8080}`))},
		{"the inbound that is left out has the workload's port", "dp/http-port", "port: 8080,", "port: 8080, servicePort: 6379,", unverified, []edit{clusters(static("self_inbound_dp_http-port", "127.0.0.1", 6379), `{"name": "self_inbound_dp_6379", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED"}`)}},
		{"the cluster has its type by an extension", "", "port: 8080,", "port: 8080, servicePort: 9090,", unverified, redirected(`{"name": "self_inbound_dp_http-port", "cluster_type": {"name": "envoy.clusters.original_dst"}, "lb_policy": "CLUSTER_PROVIDED"}`, redis)},
		{"copies go to where they were going", "", "port: 8080,", "port: 8080, servicePort: 9090,", unverified, append(redirected(static("self_inbound_dp_http-port", "127.0.0.1", 9090), `{"name": "m", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED"}`, redis), put(route+".route.request_mirror_policies", `[{"cluster": "m"}]`))},
		{"Kuma's readiness", "", "", "", verified, append(byDestination(static("kuma:readiness", "127.0.0.1", 9902)), kumaBootstrap, ready)},
		{"Kuma's readiness has the port of the workload", "", "", "", unverified, append([]edit{kumaBootstrap, put(kumaNode+".metadata", `{"dataplane.readinessReporter.port": "8080"}`), ready}, byDestination(static("kuma:readiness", "127.0.0.1", 8080))...)},
		{"Kuma's readiness has the port of an inbound", "", "port: 8080,", "port: 9902,", unverified, append(byDestination(static("kuma:readiness", "127.0.0.1", 9902)), put(chain+".filter_chain_match.destination_port", `9902`), kumaBootstrap, ready)},

		{"an open inbound on another address leads to the workload", "dp/http-port", "port: 8080, protocol: http}", twoPorts + "protocol: http}", unverified, []edit{secondInbound(drop(openly))}},
		{"an open inbound on every address leads to the workload", "dp/http-port", "port: 8080, protocol: http}", twoPorts + "protocol: http}", unverified, []edit{secondInbound(put("active_state.listener.address.socket_address.address", `"0.0.0.0"`), drop(openly))}},
		{"an open inbound on another address leads to a workload of its own", "dp/http-port", "port: 8080, protocol: http}", twoPorts + "servicePort: 9090, protocol: http}", verified, []edit{clusters(ownCluster, redis, static("in2", "127.0.0.1", 9090)), secondInbound(drop(openly), put(leadsTo, `"in2"`))}},
		{"an open inbound on another address leads to the inbound over mTLS", "dp/http-port", "port: 8080, protocol: http}", twoPorts + "servicePort: 9090, protocol: http}", unverified, []edit{clusters(ownCluster, redis, having(static("in2", "10.0.0.7", 8080), meshTLS(""))), secondInbound(drop(openly), put(leadsTo, `"in2"`))}},
		{"an open chain of another address leads to the inbound over mTLS", "dp/http-port", "port: 8080, protocol: http}", "port: 8080, servicePort: 9091, protocol: http}\n    - {name: second, port: 8080, address: 10.0.0.8, servicePort: 9090, protocol: http}", unverified, append(redirected(static("self_inbound_dp_http-port", "127.0.0.1", 9091), redis, having(static("in2", "10.0.0.7", 8080), meshTLS(""))), secondChain)},
		{"an open chain of another address leads to a workload of its own", "dp/http-port", "port: 8080, protocol: http}", "port: 8080, servicePort: 9091, protocol: http}\n    - {name: second, port: 8080, address: 10.0.0.8, servicePort: 9090, protocol: http}", verified, append(redirected(static("self_inbound_dp_http-port", "127.0.0.1", 9091), redis, static("in2", "127.0.0.1", 9090)), secondChain)},

		{"the address of the Dataplane is a name", "", "address: 10.0.0.7", "address: dp.example", unverified, nil},
		{"the address of an inbound is a name", "", "port: 8080,", "port: 8080, address: dp.example,", unverified, nil},
		{"the address of an inbound that is left out is a name", "dp/6379", "port: 8080,", "port: 8080, address: dp.example,", verified, nil},
		{"the address of an inbound is an IP, beside a name", "dp/http-port", "address: 10.0.0.7\n  inbound:\n    - {name: http-port,", "address: dp.example\n  inbound:\n    - {name: http-port, address: 10.0.0.7,", verified, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if !strings.Contains(string(text), tt.old) {
				t.Fatalf("no %q in the Dataplane", tt.old)
			}
			stated := strings.Replace(string(text), tt.old, tt.stated, 1)
			for name, content := range map[string]string{"dataplane.yaml": stated, "mtp.yaml": string(mtp)} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			files, err := lab.Open(lab.Choice{}, dir)
			if err != nil {
				t.Fatal(err)
			}
			all, err := files.CasesFor(lab.Surroundings{}, files.Inbounds())
			if err != nil {
				t.Fatal(err)
			}
			v := matchedDump(t, all, files, tt.chosen, exampleDump(t), append(slices.Clip(tt.edits), completed)...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}

// TestDestinationOfIstio holds Istio's sidecar, all of whose inbounds send connections on to where they were going.
func TestDestinationOfIstio(t *testing.T) {
	t.Parallel()
	elsewhere := func(logs string) edit {
		return add("0.configs.3.static_listeners", `{"listener": {"name": "elsewhere", "traffic_direction": "OUTBOUND", "address": {"socket_address": {"address": "10.244.0.99", "port_value": 7777}}, "access_log": [`+toGRPC(logs)+`], "filter_chains": [{"filters": [`+
			typed("t", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", `"stat_prefix": "x", "cluster": "far"`)+`]}]}}`)
	}
	has := func(cluster string) edit { return add("0.configs.1.static_clusters", `{"cluster": `+cluster+`}`) }
	logs := put(shopHTTP+".filters.1.typed_config.access_log", `[`+toGRPC("w")+`]`)
	traces := func(cluster string) edit {
		return put(shopHTTP+".filters.1.typed_config.tracing", `{"provider": `+typed("z", "envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "`+cluster+`", "collector_endpoint": "/api/v2/spans", "collector_endpoint_version": "HTTP_JSON"`)+`}`)
	}
	sinks := put("0.configs.0.bootstrap.stats_sinks", `[`+typed("s", "envoy.config.metrics.v3.MetricsServiceConfig", `"grpc_service": {"envoy_grpc": {"cluster_name": "w"}}`)+`]`)
	for name, tt := range map[string]struct {
		want  outcome
		edits []edit
	}{
		"an inbound logs to its workload":                        {unverified, []edit{has(static("w", "127.0.0.1", 8080)), logs}},
		"an inbound logs to its workload, by its pod":            {unverified, []edit{has(static("w", "10.244.0.12", 8080)), logs}},
		"an inbound logs to a port of the chain for every one":   {unverified, []edit{has(static("w", "127.0.0.1", 9102)), logs}},
		"an inbound logs to it, and the inbound hands over":      {unverified, []edit{handingOver, has(static("w", "127.0.0.1", 9102)), logs}},
		"an inbound logs to another address of its pod":          {unverified, []edit{put(instanceIPs, `"10.244.0.12,10.244.0.13"`), has(static("w", "10.244.0.13", 8080)), logs}},
		"an inbound logs to its pod, by IPv6":                    {unverified, []edit{bothFamilies, has(static("w", "fd00::12", 8080)), logs}},
		"a pod of both families logs to another machine":         {verified, []edit{bothFamilies, has(static("w", "fd00::99", 8080)), logs}},
		"an inbound logs to where a header says":                 {unverified, []edit{has(`{"name": "w", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED", "original_dst_lb_config": {"use_http_header": true}}`), logs}},
		"statistics to where a header says":                      {unverified, []edit{has(`{"name": "w", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED", "original_dst_lb_config": {"use_http_header": true}}`), sinks}},
		"the listener logs to its workload":                      {unverified, []edit{has(static("w", "127.0.0.1", 8080)), put(istioInbound+".access_log", `[`+toGRPC("w")+`]`)}},
		"an outbound listener of another address logs to it":     {unverified, []edit{has(static("w", "127.0.0.1", 9102)), has(static("far", "10.9.9.9", 80)), elsewhere("w")}},
		"an outbound listener of another address logs to others": {verified, []edit{has(static("w", "10.9.9.8", 9102)), has(static("far", "10.9.9.9", 80)), elsewhere("w")}},
		"an inbound logs to another machine":                     {verified, []edit{has(static("w", "10.9.9.9", 8080)), logs}},
		"an inbound of tcp logs to the workload of another":      {unverified, []edit{has(static("w", "127.0.0.1", 8080)), put(shopTCP+".filters.4.typed_config.access_log", `[`+toGRPC("w")+`]`)}},
		"an inbound for every port logs to a workload":           {unverified, []edit{has(static("w", "127.0.0.1", 8080)), put(anyPortTCP+".filters.4.typed_config.access_log", `[`+toGRPC("w")+`]`)}},
		"an inbound sends spans to its workload":                 {unverified, []edit{has(static("w", "127.0.0.1", 8080)), traces("w")}},
		"an inbound sends spans to another machine":              {verified, []edit{has(static("w", "10.9.9.9", 9411)), traces("w")}},
		"statistics for the workload":                            {unverified, []edit{has(static("w", "127.0.0.1", 8080)), sinks}},
		"statistics for another machine":                         {verified, []edit{has(static("w", "10.9.9.9", 8080)), sinks}},
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
