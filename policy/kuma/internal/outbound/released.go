package outbound

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/destination"
	"github.com/meshproof/meshproof/policy/kuma/internal/route"
)

// unprovenLimits are the limits that released Kuma may leave out of the cluster of a backend: most of those of a
// service of several zones, and those of a port that a route names in another way.
func (b *builder) unprovenLimits() (out []routing.Ignored) {
	if b.design != Released {
		return nil
	}
	for i := range b.destinations {
		if d := &b.destinations[i]; d.Kind == destination.MeshMultiZoneService {
			for _, p := range d.Ports {
				out = append(out, b.unknownProtocol(d, p)...)
			}
		}
	}
	for _, r := range b.routes {
		for _, item := range r.To {
			for _, rule := range item.Rules {
				for _, backend := range rule.Backends {
					out = append(out, b.otherSection(r, backend)...)
				}
			}
		}
	}
	return out
}

// unknownProtocol are the limits of a port of a MeshMultiZoneService. Released Kuma does not take the protocol of its cluster from the
// port, but from the tags of its endpoints, and those of another zone have none.
func (b *builder) unknownProtocol(d *destination.Destination, p destination.Port) (out []routing.Ignored) {
	id := d.PortID(p)
	if !b.used[id] || p.Protocol.Layer() == policy.L4 {
		return nil
	}
	conf := b.portConf(d, p)
	for _, e := range slices.Concat(b.timeouts.resources[id], b.timeouts.mesh) {
		for bound := range routing.Bounds {
			isOfCluster := bound.Level() == routing.OfCluster && bound != routing.Connection && !b.design.leavesOut(bound, p.Protocol)
			if isOfCluster && e.sets(conf[bound], bound) && conf[bound].Time != defaults[bound].Time {
				out = append(out, e.unproven(fmt.Sprintf(
					"released Kuma sets no %s on the cluster of %s where an endpoint of it is of another zone, or has no tag of the protocol: bound the requests by requestTimeout or streamIdleTimeout", bound, id)))
			}
		}
	}
	return out
}

// otherSection are the limits for a port by its name, of a backend that names the port by its number. Released Kuma looks for the
// limits of the cluster by what the backend names.
func (b *builder) otherSection(of *route.Route, backend route.Backend) (out []routing.Ignored) {
	written := backend.Ref.Section
	if backend.Port != 0 {
		written = strconv.Itoa(int(backend.Port))
	}
	meant := b.destinationsMeant(backend.Ref, &of.Resource)
	if len(meant) == 0 || written == "" {
		return nil
	}
	p, ok := meant[0].Port(written)
	if !ok || p.Section() == written {
		return nil
	}
	id, conf := meant[0].PortID(p), b.portConf(meant[0], p)
	if bound, ok := b.ofSection(id, conf, p.Protocol); ok {
		out = append(out, routing.Ignored{
			Origin: of.Origin, Place: of.Doc.Place(backend.Ref.Field), Policy: of.Place(), Kind: warning.LimitWithoutEffect, Unproven: true,
			Reason: fmt.Sprintf("it names the port %s of %s by its number, and released Kuma sets no limit there that is for the port by its name, such as the %s of %s: set it on the whole service",
				p.Section(), meant[0], bound, conf[bound].Place),
		})
	}
	return out
}

// ofSection returns a limit of a cluster that comes from an item for one port.
func (b *builder) ofSection(id kri.KRI, conf [routing.Bounds]routing.Limit, protocol policy.Protocol) (routing.Bound, bool) {
	for _, e := range b.timeouts.resources[id] {
		for bound := range routing.Bounds {
			has := bound.Level() == routing.OfCluster && (protocol.Layer() == policy.L7 || bound == routing.Connection) && !b.design.leavesOut(bound, protocol)
			if has && e.item.Ref.Section != "" && e.sets(conf[bound], bound) {
				return bound, true
			}
		}
	}
	return 0, false
}

// sets reports whether a limit comes from the item.
func (e entry) sets(limit routing.Limit, bound routing.Bound) bool {
	return limit.Origin != "" && e.item.Conf[bound].Place == limit.Place && e.policy.Origin == limit.Origin
}

// unproven says that nobody knows whether the item has an effect.
func (e entry) unproven(reason string) routing.Ignored {
	return routing.Ignored{Origin: e.policy.Origin, Place: e.policy.Doc.Place(e.item.Ref.Field), Policy: e.policy.Place(), Kind: warning.LimitWithoutEffect, Reason: reason, Unproven: true}
}
