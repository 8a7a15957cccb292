package sidecar

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
)

// knownHealthCheck lists the fields of checks that ask a workload how it is, and tell it nothing. A check passes no filter, and each
// cluster has its own, also one that no listener names.
var knownHealthCheck = messages.Closed{
	"envoy.config.core.v3.HealthCheck": {
		messages.Read: "http_health_check tcp_health_check grpc_health_check",
		apart:         "alt_port event_service",
		measures:      "name event_log_path event_logger always_log_health_check_failures always_log_health_check_success",
		limits: `timeout interval initial_jitter interval_jitter interval_jitter_percent unhealthy_threshold healthy_threshold reuse_connection
			no_traffic_interval no_traffic_healthy_interval unhealthy_interval unhealthy_edge_interval healthy_edge_interval`,
		presents: "tls_options transport_socket_match_criteria",
	},
	"envoy.config.core.v3.HealthCheck.HttpHealthCheck": {
		apart:    "method",
		answers:  "receive response_buffer_size expected_statuses retriable_statuses service_name_matcher",
		presents: "host path request_headers_to_remove codec_client_type use_alpn_protocol",
	},
	"envoy.config.core.v3.HealthCheck.TcpHealthCheck":  {answers: "receive"},
	"envoy.config.core.v3.HealthCheck.GrpcHealthCheck": {presents: "service_name authority"},
}

var checkHealth = knownHealthCheck.Checker()

// tellHealthChecks tells about checks by which Envoy sends more than a question to a workload, or to another process of this machine.
func (r *reader) tellHealthChecks() {
	for _, name := range slices.Sorted(maps.Keys(r.Clusters)) {
		d := r.Clusters[name]
		tell := func(at *messages.Path, why string) {
			r.found.add(dump.Unknown{Kind: dump.Exposed, Path: at.String(), Reason: fmt.Sprintf("the cluster %q checks the health of endpoints: %s", name, why)})
		}
		asks := len(d.Message.HealthChecks) > 0 && r.asksWorkload(name)
		for i, check := range d.Message.HealthChecks {
			at := (*messages.Path)(nil).Field("health_checks").Index(i)
			if check.GetEventService() != nil {
				tell(at.Field("event_service"), "a service gets events that pass no filter")
			}
			if !asks {
				continue
			}
			checkHealth(check.ProtoReflect(), at, func(at *messages.Path, why string) {
				tell(at, why+": what it sends there passes no filter")
			})
			switch method := check.GetHttpHealthCheck().GetMethod(); method {
			case corev3.RequestMethod_METHOD_UNSPECIFIED, corev3.RequestMethod_GET, corev3.RequestMethod_HEAD:
			default:
				tell(at.Field("http_health_check").Field("method"), fmt.Sprintf("by %s requests, which pass no filter", method))
			}
		}
	}
}

// checksWorkload reports whether a cluster may check an endpoint on this machine, or one behind an inbound: a name may be any
// address. A check may go to another address than requests do.
func (r *reader) checksWorkload(c *clusterv3.Cluster) bool {
	for _, locality := range r.assignmentOf(c).GetEndpoints() {
		for _, endpoint := range locality.LbEndpoints {
			of := endpoint.GetEndpoint()
			for _, address := range []*corev3.Address{of.GetAddress(), of.GetHealthCheckConfig().GetAddress()} {
				ip := hostOf(c, address.GetSocketAddress())
				if address != nil && (!ip.IsValid() || r.mayBeOwn(ip) || r.leadsToHost(ip)) {
					return true
				}
			}
		}
	}
	return false
}

// leadsToHost reports whether an inbound leads to an address.
func (r *reader) leadsToHost(ip netip.Addr) bool {
	return slices.ContainsFunc(r.sidecar.Inbounds, func(in Inbound) bool {
		return slices.ContainsFunc(in.Leads, func(to Endpoint) bool { return to.Addr() == ip })
	})
}
