package sidecar

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
)

// callees are where this Envoy sends requests of its own, such as logs, traces and statistics. Callers who are refused set some of
// them off. A listener of the same Envoy that gets them sends them on, and an inbound behind it sees this sidecar for the caller.
type callees struct {
	// hosts are the addresses of endpoints. A name, which may be any address, is the zero value.
	hosts addressesByPort
	// sockets are the names of those in the file system.
	sockets map[string]bool
	// anywhere is set where nothing tells an endpoint.
	anywhere bool
}

// gatherCallees gathers where all listeners and the bootstrap send requests of their own.
func (r *reader) gatherCallees() callees {
	of := r.gatherCalled(newLeading())
	for _, d := range r.Listeners {
		leads := r.leadsOf(d.Message, chainsOf(d.Message)...)
		if inbound, _ := direction(d.Message); !inbound {
			// Their names are those of services, as those of clusters are, and some stand in fields that call nothing.
			leads.calls.clusters = nil
		}
		maps.Copy(of.names, r.gatherCalled(leads).names)
	}
	out := callees{hosts: addressesByPort{}, sockets: map[string]bool{}}
	for name := range of.names {
		c := r.Clusters[name].Message
		out.anywhere = out.anywhere || r.mayLeadAnywhere(name)
		eachAddress(r.assignmentOf(c), func(address *corev3.Address) {
			if pipe := address.GetPipe(); pipe != nil {
				out.sockets[nameSocket(pipe.Path)] = true
			} else {
				for _, ip := range hostsOf(c, address.GetSocketAddress()) {
					out.hosts.add(ip, uint16(address.GetSocketAddress().GetPortValue()))
				}
			}
		})
	}
	return out
}

// gatherCalled returns the clusters that get requests of Envoy's own, by a chain or by the bootstrap.
func (r *reader) gatherCalled(l leading) leading {
	out := r.called(l)
	for _, names := range []map[string]bool{l.calls.asked, r.Texts} {
		for name := range names {
			// The control plane is trusted wherever it is, and no caller sets off what is sent there.
			if _, ok := r.Clusters[name]; ok && (l.calls.asked[name] || !r.PlaneTexts[name]) {
				out.add(name)
			}
		}
	}
	return out
}

// mayLeadAnywhere reports whether a cluster may lead elsewhere than to the endpoints that the dump has for it.
func (r *reader) mayLeadAnywhere(name string) bool {
	d := r.Clusters[name]
	c, assignment := d.Message, r.assignmentOf(d.Message)
	finds := discovery(c)
	anywhere := len(d.Faults) > 0 || finds == byOther || c.GetOriginalDstLbConfig() != nil || finds == clusterv3.Cluster_EDS && assignment == nil
	doubt := func(at *messages.Path, _ string) {
		anywhere = anywhere || !strings.HasSuffix(at.String(), ".endpoint.address.pipe")
	}
	checkCluster(c.ProtoReflect(), nil, doubt)
	checkCluster(assignment.ProtoReflect(), nil, doubt)
	return anywhere
}

// mayReach reports whether a listener may get requests of Envoy's own. One that binds no port gets redirected connections, and nothing
// redirects those of Envoy to loopback.
func (c callees) mayReach(l *listenerv3.Listener) bool {
	return bindsPort(l) && c.anywhere || c.nameListener(l)
}

// nameListener reports whether an endpoint of the callees may be an address of a listener that binds its port.
func (c callees) nameListener(l *listenerv3.Listener) bool {
	return bindsPort(l) && slices.ContainsFunc(addressesOf(l), func(address *corev3.Address) bool {
		if pipe := address.GetPipe(); pipe != nil {
			return c.sockets[nameSocket(pipe.Path)]
		}
		socket := address.GetSocketAddress()
		ip, err := parseIP(socket.GetAddress())
		ip = ip.Unmap()
		return slices.ContainsFunc(c.hosts[uint16(socket.GetPortValue())], func(host netip.Addr) bool {
			return err != nil || !host.IsValid() || host == ip || host.IsUnspecified() || ip.IsUnspecified()
		})
	})
}

// tellOwnCalls tells about inbounds whose requests of their own may come to an inbound of this sidecar over TLS, which sees the sidecar
// for the caller. Without TLS an inbound refuses them.
func (r *reader) tellOwnCalls(g guarded) {
	for i, in := range r.sidecar.Inbounds {
		if name := r.callsInbound(r.leads[i], g); name != "" {
			reason := fmt.Sprintf("a logger, a tracer or a filter sends requests to the cluster %q, which may lead to an inbound of this sidecar: it sees the sidecar for a caller, and a caller who is refused sets them off", name)
			r.found.add(dump.Unknown{Kind: dump.Exposed, Listener: in.Listener, Chain: in.Chain, Reason: reason})
		}
	}
}

// callsInbound returns a cluster that gets requests of Envoy's own, and may lead over TLS to an inbound; "" for none.
func (r *reader) callsInbound(l leading, g guarded) string {
	for _, name := range slices.Sorted(maps.Keys(r.gatherCalled(l).names)) {
		if r.meetsInbound(name, g) {
			return name
		}
	}
	return ""
}

// meetsInbound reports whether a cluster may lead to the address of an inbound with a certificate of this sidecar.
func (r *reader) meetsInbound(name string, g guarded) bool {
	d := r.Clusters[name]
	c := d.Message
	if isAnonymous(c) && !r.leadsToSidecars(d) {
		return false
	}
	if r.mayLeadAnywhere(name) {
		return true
	}
	found := false
	eachEndpoint(r.assignmentOf(c), func(socket *corev3.SocketAddress) {
		ip := hostOf(c, socket)
		found = found || (!ip.IsValid() || r.mayBeOwn(ip)) && slices.ContainsFunc(g.addresses, func(a netip.AddrPort) bool {
			return a.Port() == 0 || uint32(a.Port()) == socket.GetPortValue()
		})
	})
	return found
}

// knownAnonymous lists the fields of transport sockets that show no certificate.
var knownAnonymous = messages.Closed{
	"envoy.config.core.v3.TransportSocket": {messages.Read: "typed_config", measures: "name"},
	rawBuffer:                              {},
	upstreamTLS: {
		messages.Read: "common_tls_context",
		presents:      "sni auto_host_sni auto_sni_san_validation allow_renegotiation max_session_keys enforce_rsa_key_usage",
	},
	"envoy.extensions.transport_sockets.tls.v3.CommonTlsContext": {
		presents: "tls_params alpn_protocols",
		narrows:  "validation_context combined_validation_context validation_context_sds_secret_config",
	},
}

var checkAnonymous = knownAnonymous.Checker()

// isAnonymous reports whether a cluster shows no certificate, so that each inbound refuses it. One that is made of others has their
// transport sockets.
func isAnonymous(c *clusterv3.Cluster) bool {
	anonymous := discovery(c) != byOther
	sockets := []*corev3.TransportSocket{c.GetTransportSocket()}
	for _, match := range c.GetTransportSocketMatches() {
		sockets = append(sockets, match.TransportSocket)
	}
	for _, socket := range sockets {
		checkAnonymous(socket.ProtoReflect(), nil, func(*messages.Path, string) { anonymous = false })
	}
	return anonymous
}
