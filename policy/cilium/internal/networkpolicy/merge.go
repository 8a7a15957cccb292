package networkpolicy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/labelselector"
)

// Cilium merges the rules of an endpoint that have a selector of peers and a port in common, also where no endpoint has
// the labels and nobody listens on the port. Where it cannot, it applies none of the endpoint's policies.
// (mergePortProto in pkg/policy/rule.go)

// merges reports whether Cilium merges the two rules somewhere.
func (d *demand) merges(other *demand) bool {
	return haveCommon(d.mergedOf, other.mergedOf) && haveCommon(d.rule.mergedOn, other.rule.mergedOn)
}

func haveCommon(a, b []string) bool {
	return slices.ContainsFunc(a, func(one string) bool { return slices.Contains(b, one) })
}

// mergedOn returns a text for each port and protocol of a rule under which Cilium merges it with others.
func (in Ingress) mergedOn() (out []string) {
	switch {
	case len(in.ICMPs) > 0:
		// One number has several names, so that all messages are one.
		return []string{"ICMP"}
	case len(in.ToPorts) == 0:
		return []string{anyProtocol}
	}
	for _, p := range in.ports() {
		of := []string{p.Protocol}
		if p.isOfAll() {
			of = protocols[1:portless]
		}
		for _, protocol := range of {
			out = append(out, fmt.Sprintf("%s-%d/%s", strings.ToLower(p.Port), p.EndPort, protocol))
		}
	}
	return out
}

// keys returns a text for each selector that Cilium makes of the peers, alike for two that are one to it. That of
// everyone is empty.
func (p peers) keys() (out []string) {
	if p.everyone {
		return []string{""}
	}
	for _, s := range p.endpoints {
		out = append(out, s.mergeKey())
	}
	for _, entity := range p.entities {
		switch entity {
		case entityAll:
			out = append(out, "")
		case entityCluster, entityClusterMesh:
			out = append(out, "the workloads of "+entity)
			for _, of := range entities {
				if !slices.Contains(played, of) {
					out = append(out, reservedKey(of))
				}
			}
		case entityNone:
			// It has nobody, and is not merged.
		default:
			out = append(out, reservedKey(entity))
		}
	}
	for _, b := range p.blocks {
		out = append(out, fmt.Sprint(b.prefix, b.except))
	}
	return append(out, p.groups...)
}

func reservedKey(name string) string {
	return selector{requirements: []requirement{{sourceReserved, name, labelselector.In, []string{""}}}}.mergeKey()
}

// mergeKey is a text of what the selector asks for.
func (s selector) mergeKey() string {
	var all []string
	for _, r := range s.requirements {
		all = append(all, r.source+":"+requirement{key: r.key, operator: r.operator, values: slices.Sorted(slices.Values(r.values))}.wants())
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
