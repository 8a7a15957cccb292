package networkpolicy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/labelselector"
)

// unplayed is what a spec says of callers and packets that the lab cannot play.
type unplayed struct {
	// fields are those of its rules about them.
	fields []string
	// denied is a text of what the rules shut out.
	denied string
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

// LetIn returns what the rules of ingress let in that the lab cannot play: nodes, the API server and the other
// entities, and every protocol but TCP.
func LetIn(ps []Policy) (out []string) {
	for _, p := range ps {
		for _, s := range p.resource.all() {
			for _, r := range s.Ingress {
				for _, part := range r.unplayedParts(p.subjectOf(s)) {
					out = append(out, "a rule lets in what the lab cannot play: "+part.text)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ShutOut returns what the rules of ingressDeny shut out that the lab cannot play, by policy.
func ShutOut(ps []Policy) map[string]string {
	out := map[string]string{}
	for _, p := range ps {
		for _, s := range p.specs {
			if s.unplayed.denied != "" {
				out["the ingressDeny of "+p.String()+", about callers or packets that the lab cannot play,"] += s.unplayed.denied
			}
		}
	}
	return out
}

// played are the entities that the lab can play.
var played = []string{entityAll, entityWorld, entityCluster, entityClusterMesh, entityNone}

// unplayedOf returns what a spec says of callers and packets that the lab cannot play.
func unplayedOf(field string, of Spec) (out unplayed) {
	for i, r := range of.Ingress {
		if r.namesUnplayed() || r.hasOwnProtocol() {
			out.fields = append(out.fields, fmt.Sprintf("%s.ingress[%d]", field, i))
		}
	}
	for i, r := range of.IngressDeny {
		if r.namesUnplayed() || r.hasOwnProtocol() {
			out.fields = append(out.fields, fmt.Sprintf("%s.ingressDeny[%d]", field, i))
			out.denied += written(of.EndpointSelector, r)
		}
	}
	return out
}

// namesUnplayed reports whether a rule has peers that are no callers of the lab.
func (r Ingress) namesUnplayed() bool { return slices.ContainsFunc(r.peerItems(), peerItem.isUnplayed) }

// hasOwnProtocol reports whether a rule is about a protocol that is written, and is not TCP.
func (r Ingress) hasOwnProtocol() bool {
	return len(r.ICMPs) > 0 || slices.ContainsFunc(r.ports(), PortProtocol.isOwnProtocol)
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
