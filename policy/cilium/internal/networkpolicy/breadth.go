package networkpolicy

import (
	"encoding/json"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
)

// BreadthOf returns the breadth of policies.
func BreadthOf(ps []Policy) capability.Breadth {
	out := capability.Breadth{Uniform: true}
	for _, p := range ps {
		for _, s := range append([]*Spec{p.resource.Spec}, p.resource.Specs...) {
			if s == nil {
				continue
			}
			subject := []any{p.resource.Metadata.Namespace, s.EndpointSelector}
			if s.closesIngress() {
				out.Denied = append(out.Denied, "everything that no rule is about: "+jsonOf(subject))
			}
			for _, r := range s.Ingress {
				r.addBreadth(subject, &out.Allowed, &out.AllowedProtocols)
				out.Uniform = out.Uniform && r.isUniform()
			}
			for _, r := range s.IngressDeny {
				r.addBreadth(subject, &out.Denied, &out.DeniedProtocols)
				out.Uniform = out.Uniform && r.isUniform()
			}
		}
	}
	for _, texts := range []*[]string{&out.Allowed, &out.Denied, &out.AllowedProtocols, &out.DeniedProtocols} {
		slices.Sort(*texts)
		*texts = slices.Compact(*texts)
	}
	return out
}

// jsonOf writes parts as JSON: lists, maps and texts always have that form.
func jsonOf(parts ...any) string {
	out, _ := json.Marshal(parts)
	return string(out)
}

// closesIngress reports whether a spec shuts out what no rule lets in.
func (s *Spec) closesIngress() bool {
	return len(s.Ingress)+len(s.IngressDeny) > 0 && (s.EnableDefaultDeny.Ingress == nil || *s.EnableDefaultDeny.Ingress)
}

// isUniform reports whether a rule is about every protocol and port.
func (r Ingress) isUniform() bool { return len(r.ToPorts) == 0 && len(r.ICMPs) == 0 }

// addBreadth adds the texts of a rule.
func (r Ingress) addBreadth(subject any, entities, protocols *[]string) {
	text := func(parts ...any) string {
		return jsonOf(append(parts, subject, r.FromRequires, r.Authentication)...)
	}
	for _, peer := range r.peerItems() {
		if r.isUniform() {
			*protocols = append(*protocols, "every protocol: "+text(peer))
		}
		for _, port := range r.ports() {
			if port.Protocol == "" || port.Protocol == anyProtocol {
				*protocols = append(*protocols, "every protocol: "+text(peer, port.Port, port.EndPort))
			}
		}
	}
	for _, entity := range r.broadEntities() {
		if len(r.ToPorts) == 0 {
			*entities = append(*entities, "the entity "+entity+": "+text())
		}
		for _, entry := range r.ToPorts {
			if len(entry.Ports) == 0 {
				*entities = append(*entities, "the entity "+entity+": "+text(entry))
			}
			for _, port := range entry.Ports {
				entry.Ports = []PortProtocol{port}
				*entities = append(*entities, "the entity "+entity+": "+text(entry))
			}
		}
	}
}

// hasPeers reports whether a rule says who calls. One that does not is about everybody.
func (r Ingress) hasPeers() bool {
	return r.FromEndpoints != nil || r.FromCIDR != nil || r.FromCIDRSet != nil || r.FromEntities != nil || r.FromNodes != nil || r.FromGroups != nil
}

// peerItems returns each peer of a rule, with the field that has it.
func (r Ingress) peerItems() (out []any) {
	if !r.hasPeers() {
		return []any{"everybody"}
	}
	add := func(field string, item any) { out = append(out, []any{field, item}) }
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

// broadEntities returns the entities beside pods and the world that a rule is about without naming them.
func (r Ingress) broadEntities() (out []string) {
	beside := func() []string {
		return slices.DeleteFunc(slices.Clone(entities), func(e string) bool { return slices.Contains(played, e) })
	}
	if !r.hasPeers() {
		return beside()
	}
	if r.FromEntities == nil {
		return nil
	}
	for _, e := range *r.FromEntities {
		switch e {
		case entityAll, entityCluster:
			return beside()
		case entityClusterMesh:
			out = append(out, e)
		}
	}
	return out
}
