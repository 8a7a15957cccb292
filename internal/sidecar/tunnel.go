package sidecar

import (
	"slices"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
)

// tunnelPort is the port of HBONE. Istio redirects none of its connections to a sidecar, also none of the sidecar to itself.
const tunnelPort = 15008

// knownTunnels lists the fields of the listener inside of Envoy by which a sidecar of Istio opens tunnels (HBONE), where Istio has ambient
// mode (connect_originate of pilot/pkg/networking/core/listener_waypoint.go). With any other field it is an inbound.
var knownTunnels = messages.Closed{
	"envoy.config.listener.v3.Listener": {
		messages.Read: "listener_filters filter_chains",
		apart:         "use_original_dst internal_listener access_log",
		measures:      "name stat_prefix metadata",
	},
	"envoy.config.listener.v3.ListenerFilter": {messages.Read: "typed_config", measures: "name"},
	originalDst:                            {},
	"envoy.config.listener.v3.FilterChain": {messages.Read: "filters", measures: "name"},
	"envoy.config.listener.v3.Filter":      {messages.Read: "typed_config", measures: "name"},
	tcpProxy: {
		messages.Read: "tunneling_config",
		apart:         "cluster access_log",
		measures:      "stat_prefix access_log_options",
		limits:        "idle_timeout",
	},
	tcpProxy + ".TunnelingConfig": {apart: "hostname"},
}

var checkTunnels = knownTunnels.Checker()

// carriesTunnels says of a listener of Istio's own by which tunnels come or go that it is one; "" for another listener.
func (r *reader) carriesTunnels(d dump.Decoded[*listenerv3.Listener]) string {
	switch {
	case r.ends.has(d.Message):
		return "Istio's own: tunnels (HBONE) of other machines end there, over mTLS; each chain behind them was held against an inbound for its port, and judges the same callers alike, where a certificate has one name (URI)"
	case r.opensTunnels(d):
		return "Istio's own: it opens tunnels (HBONE) to other machines over mTLS, and leads to no workload of this one"
	default:
		return ""
	}
}

// opensTunnels reports whether a listener is such a one: what comes to it from inside of Envoy goes over mTLS of the mesh to the port of HBONE
// of a machine. No listener of this Envoy gets connections to that port, or it is the one where tunnels end: a workload that calls its own service
// meets its own filters there, as it does without a tunnel. So it leads to no workload without its certificate. What it logs goes to no cluster.
func (r *reader) opensTunnels(d dump.Decoded[*listenerv3.Listener]) bool {
	l := d.Message
	if l.GetInternalListener() == nil || l.GetUseOriginalDst().GetValue() || len(d.Faults) > 0 || !r.IsDump || len(r.Nodes) == 0 {
		return false // most listeners: their chains are many
	}
	leads := r.leadsOf(l, chainsOf(l)...)
	ok := len(leads.names) > 0 && !leads.chosen && len(leads.calls.asked)+len(leads.calls.unread) == 0
	for _, node := range r.Nodes {
		ok = ok && strings.HasPrefix(node.ID, "sidecar~")
	}
	checkTunnels(l.ProtoReflect(), nil, func(*messages.Path, string) { ok = false })
	for name := range leads.names {
		ok = ok && r.leadsToTunnels(r.Clusters[name])
	}
	return ok && !slices.ContainsFunc(r.Listeners, func(d dump.Decoded[*listenerv3.Listener]) bool {
		return servesTunnels(d.Message) && !r.ends.has(d.Message)
	})
}

// leadsToTunnels reports whether a cluster goes over mTLS of the mesh to the port of HBONE, whatever says to which machine.
func (r *reader) leadsToTunnels(d dump.Decoded[*clusterv3.Cluster]) bool {
	if d.Message == nil || d.Message.GetOriginalDstLbConfig().GetUpstreamPortOverride().GetValue() != tunnelPort || discovery(d.Message) != clusterv3.Cluster_ORIGINAL_DST {
		return false
	}
	d.Message = proto.CloneOf(d.Message)
	d.Message.LbConfig = nil
	return r.leadsToSidecars(d)
}

// servesTunnels reports whether a listener has the port of HBONE, or a chain for it. One that binds no port gets redirected connections alone,
// such as those of the workload to a waypoint.
func servesTunnels(l *listenerv3.Listener) bool {
	if !bindsPort(l) {
		return false
	}
	for _, address := range addressesOf(l) {
		if address.GetSocketAddress().GetPortValue() == tunnelPort {
			return true
		}
	}
	return slices.ContainsFunc(chainsOf(l), func(chain *listenerv3.FilterChain) bool {
		return chain.GetFilterChainMatch().GetDestinationPort().GetValue() == tunnelPort
	})
}
