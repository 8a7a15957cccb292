package networkpolicy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/labelselector"
)

// UnplayedRules returns the rules of ingress that no request of the lab can show whole, each with its policy.
func UnplayedRules(ps []Policy) (out []string) {
	for _, p := range ps {
		for _, s := range p.specs {
			for _, field := range s.unplayed {
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
				for _, part := range r.unplayedParts(p.subjectOf(s), "") {
					out = append(out, "a rule lets in "+part.lets+": "+part.text)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// played are the entities that the lab can play.
var played = []string{entityAll, entityWorld, entityCluster, entityClusterMesh, entityNone}

// unplayedOf returns the fields of a spec's rules about callers and packets that the lab cannot play.
func unplayedOf(field string, of Spec) (out []string) {
	add := func(list string, rules []Ingress) {
		for i, r := range rules {
			if r.namesUnplayed() || r.hasOwnProtocol() {
				out = append(out, fmt.Sprintf("%s.%s[%d]", field, list, i))
			}
		}
	}
	add("ingress", of.Ingress)
	add("ingressDeny", of.IngressDeny)
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
