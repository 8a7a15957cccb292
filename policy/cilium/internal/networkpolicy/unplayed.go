package networkpolicy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/labelselector"
)

// Unplayed returns what the rules of ingress say of callers and packets that the lab cannot play: nodes,
// the API server and the other entities, and every protocol but TCP. The texts are of the rules that
// let them in, and of those that shut them out, by policy.
func Unplayed(ps []Policy) (allowed []string, denied map[string]string) {
	denied = map[string]string{}
	for _, p := range ps {
		for _, s := range p.specs {
			for _, text := range s.unplayed {
				allowed = append(allowed, fmt.Sprintf("%s lets in %s", p, text))
			}
			if s.unplayedDeny != "" {
				denied["the ingressDeny of "+p.String()+", about callers or packets that the lab cannot play,"] += s.unplayedDeny
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
				for _, ports := range r.ToPorts {
					for _, port := range ports.Ports {
						if port.Protocol == "" || port.Protocol == anyProtocol {
							out = append(out, fmt.Sprintf("%s lets every protocol in on port %s", p, strings.TrimSuffix(fmt.Sprintf("%s-%d", port.Port, port.EndPort), "-0")))
						}
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

// unplayedText returns what a spec lets in that the lab cannot play, and what it shuts out.
func unplayedText(of Spec) (allowed []string, denied string) {
	// Lists, maps and texts are always JSON.
	text := func(parts ...any) string { out, _ := json.Marshal(parts); return string(out) }
	for _, r := range of.Ingress {
		if r.namesUnplayed() || r.hasOwnProtocol() {
			allowed = append(allowed, "what the lab cannot play: "+text(of.EndpointSelector, r))
		}
	}
	for _, r := range of.IngressDeny {
		if r.namesUnplayed() || r.hasOwnProtocol() {
			denied += text(of.EndpointSelector, r)
		}
	}
	return allowed, denied
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
	return len(r.ICMPs) > 0 || slices.ContainsFunc(r.ToPorts, func(of PortRule) bool {
		return slices.ContainsFunc(of.Ports, func(p PortProtocol) bool {
			return p.Protocol != "" && p.Protocol != anyProtocol && p.Protocol != "TCP"
		})
	})
}

// asksForReserved reports whether a selector asks for a label that Cilium gives to nodes and to other
// callers beside the pods.
func asksForReserved(s Selector) bool {
	isReserved := func(key string) bool {
		return strings.HasPrefix(key, sourceReserved+":") || strings.HasPrefix(key, sourceReserved+".")
	}
	return slices.ContainsFunc(slices.Collect(maps.Keys(s.MatchLabels)), isReserved) ||
		slices.ContainsFunc(s.MatchExpressions, func(r labelselector.Expression) bool { return isReserved(r.Key) })
}
