package networkpolicy

import (
	"slices"

	"github.com/meshproof/meshproof/internal/endpoint"
)

// Of the rules of an endpoint that let a connection in, the one of the fewest ports says what it demands. Where it goes, a rule that was there
// before, and demands less, decides.

// addDemands adds what a rule demands: authentication of each peer, and HTTP of those that the lab cannot play.
func (b *breadth) addDemands(r Ingress, of subject, place string, unplayed []part) {
	add := func(g grant) { b.demanding = append(b.demanding, part{lets: "its peers", place: place, grant: g}) }
	if r.Authentication != nil && r.Authentication.Mode != authDisabled {
		for _, g := range r.grants(of) {
			add(g)
		}
		return
	}
	for _, p := range unplayed {
		if entry, ok := p.traffic.(PortRule); ok && entry.Rules != nil {
			add(p.grant)
		}
	}
}

// lapsed returns the demands that later policies do not make any more, though they may let in the same connections.
func (b breadth) lapsed(later breadth) []part {
	return slices.DeleteFunc(slices.Clone(b.demanding), func(p part) bool {
		return slices.ContainsFunc(later.letIn, p.isLike) || later.isClosed(p.endpoints) && !slices.ContainsFunc(later.letIn, func(g grant) bool {
			return g.demands != p.demands && !g.endpoints.isApart(p.endpoints) && !g.isOfOtherPeers(p.grant) && !areOtherPorts(g.traffic, p.traffic)
		})
	})
}

// isClosed reports whether all of the endpoints surely let in nothing that no rule is about.
func (b breadth) isClosed(of subject) bool {
	return b.always && !of.nodes || slices.ContainsFunc(b.closed, func(wide subject) bool { return wide.covers(of) })
}

// isOfOtherPeers reports whether the peers of two grants surely have no caller in common.
func (g grant) isOfOtherPeers(other grant) bool {
	a, ofPods := g.peer.item.(Selector)
	b, otherOfPods := other.peer.item.(Selector)
	ofPods, otherOfPods = ofPods && !asksForReserved(a), otherOfPods && !asksForReserved(b)
	switch {
	case ofPods && otherOfPods:
		return subject{requirements: g.pinned(a).requirements}.isApart(subject{requirements: other.pinned(b).requirements})
	case ofPods:
		return !asksForCluster(a) && other.peer.hasNoPods()
	case otherOfPods:
		return !asksForCluster(b) && g.peer.hasNoPods()
	default:
		return false
	}
}

// hasNoPods reports whether a peer surely has none of the pods that selectors are about.
func (p peerItem) hasNoPods() bool {
	entity, isText := p.item.(string)
	if isText && p.field == "fromEntities" {
		return entity == entityWorld || entity == entityNone || !slices.Contains(played, entity)
	}
	_, isBlock := p.block()
	return isBlock
}

// areOtherPorts reports whether what two grants say of ports surely has no packet in common.
func areOtherPorts(a, b any) bool {
	if a == nil || b == nil {
		return false
	}
	one, isPort := a.(PortRule)
	two, isOther := b.(PortRule)
	if !isPort || !isOther || len(one.Ports) != 1 || len(two.Ports) != 1 {
		return isPort != isOther
	}
	p, q := one.Ports[0], two.Ports[0]
	first, err := endpoint.Port(p.Port)
	from, errOther := endpoint.Port(q.Port)
	return !p.isOfAll() && !q.isOfAll() && p.Protocol != q.Protocol || err == nil && errOther == nil && first > 0 && from > 0 &&
		(max(int32(first), p.EndPort) < int32(from) || max(int32(from), q.EndPort) < int32(first))
}
