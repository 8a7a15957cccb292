package sidecar

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	dnsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/dns/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
)

// workloadsOf names where clusters lead: the clusters, and the endpoints of clusters on
// this machine, or anywhere.
func (r *reader) workloadsOf(l leading, anywhere bool) []string {
	out := slices.DeleteFunc(slices.Sorted(maps.Keys(l.names)), r.isBlackHole)
	for _, name := range out[:len(out):len(out)] {
		c := r.Clusters[name].Message
		eachEndpoint(r.assignmentOf(c), func(socket *corev3.SocketAddress) {
			ip := hostOf(c, socket)
			if ip.IsValid() && (anywhere || r.isOwn(ip)) {
				out = append(out, fmt.Sprintf("port %d of the workload", socket.GetPortValue()))
			}
		})
		for _, to := range l.destinations[name] {
			if to.Port() != 0 {
				out = append(out, fmt.Sprintf("port %d of the workload", to.Port()))
			}
		}
	}
	return out
}

// endpointsOf returns the endpoints that clusters lead to, each once. What listens where a connection was going may listen on
// loopback too. Port 0 stands for every port.
func (r *reader) endpointsOf(l leading) (out []Endpoint) {
	for _, name := range slices.Sorted(maps.Keys(l.names)) {
		c := r.Clusters[name].Message
		eachEndpoint(r.assignmentOf(c), func(socket *corev3.SocketAddress) {
			ip := hostOf(c, socket)
			e := Endpoint{
				AddrPort:  netip.AddrPortFrom(ip, uint16(socket.GetPortValue())),
				OnMachine: ip.IsValid() && (ip.IsLoopback() || ip.IsUnspecified() || r.statesAddress(ip) || r.bound[ip]),
				maybeOwn:  r.mayBeOwn(ip),
				Mirror:    !l.answering[name],
			}
			if ip.IsValid() && !slices.Contains(out, e) {
				out = append(out, e)
			}
		})
		for _, to := range l.destinations[name] {
			for _, ip := range []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback(), to.Addr()} {
				e := Endpoint{AddrPort: netip.AddrPortFrom(ip, to.Port()), OnMachine: true, maybeOwn: true, Mirror: !l.answering[name]}
				if ip.IsValid() && !slices.Contains(out, e) {
					out = append(out, e)
				}
			}
		}
	}
	return out
}

// isOwn reports whether an address may be one of this machine.
func (r *reader) isOwn(ip netip.Addr) bool {
	return ip.IsValid() && (ip.IsLoopback() || ip.IsUnspecified() || r.addresses[ip] || slices.Contains(r.described, ip))
}

// mayBeOwn reports the same of an address that a node states, or that may be one which nothing states.
func (r *reader) mayBeOwn(ip netip.Addr) bool {
	return r.isOwn(ip) || r.statesAddress(ip) || ip.IsValid() && r.unstated
}

// unreadOf returns a cluster if nothing tells where the cluster leads, and why; "" where all are
// read.
func (r *reader) unreadOf(l leading) (name, reason string) {
	for _, name := range slices.Sorted(maps.Keys(l.names)) {
		if reason := r.unreadCluster(name); reason != "" {
			return name, reason
		}
	}
	return "", ""
}

// unreadCluster says why nothing tells where a cluster leads; "" for a cluster of IP addresses
// and for a cluster that leads where the connection was going.
func (r *reader) unreadCluster(name string) (reason string) {
	d, ok := r.Clusters[name]
	switch {
	case len(r.Clusters) == 0:
		return "is not in the dump, which has no clusters: take the whole one, as /config_dump?include_eds or istioctl proxy-config all -o json prints it"
	case !ok:
		return absentCluster
	}
	c := d.Message
	assignment := r.assignmentOf(c)
	switch finds := discovery(c); {
	case finds == byOther:
		return fmt.Sprintf("has the type %q, which may lead anywhere", c.GetClusterType().GetName())
	case c.GetOriginalDstLbConfig() != nil:
		return "lets callers choose an endpoint"
	case finds == clusterv3.Cluster_EDS && assignment == nil:
		return "finds its endpoints by EDS, and they are not in the dump: take it with ?include_eds"
	}
	reason = elsewhere(d, assignment)
	eachEndpoint(assignment, func(socket *corev3.SocketAddress) {
		if !hostOf(c, socket).IsValid() {
			reason = cmp.Or(reason, fmt.Sprintf("has the endpoint %q, which is no IP address", socket.GetAddress()))
		}
	})
	return reason
}

// elsewhere says what of a cluster may lead elsewhere than to its endpoints, "" for nothing.
func elsewhere(d dump.Decoded[*clusterv3.Cluster], assignment *endpointv3.ClusterLoadAssignment) (reason string) {
	tell := func(at *messages.Path, why string) {
		reason = cmp.Or(reason, fmt.Sprintf("may lead elsewhere: %s: %s", at, why))
	}
	for _, fault := range d.Faults {
		tell(fault.Path, fault.What)
	}
	checkCluster(d.Message.ProtoReflect(), nil, tell)
	checkCluster(assignment.ProtoReflect(), (*messages.Path)(nil).Field("load_assignment"), tell)
	// Health checks and the like may run code, although they do not choose where requests go.
	messages.Visitor{
		Closed:  func(typeURL, why string, at *messages.Path) { tell(at, messages.Name(typeURL)+": "+why) },
		Opened:  func(string, []messages.Fault, *messages.Path) {},
		Message: func(protoreflect.Message, *messages.Path) {},
	}.Visit(d.Message.ProtoReflect())
	return reason
}

// byOther is an extension that finds endpoints in a way of its own.
const byOther = clusterv3.Cluster_DiscoveryType(-1)

// discoveries are the names of extensions that find endpoints as a type does. Releases of
// Envoy spell their prefix in two ways.
var discoveries = map[string]clusterv3.Cluster_DiscoveryType{
	"static":       clusterv3.Cluster_STATIC,
	"original_dst": clusterv3.Cluster_ORIGINAL_DST,
	"eds":          clusterv3.Cluster_EDS,
	"dns":          clusterv3.Cluster_STRICT_DNS,
	"strict_dns":   clusterv3.Cluster_STRICT_DNS,
	"logical_dns":  clusterv3.Cluster_LOGICAL_DNS,
}

// discovery returns how a cluster finds its endpoints, by its type or by an extension.
func discovery(c *clusterv3.Cluster) clusterv3.Cluster_DiscoveryType {
	extension := c.GetClusterType()
	if extension == nil {
		return c.GetType()
	}
	prefix, name, _ := strings.Cut(strings.TrimPrefix(extension.Name, "envoy."), ".")
	finds, ok := discoveries[name]
	if !ok || prefix != "cluster" && prefix != "clusters" {
		return byOther
	}
	if packed := extension.GetTypedConfig(); packed != nil {
		m, _, _ := messages.Unpack(packed)
		if _, ok := m.(*dnsv3.DnsCluster); !ok || finds != clusterv3.Cluster_STRICT_DNS && finds != clusterv3.Cluster_LOGICAL_DNS {
			return byOther
		}
	}
	return finds
}

// assignmentOf returns the endpoints of a cluster, also where EDS gave them; nil where there
// are none.
func (r *reader) assignmentOf(c *clusterv3.Cluster) *endpointv3.ClusterLoadAssignment {
	if discovery(c) == clusterv3.Cluster_EDS {
		return r.Assignments[cmp.Or(c.GetEdsClusterConfig().GetServiceName(), c.GetName())]
	}
	return c.GetLoadAssignment()
}

func eachEndpoint(of *endpointv3.ClusterLoadAssignment, do func(*corev3.SocketAddress)) {
	eachAddress(of, func(address *corev3.Address) { do(address.GetSocketAddress()) })
}

// eachAddress calls do with the address of each endpoint, which may be one of a socket of the machine too.
func eachAddress(of *endpointv3.ClusterLoadAssignment, do func(*corev3.Address)) {
	for _, locality := range of.GetEndpoints() {
		for _, endpoint := range locality.LbEndpoints {
			do(endpoint.GetEndpoint().GetAddress())
		}
	}
}

// hostOf returns the IP address of an endpoint. Every resolver takes localhost for this
// machine; other names may lead anywhere.
func hostOf(c *clusterv3.Cluster, socket *corev3.SocketAddress) netip.Addr {
	return hostsOf(c, socket)[0]
}

// hostsOf returns the IP addresses that an endpoint may have. Those of localhost are of both families: dns_lookup_family and the
// machine say which Envoy takes, ::1 first where neither says otherwise. Another name has the zero value alone.
func hostsOf(c *clusterv3.Cluster, socket *corev3.SocketAddress) []netip.Addr {
	finds := discovery(c)
	if socket.GetAddress() == "localhost" && (finds == clusterv3.Cluster_STRICT_DNS || finds == clusterv3.Cluster_LOGICAL_DNS) {
		return loopbacks
	}
	ip, err := parseIP(socket.GetAddress())
	if err != nil {
		return []netip.Addr{{}}
	}
	return []netip.Addr{ip.Unmap()}
}

// direct returns the clusters that may lead to a workload without a sidecar in between.
func (r *reader) direct(l leading) leading {
	l.names = maps.Clone(l.names)
	maps.DeleteFunc(l.names, func(name string, _ bool) bool { return r.leadsToSidecars(r.Clusters[name]) })
	return l
}

// leadsToSidecars reports whether every connection of a cluster demands a certificate of
// the mesh. No workload has one: a sidecar answers, which judges the caller by itself.
func (r *reader) leadsToSidecars(d dump.Decoded[*clusterv3.Cluster]) bool {
	c := d.Message
	sound := len(d.Faults) == 0 && discovery(c) != byOther && c.GetOriginalDstLbConfig() == nil
	doubt := func(*messages.Path, string) { sound = false }
	checkCluster(c.ProtoReflect(), nil, doubt)
	sockets := []*corev3.TransportSocket{c.GetTransportSocket()}
	for _, match := range c.GetTransportSocketMatches() {
		sockets = append(sockets, match.TransportSocket)
	}
	for _, socket := range sockets {
		m, _, _ := messages.Unpack(socket.GetTypedConfig())
		context, _ := m.(*tlsv3.UpstreamTlsContext)
		common := context.GetCommonTlsContext()
		checkTLS(common.ProtoReflect(), nil, doubt)
		secret := common.GetCombinedValidationContext().GetValidationContextSdsSecretConfig()
		own := common.GetCombinedValidationContext().GetDefaultValidationContext()
		sans := own.GetMatchTypedSubjectAltNames()
		sound = sound && own.GetCustomValidatorConfig() == nil && r.givesBundle(secret) && len(sans) > 0 &&
			!slices.ContainsFunc(sans, func(san *tlsv3.SubjectAltNameMatcher) bool { return trustDomainOf(san) == "" })
	}
	return sound
}
