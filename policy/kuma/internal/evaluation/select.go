package evaluation

import (
	"slices"
	"strconv"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
)

// applying returns the policies that apply to the inbound, the weakest first. Where one of
// them has a matcher, those of the legacy form do not apply.
func applying(ps []permission.Policy, in policy.Inbound, opts permission.Options) []*permission.Policy {
	var found []weighed
	hasMatcher := false
	for i := range ps {
		p := &ps[i]
		if !applies(p, in, opts) {
			continue
		}
		found = append(found, weighed{p, weightsOf(p, opts)})
		for _, r := range p.Rules {
			for _, list := range r.Lists {
				hasMatcher = hasMatcher || len(list) > 0
			}
		}
	}
	slices.SortFunc(found, func(a, b weighed) int {
		switch {
		case isWeaker(a, b):
			return -1
		case isWeaker(b, a):
			return 1
		default:
			return 0
		}
	})
	var out []*permission.Policy
	for _, f := range found {
		if !hasMatcher || f.policy.From == nil {
			out = append(out, f.policy)
		}
	}
	return out
}

func applies(p *permission.Policy, in policy.Inbound, opts permission.Options) bool {
	w := in.Workload
	if p.Labels["kuma.io/effect"] == "shadow" {
		return false
	}
	if p.ID.Mesh != orDefault(w.Mesh) {
		return false
	}
	role := roleOf(p, opts)
	// A policy of one zone is for the workloads of that zone, and one that states none for those of each. A producer's is
	// for all.
	if role != "producer" && p.Labels["kuma.io/origin"] == "zone" && w.Origin == "zone" && p.ID.Zone != "" && w.Zone != "" && p.ID.Zone != w.Zone {
		return false
	}
	// Policies that are neither the operator's nor a producer's stay in their namespace.
	if role != "producer" && role != "system" && p.ID.Namespace != orDefault(w.Namespace) {
		return false
	}
	// On Kubernetes a name is that of a Dataplane of the policy's namespace.
	if p.Target.Kind == target.Dataplane && p.Target.Name != "" && p.Namespace != "" && p.ID.Namespace != orDefault(w.Namespace) {
		return false
	}
	// The Dataplane that is named is of the policy's zone. What a global control plane made is of no zone.
	if p.Target.Kind == target.Dataplane && p.Target.Name != "" {
		if zone := p.ID.Zone; zone == "" && p.Labels["kuma.io/origin"] == "global" || zone != "" && w.Zone != "" && zone != w.Zone {
			return false
		}
	}
	return targets(p.Target, in)
}

func orDefault(name string) string {
	if name == "" {
		return "default"
	}
	return name
}

// roleOf is the role that the label states, or that a control plane gives to a policy: the
// operator's are those in universal form, and those of the control plane's namespace.
func roleOf(p *permission.Policy, opts permission.Options) string {
	system := opts.SystemNamespace
	if system == "" {
		system = "kuma-system"
	}
	switch stated := p.Labels["kuma.io/policy-role"]; {
	case stated != "":
		return stated
	case p.Universal:
		return "system"
	case p.Namespace == system && p.ID.Namespace == system:
		return "system"
	default:
		return "workload-owner"
	}
}

// targets reports whether a targetRef names the inbound.
func targets(t target.Target, in policy.Inbound) bool {
	if t.Kind == target.Route {
		has := false
		for _, r := range in.Routes {
			has = has || r.Name == t.Name
		}
		return has && in.Protocol != policy.TCP
	}
	legacy := t.Kind > target.Dataplane
	if !legacy && t.Name != "" && t.Name != in.Workload.Name {
		return false
	}
	for _, want := range t.Labels {
		value := ""
		if legacy {
			value = tagOf(in, want.Key)
		} else {
			value = labelOf(in.Workload, want.Key)
		}
		if value != want.Value {
			return false
		}
	}
	// An inbound with a name cannot be selected by its port.
	section := in.Name
	if section == "" {
		section = strconv.Itoa(int(in.Port))
	}
	return t.Section == "" || t.Section == section
}

// labelOf is a label of the workload. A control plane computes some of them.
func labelOf(w policy.Workload, key string) string {
	if value, stated := w.Labels[key]; stated {
		return value
	}
	switch key {
	case "kuma.io/display-name":
		// Only Kubernetes has the label without its being written.
		if w.Namespace != "" {
			return w.Name
		}
		return ""
	case "kuma.io/mesh":
		return orDefault(w.Mesh)
	case "kuma.io/zone":
		return w.Zone
	case "kuma.io/origin":
		return w.Origin
	case "k8s.kuma.io/namespace":
		return w.Namespace
	default:
		return ""
	}
}

// tagOf is a tag of the inbound. The labels of the workload are tags too, and the name of
// the workload is its service.
func tagOf(in policy.Inbound, key string) string {
	if value, stated := in.Tags[key]; stated {
		return value
	}
	if value := labelOf(in.Workload, key); value != "" || key != "kuma.io/service" {
		return value
	}
	return in.Workload.Name
}

// weighed is a policy, and what it is compared by before its name.
type weighed struct {
	policy  *permission.Policy
	weights [5]int
}

// weightsOf says how strong the kind of the target, the name of a Dataplane in it, the section,
// the origin and the role are.
func weightsOf(p *permission.Policy, opts permission.Options) [5]int {
	named, section := 0, 0
	if p.Target.Kind == target.Dataplane && p.Target.Name != "" {
		named = 1
	} else if p.Target.Kind == target.Dataplane && p.Target.Labels != nil {
		named = -1
	}
	if p.Target.Section != "" {
		section = 1
	}
	return [5]int{
		int(p.Target.Kind), named, section,
		slices.Index([]string{"global", "", "zone"}, p.Labels["kuma.io/origin"]),
		slices.Index([]string{"system", "producer", "consumer", "workload-owner"}, roleOf(p, opts)),
	}
}

// isWeaker compares two policies by their weights, and then by their names: the name that
// sorts first is the stronger.
func isWeaker(a, b weighed) bool {
	for i := range a.weights {
		// A target of every Dataplane is as strong as one by name, and as one by labels.
		if i == 1 && (a.weights[i] == 0 || b.weights[i] == 0) {
			continue
		}
		if a.weights[i] != b.weights[i] {
			return a.weights[i] < b.weights[i]
		}
	}
	if a.policy.ID.Name != b.policy.ID.Name {
		return a.policy.ID.Name > b.policy.ID.Name
	}
	return a.policy.Origin < b.policy.Origin
}
