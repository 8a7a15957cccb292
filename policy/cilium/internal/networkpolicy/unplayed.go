package networkpolicy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/labelselector"
)

// unplayed is what a spec says of callers and packets that the lab cannot play.
type unplayed struct {
	// fields are those of its rules about them.
	fields []string
	// allowed are texts of what the rules let in, and denied of what they shut out.
	allowed []string
	denied  string
}

// UnplayedRules returns the rules of ingress that no request of the lab can show whole, each with its policy.
func UnplayedRules(ps []Policy) (out []string) {
	for _, p := range ps {
		for _, s := range p.specs {
			for _, field := range s.unplayed.fields {
				out = append(out, field+" of "+p.String())
			}
		}
	}
	return out
}

// Unplayed returns what the rules of ingress say of callers and packets that the lab cannot play: nodes,
// the API server and the other entities, and every protocol but TCP. The texts are of the rules that
// let them in, and of those that shut them out, by policy.
func Unplayed(ps []Policy) (allowed []string, denied map[string]string) {
	denied = map[string]string{}
	for _, p := range ps {
		for _, s := range p.specs {
			for _, text := range s.unplayed.allowed {
				allowed = append(allowed, fmt.Sprintf("%s lets in %s", p, text))
			}
			if s.unplayed.denied != "" {
				denied["the ingressDeny of "+p.String()+", about callers or packets that the lab cannot play,"] += s.unplayed.denied
			}
		}
	}
	slices.Sort(allowed)
	return slices.Compact(allowed), denied
}

// AnyProtocol returns the ports on which the policies let in every protocol, each with its policy.
func AnyProtocol(ps []Policy) (out []string) {
	for _, p := range ps {
		for _, s := range append([]*Spec{p.resource.Spec}, p.resource.Specs...) {
			if s == nil {
				continue
			}
			for _, r := range s.Ingress {
				for _, port := range r.ports() {
					if port.Protocol == "" || port.Protocol == anyProtocol {
						out = append(out, fmt.Sprintf("%s lets every protocol in on port %s", p, strings.TrimSuffix(fmt.Sprintf("%s-%d", port.Port, port.EndPort), "-0")))
					}
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// played are the entities that the lab can play.
var played = []string{entityAll, entityWorld, entityCluster, entityClusterMesh, "none"}

// unplayedOf returns what a spec says of callers and packets that the lab cannot play.
func unplayedOf(field string, of Spec) (out unplayed) {
	// Lists, maps and texts are always JSON.
	text := func(parts ...any) string { out, _ := json.Marshal(parts); return string(out) }
	for i, r := range of.Ingress {
		if r.namesUnplayed() || r.hasOwnProtocol() {
			out.fields = append(out.fields, fmt.Sprintf("%s.ingress[%d]", field, i))
			out.allowed = append(out.allowed, "what the lab cannot play: "+text(of.EndpointSelector, r))
		}
	}
	for i, r := range of.IngressDeny {
		if r.namesUnplayed() || r.hasOwnProtocol() {
			out.fields = append(out.fields, fmt.Sprintf("%s.ingressDeny[%d]", field, i))
			out.denied += text(of.EndpointSelector, r)
		}
	}
	return out
}

// namesUnplayed reports whether a rule has peers that are no callers of the lab.
func (r Ingress) namesUnplayed() bool {
	if r.FromEntities != nil && slices.ContainsFunc(*r.FromEntities, func(e string) bool { return !slices.Contains(played, e) }) {
		return true
	}
	return r.FromEndpoints != nil && slices.ContainsFunc(*r.FromEndpoints, asksForReserved)
}

// hasOwnProtocol reports whether a rule is about a protocol that is written, and is not TCP.
func (r Ingress) hasOwnProtocol() bool {
	return len(r.ICMPs) > 0 || slices.ContainsFunc(r.ports(), func(p PortProtocol) bool {
		return p.Protocol != "" && p.Protocol != anyProtocol && p.Protocol != "TCP"
	})
}

// ports returns the ports of all entries of toPorts.
func (r Ingress) ports() (out []PortProtocol) {
	for _, entry := range r.ToPorts {
		out = append(out, entry.Ports...)
	}
	return out
}

// asksForReserved reports whether a selector asks for a label that Cilium gives to nodes and to other
// callers beside the pods.
func asksForReserved(s Selector) bool {
	isReserved := func(written string) bool { source, _ := sourceOf(written); return source == sourceReserved }
	return slices.ContainsFunc(slices.Collect(maps.Keys(s.MatchLabels)), isReserved) ||
		slices.ContainsFunc(s.MatchExpressions, func(r labelselector.Expression) bool { return isReserved(r.Key) })
}
