package networkpolicy

import (
	"encoding/json"
	"slices"
)

// peerItem is one peer of a rule, with the field that has it.
type peerItem struct {
	field string
	item  any
}

// MarshalJSON writes the field and the peer as a list.
func (p peerItem) MarshalJSON() ([]byte, error) { return json.Marshal([]any{p.field, p.item}) }

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
		out = append(out, "a rule for "+jsonOf(peer, what)+of.ofRule())
	})
	return out
}

// unplayedParts returns a text for each peer on each port that the lab cannot play: the peer is no caller of the
// lab, or the protocol is written, and is not TCP.
func (r Ingress) unplayedParts(of subject) (out []string) {
	r.eachPart(func(peer peerItem, what any, ownProtocol bool) {
		if peer.isUnplayed() || ownProtocol {
			out = append(out, jsonOf(peer, what, r.Authentication)+of.ofRule())
		}
	})
	return out
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
	return p.Protocol != "" && p.Protocol != anyProtocol && p.Protocol != "TCP"
}

// jsonOf writes parts as JSON: lists, maps and texts always have that form.
func jsonOf(parts ...any) string {
	written, _ := json.Marshal(parts)
	var value any
	_ = json.Unmarshal(written, &value)
	out, _ := json.Marshal(withoutNull(value))
	return string(out)
}

// withoutNull leaves out what is not there. An empty list stays: it may mean nothing where no list means all.
func withoutNull(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, one := range value {
			if one != nil {
				out[key] = withoutNull(one)
			}
		}
		return out
	case []any:
		for len(value) > 0 && value[len(value)-1] == nil {
			value = value[:len(value)-1]
		}
		out := make([]any, len(value))
		for i, one := range value {
			out[i] = withoutNull(one)
		}
		return out
	default:
		return value
	}
}
