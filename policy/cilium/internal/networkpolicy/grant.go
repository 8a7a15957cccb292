package networkpolicy

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/labelselector"
)

// grant is one peer of a rule on one port: what the rule lets in, or shuts out where it is one of denials.
type grant struct {
	endpoints subject
	peer      peerItem
	// traffic is nil for every port and message, a [PortRule] of one port, or messages of ICMP.
	traffic any
	// demands is a text of the HTTP rules and the authentication that the rule asks for.
	demands string
}

// grants returns the peers of a rule, each on each port.
func (r Ingress) grants(of subject) (out []grant) {
	r.eachPart(func(peer peerItem, what any, _ bool) { out = append(out, r.grantOf(of, peer, what)) })
	return out
}

func (r Ingress) grantOf(of subject, peer peerItem, traffic any) grant {
	entry, _ := traffic.(PortRule)
	entry.Ports = nil
	return grant{of, peer, traffic, written(entry, r.Authentication)}
}

// isLike reports whether two grants are surely about the same connections, and demand the same.
func (g grant) isLike(other grant) bool {
	return g.demands == other.demands && g.covers(other) && other.covers(g)
}

// covers reports whether the grant surely has each connection of another one. What the two demand is no part of it.
func (g grant) covers(other grant) bool {
	return g.endpoints.covers(other.endpoints) && g.coversPeerOf(other) && coversPort(g.traffic, other.traffic)
}

// coversPort reports whether what a grant says of ports has each packet of what another one says.
func coversPort(wide, narrow any) bool {
	if wide == nil {
		return true
	}
	of, isPort := wide.(PortRule)
	other, isOther := narrow.(PortRule)
	if !isPort || !isOther {
		return narrow != nil && !isPort && !isOther && written(wide) == written(narrow)
	}
	return len(of.Ports) == 1 && len(other.Ports) == 1 && of.Ports[0].covers(other.Ports[0])
}

// covers reports whether a port has each number and protocol of another one. The port 0 is every port, and a name covers itself alone.
// ANY are the protocols that have ports.
func (p PortProtocol) covers(other PortProtocol) bool {
	if p.Protocol != other.Protocol && !(p.isOfAll() && (other.isOfAll() || !slices.Contains(protocols[portless:], other.Protocol))) {
		return false
	}
	first, err := endpoint.Port(p.Port)
	from, errOther := endpoint.Port(other.Port)
	switch {
	case p.Port == "0" && p.EndPort == 0:
		return true
	case err != nil || errOther != nil:
		return err != nil && errOther != nil && strings.EqualFold(p.Port, other.Port)
	default:
		return first > 0 && first <= from && max(int32(from), other.EndPort) <= max(int32(first), p.EndPort)
	}
}

// coversPeerOf reports whether the peer of a grant surely has each caller of the peer of another one.
func (g grant) coversPeerOf(other grant) bool {
	switch wide := g.peer.item.(type) {
	case nil:
		return true // everybody
	case string:
		if g.peer.field == "fromEntities" {
			return coversPeer(wide, other.peer)
		}
	case Selector:
		narrow, ok := other.peer.item.(Selector)
		switch {
		case !ok:
			return false
		case asksForReserved(wide) || asksForReserved(narrow):
			return written(wide) == written(narrow)
		case asksForCluster(narrow) && !asksForCluster(wide):
			return false // the wide one has pods of the own cluster alone
		default:
			return g.pinned(wide).covers(other.pinned(narrow))
		}
	}
	of, isBlock := g.peer.block()
	narrow, isOther := other.peer.block()
	return isBlock && isOther && of.covers(narrow)
}

// coversPeer reports whether an entity has each caller of a peer.
func coversPeer(entity string, peer peerItem) bool {
	named, _ := peer.item.(string)
	isEntity := peer.field == "fromEntities"
	of, isSelector := peer.item.(Selector)
	ofPods := isSelector && !asksForReserved(of)
	switch {
	case entity == entityAll, isEntity && named == entity:
		return true
	case entity == entityWorld:
		_, isBlock := peer.block()
		return isBlock
	case entity == entityCluster:
		return isEntity && !slices.Contains(played, named) || ofPods && !asksForCluster(of)
	case entity == entityClusterMesh:
		return ofPods && !asksForCluster(of)
	default:
		return false
	}
}

// asksForCluster reports whether a selector asks for a cluster, also for the lack of one.
func asksForCluster(s Selector) bool {
	return slices.ContainsFunc(s.Requirements(), func(e labelselector.Expression) bool {
		_, key := sourceOf(e.Key)
		return key == clusterLabel
	})
}

// pinned returns a selector of peers as Cilium reads it in a policy about the endpoints.
func (g grant) pinned(of Selector) (out selector) {
	for _, e := range of.Requirements() {
		source, key := sourceOf(e.Key)
		out.requirements = append(out.requirements, requirement{source, key, e.Operator, e.Values})
	}
	ofInit := slices.ContainsFunc(g.endpoints.requirements, func(r requirement) bool { return r.key == sourceReserved+":"+initLabel })
	return out.pinPeers(g.endpoints.namespace, ofInit)
}

// covers reports whether a selector surely has each pod of another one.
func (s selector) covers(other selector) bool {
	return !slices.ContainsFunc(s.requirements, func(r requirement) bool {
		return !slices.ContainsFunc(other.requirements, func(from requirement) bool {
			isThere := from.operator == labelselector.In || from.operator == labelselector.Exists
			return (r.source == from.source || r.source == sourceAny && isThere) && r.follows(from)
		})
	})
}

// block returns the addresses of a peer, and whether it is some.
func (p peerItem) block() (out block, ok bool) {
	written := CIDRRule{}
	switch item := p.item.(type) {
	case string:
		if p.field != "fromCIDR" {
			return out, false
		}
		written.CIDR = item
	case CIDRRule:
		written = item
	}
	of, err := netip.ParsePrefix(written.CIDR)
	out.prefix = of.Masked()
	for _, text := range written.Except {
		except, err := netip.ParsePrefix(text)
		if err != nil {
			return out, false
		}
		out.except = append(out.except, except.Masked())
	}
	return out, err == nil && !written.isOfGroup()
}

// covers reports whether a block has each address of another one.
func (b block) covers(other block) bool {
	has := func(wide, narrow netip.Prefix) bool {
		return wide.Bits() <= narrow.Bits() && wide.Contains(narrow.Addr())
	}
	return has(b.prefix, other.prefix) && !slices.ContainsFunc(b.except, func(hole netip.Prefix) bool {
		return hole.Overlaps(other.prefix) && !slices.ContainsFunc(other.except, func(e netip.Prefix) bool { return has(e, hole) || has(e, other.prefix) })
	})
}
