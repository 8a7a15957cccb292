package networkpolicy

import (
	"slices"
)

// peerItem is one peer of a rule, with the field that has it.
type peerItem struct {
	field string
	item  any
}

// isUnplayed reports whether a peer is no caller of the lab.
func (p peerItem) isUnplayed() bool {
	switch item := p.item.(type) {
	case string:
		return p.field == "fromEntities" && !slices.Contains(played, item)
	case Selector:
		return asksForReserved(item)
	default:
		return false
	}
}

// hasPeers reports whether a rule says who calls. One that does not is about everybody on its ports.
func (r Ingress) hasPeers() bool {
	return r.FromEndpoints != nil || r.FromCIDR != nil || r.FromCIDRSet != nil || r.FromEntities != nil || r.FromNodes != nil || r.FromGroups != nil
}

// peerItems returns each peer of a rule.
func (r Ingress) peerItems() (out []peerItem) {
	if !r.hasPeers() {
		return []peerItem{{field: "everybody"}}
	}
	add := func(field string, item any) { out = append(out, peerItem{field, item}) }
	if r.FromEndpoints != nil {
		for _, s := range *r.FromEndpoints {
			add("fromEndpoints", s)
		}
	}
	if r.FromCIDR != nil {
		for _, c := range *r.FromCIDR {
			add("fromCIDR", c)
		}
	}
	if r.FromCIDRSet != nil {
		for _, c := range *r.FromCIDRSet {
			add("fromCIDRSet", c)
		}
	}
	if r.FromEntities != nil {
		for _, e := range *r.FromEntities {
			add("fromEntities", e)
		}
	}
	if r.FromNodes != nil {
		add("fromNodes", r.FromNodes)
	}
	if r.FromGroups != nil {
		add("fromGroups", r.FromGroups)
	}
	return out
}

// entries returns the entries of toPorts, with one port each.
func (r Ingress) entries() (out []PortRule) {
	for _, entry := range r.ToPorts {
		if len(entry.Ports) == 0 {
			out = append(out, entry)
		}
		for _, port := range entry.Ports {
			entry.Ports = []PortProtocol{port}
			out = append(out, entry)
		}
	}
	return out
}

// parts returns a text for each peer of a rule on each port.
func (r Ingress) parts(of subject) (out []string) {
	r.eachPart(func(peer peerItem, what any, _ bool) {
		out = append(out, "a rule for "+textOf(peer, what, nil)+of.ofRule())
	})
	return out
}

// textOf writes one peer of a rule on one port as a rule.
func textOf(peer peerItem, what any, auth *Authentication) string {
	rule := map[string]any{}
	if peer.item != nil {
		rule[peer.field] = []any{peer.item}
	}
	switch what := what.(type) {
	case []ICMP:
		rule["icmps"] = what
	case PortRule:
		rule["toPorts"] = []PortRule{what}
	}
	if auth != nil {
		rule["authentication"] = auth
	}
	return written(rule)
}

// unplayedParts returns a part for each peer on each port that the lab cannot play: the peer is no caller of the
// lab, or the protocol is written, and is not TCP.
func (r Ingress) unplayedParts(of subject, place string) (out []part) {
	r.eachPart(func(peer peerItem, what any, ownProtocol bool) {
		if peer.isUnplayed() || ownProtocol {
			out = append(out, part{"what the lab cannot play", textOf(peer, what, r.Authentication) + of.ofRule(), place, r.grantOf(of, peer, what)})
		}
	})
	return out
}

// isRanked reports whether a rule asks for HTTP or for authentication.
func (r Ingress) isRanked() bool {
	return r.Authentication != nil || slices.ContainsFunc(r.ToPorts, func(entry PortRule) bool { return entry.Rules != nil })
}

// eachPart visits each peer of a rule on each port.
func (r Ingress) eachPart(visit func(peer peerItem, what any, ownProtocol bool)) {
	if r.isEmpty() {
		return
	}
	for _, peer := range r.peerItems() {
		if r.isUniform() {
			visit(peer, nil, false)
		}
		if len(r.ICMPs) > 0 {
			visit(peer, r.ICMPs, true)
		}
		for _, entry := range r.entries() {
			visit(peer, entry, slices.ContainsFunc(entry.Ports, PortProtocol.isOwnProtocol))
		}
	}
}

// isOwnProtocol reports whether a port is of a protocol that is written, and is not TCP.
func (p PortProtocol) isOwnProtocol() bool {
	return !p.isOfAll() && p.Protocol != "TCP"
}
