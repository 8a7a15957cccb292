package routeevaluation

import (
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/destination"
	"github.com/meshproof/meshproof/policy/kuma/internal/reference"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
)

// orDefault is the mesh or the namespace that is meant where none is written.
func orDefault(name string) string {
	if name == "" {
		return "default"
	}
	return name
}

// roleOf is the role that the label states, or that a control plane gives to a policy whose
// items are the references.
func (t Text) roleOf(r resource.Resource, refs []reference.Ref) string {
	system := t.SystemNamespace
	if system == "" {
		system = "kuma-system"
	}
	if stated := r.Labels["kuma.io/policy-role"]; stated != "" {
		return stated
	}
	if r.Universal || r.Namespace == system && r.ID.Namespace == system {
		return "system"
	}
	for _, ref := range refs {
		if ref.Kind == "MeshMultiZoneService" || ref.Kind == "MeshExternalService" || ref.Name == "" || ref.Namespace != "" && ref.Namespace != r.ID.Namespace {
			return "consumer"
		}
	}
	if len(refs) == 0 {
		return "workload-owner"
	}
	return "producer"
}

// applies reports whether a policy with a role applies to a proxy.
func applies(r resource.Resource, role string, to target.Target, proxy policy.Inbound) bool {
	w := proxy.Workload
	if r.Labels["kuma.io/effect"] == "shadow" || r.ID.Mesh != orDefault(w.Mesh) {
		return false
	}
	if role != "producer" && r.Labels["kuma.io/origin"] == "zone" && w.Origin == "zone" && r.ID.Zone != "" && w.Zone != "" && r.ID.Zone != w.Zone {
		return false
	}
	if role != "producer" && role != "system" && r.ID.Namespace != orDefault(w.Namespace) {
		return false
	}
	if to.Kind <= target.Dataplane && to.Name != "" && (to.Name != w.Name || r.Namespace != "" && r.ID.Namespace != orDefault(w.Namespace)) {
		return false
	}
	if to.Kind == target.Dataplane && to.Name != "" && (isGlobal(r) || r.ID.Zone != "" && w.Zone != "" && r.ID.Zone != w.Zone) {
		return false
	}
	name := w.Name
	if w.Namespace == "" {
		name = ""
	}
	for _, want := range to.Labels {
		got := labelOf(w.Labels, want.Key, name, orDefault(w.Mesh), w.Zone, w.Namespace)
		if got == "" && want.Key == "kuma.io/origin" {
			got = w.Origin
		}
		if to.Kind > target.Dataplane {
			if got == "" && want.Key == "kuma.io/service" {
				got = w.Name
			}
			if tag, ok := proxy.Tags[want.Key]; ok {
				got = tag
			}
		}
		if got != want.Value {
			return false
		}
	}
	return true
}

// labelOf is a label, or what a control plane computes for it.
func labelOf(labels map[string]string, key, name, mesh, zone, namespace string) string {
	if value, ok := labels[key]; ok {
		return value
	}
	switch key {
	case "kuma.io/display-name":
		return name
	case "kuma.io/mesh":
		return mesh
	case "kuma.io/zone":
		return zone
	case "k8s.kuma.io/namespace":
		return namespace
	}
	return ""
}

// means reports whether a reference in a document means a resource of the kind. The others are those
// among which it may mean one.
func means(ref reference.Ref, from resource.Resource, kind string, r resource.Resource, others []resource.Resource) bool {
	if ref.Kind != kind || r.ID.Mesh != from.ID.Mesh {
		return false
	}
	if ref.Labels == nil {
		if !isNamed(ref, from, r) {
			return false
		}
		for _, other := range others {
			if isNamed(ref, from, other) && (zoneRank(from, other) > zoneRank(from, r) || zoneRank(from, other) == zoneRank(from, r) && other.Origin < r.Origin) {
				return false
			}
		}
		return true
	}
	// Only Kubernetes has the label of the display name without its being written.
	name := r.ID.Name
	if r.Universal {
		name = ""
	}
	for key, want := range ref.Labels {
		if labelOf(r.Labels, key, name, r.ID.Mesh, r.ID.Zone, r.ID.Namespace) != want {
			return false
		}
	}
	return true
}

// isNamed reports whether a resource has the name and the namespace of a reference, in a zone that the
// reference may mean.
func isNamed(ref reference.Ref, from, r resource.Resource) bool {
	namespace := from.ID.Namespace
	if ref.Namespace != "" {
		namespace = ref.Namespace
	}
	return r.ID.Mesh == from.ID.Mesh && r.ID.Name == ref.Name && r.ID.Namespace == namespace && zoneRank(from, r) > 0
}

// isGlobal reports whether a document is of a global control plane, and so of no zone. A service of several zones
// always is.
func isGlobal(r resource.Resource) bool {
	return r.ID.Zone == "" && (r.Labels["kuma.io/origin"] == "global" || r.ID.Type == "mzsvc")
}

// zoneRank says how well the zone of a resource fits the document that names it; 0 for not at all.
func zoneRank(from, r resource.Resource) int {
	switch {
	case isGlobal(r) && from.ID.Zone != "" || isGlobal(from) && r.ID.Zone != "":
		return 0
	case r.ID.Zone == from.ID.Zone:
		return 3
	case r.ID.Zone == "":
		return 2
	case from.ID.Zone == "":
		return 1
	}
	return 0
}

// ofKind are the destinations and the routes of a kind.
func (t Text) ofKind(kind string) (out []resource.Resource) {
	for _, d := range t.Destinations {
		if d.Kind.Name == kind {
			out = append(out, d.Resource)
		}
	}
	for _, r := range t.Routes {
		if r.Kind.Name == kind {
			out = append(out, r.Resource)
		}
	}
	return out
}

// first is the destination that a reference means, the one with the first identifier.
func (c call) first(ref reference.Ref, from resource.Resource) *destination.Destination {
	var found *destination.Destination
	for i := range c.Destinations {
		d := &c.Destinations[i]
		if means(ref, from, d.Kind.Name, d.Resource, c.ofKind(d.Kind.Name)) && (found == nil || d.Origin < found.Origin) {
			found = d
		}
	}
	return found
}

// weight is how strong a policy is. A greater number in the first place that differs is
// stronger, and of equal ones the smaller name.
type weight struct {
	numbers [4]int
	name    string
	id      string
}

func weightOf(r resource.Resource, role string, to target.Target) weight {
	w := weight{name: r.ID.Name, id: r.Origin}
	w.numbers[0] = int(to.Kind)
	if to.Kind == target.Dataplane && to.Name != "" {
		w.numbers[1] = 2
	} else if to.Kind == target.Dataplane && to.Labels != nil {
		w.numbers[1] = 1
	}
	switch r.Labels["kuma.io/origin"] {
	case "global":
	case "zone":
		w.numbers[2] = 2
	default:
		w.numbers[2] = 1
	}
	for i, known := range []string{"system", "producer", "consumer", "workload-owner"} {
		if role == known {
			w.numbers[3] = i
		}
	}
	return w
}

// isStronger reports whether a policy beats another one. Between are the places that count
// more than the names.
func (w weight) isStronger(v weight, between, ofOther [2]int) bool {
	for i := range w.numbers {
		if i == 1 && w.numbers[i]*v.numbers[i] == 0 {
			// Every Dataplane is neither more nor less than one of them, or some.
			continue
		}
		if w.numbers[i] != v.numbers[i] {
			return w.numbers[i] > v.numbers[i]
		}
	}
	for i := range between {
		if between[i] != ofOther[i] {
			return between[i] > ofOther[i]
		}
	}
	if w.name != v.name {
		return w.name < v.name
	}
	return w.id > v.id
}
