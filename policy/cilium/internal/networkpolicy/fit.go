package networkpolicy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/labelselector"
	"github.com/meshproof/meshproof/policy"
)

// Peers returns what the selectors of the policies ask of a workload, in order, each distinct
// selector once. A selector of what is no workload, such as a node, is none of them.
func Peers(ps []Policy, opts Options) []capability.Target {
	var out []capability.Target
	known := map[string]bool{}
	for _, p := range ps {
		for _, s := range p.specs {
			selectors := []selector{s.subject}
			for _, r := range slices.Concat(s.deny, s.allow) {
				selectors = append(selectors, r.peers.endpoints...)
			}
			for i, s := range selectors {
				key := fmt.Sprint(s.requirements)
				if known[key] || s.asksForReserved() {
					continue
				}
				known[key] = true
				out = append(out, capability.Target{
					Policy: p.String(), Name: p.resource.Metadata.Name, Place: p.doc.Place(s.field), Key: key, Inert: i == 0,
					Miss: func(in policy.Inbound) capability.Reason {
						if s.selects(identityOf(in.Workload, opts)) {
							return nil
						}
						return s.missReason
					},
					Fit:  func(in policy.Inbound) policy.Inbound { return s.fit(in, opts) },
					Vary: func(in policy.Inbound) []policy.Inbound { return s.vary(in, opts) },
				})
				if label := s.unstatedLabel(opts); label != "" && (i > 0 || !p.ofEgress()) {
					out = append(out, unstatedNamespaces(p, p.doc.Place(s.field), label))
				}
			}
		}
	}
	return out
}

// missReason says why a workload that was made for the selector is not selected.
func (s selector) missReason() string {
	if label := s.wantsOutside(); label != "" {
		return "it asks for the label " + label + ", " + leavesOut
	}
	return "no workload that can be made has all labels that the selector asks for"
}

// unstatedLabel returns the label of namespaces of which the selector asks for the lack, or for other values, and that no stated
// namespace has in that way: all workloads that can be made meet the requirement, and those of a real cluster need not. "" for none.
func (s selector) unstatedLabel(opts Options) string {
	for _, r := range s.requirements {
		label, ofNamespace := strings.CutPrefix(r.key, namespaceLabelPrefix)
		excludes := r.operator == labelselector.NotIn || r.operator == labelselector.DoesNotExist
		if ofNamespace && label != namespaceNameLabel && excludes && len(r.opposite().namespaces(policy.Workload{}, opts)) == 0 {
			return r.key
		}
	}
	return ""
}

// unstatedNamespaces is the target of the workloads that cannot be made, for the label of their namespaces is stated nowhere.
func unstatedNamespaces(p Policy, place, label string) capability.Target {
	reason := "it tells namespaces apart by the label " + label + ", and the option namespaceLabels states none that has what the selector excludes"
	t := capability.Elsewhere(p.String(), p.resource.Metadata.Name, place, reason, false)
	t.Key = "unstated " + label
	return t
}

// fit changes the labels, the namespace and the account of the inbound's workload so that the
// selector selects it.
func (s selector) fit(in policy.Inbound, opts Options) policy.Inbound {
	for _, r := range s.requirements {
		if r.meets(identityOf(in.Workload, opts)) {
			continue
		}
		all := r.met(in.Workload, s.values(r.key), opts)
		in.Workload = all[max(0, slices.IndexFunc(all, func(w policy.Workload) bool {
			return !slices.ContainsFunc(s.requirements, func(other requirement) bool { return other.key == r.key && !other.meets(identityOf(w, opts)) })
		}))]
	}
	return in
}

// values returns the values that the selector names for a key.
func (s selector) values(key string) (out []string) {
	for _, r := range s.requirements {
		if r.key == key {
			out = append(out, r.values...)
		}
	}
	return out
}

// vary returns the inbound with each value that a requirement tells apart, and with a value that
// does not meet the requirement.
func (s selector) vary(in policy.Inbound, opts Options) []policy.Inbound {
	var out []policy.Inbound
	for _, r := range s.requirements {
		for _, w := range slices.Concat(r.met(in.Workload, s.values(r.key), opts), r.opposite().met(in.Workload, s.values(r.key), opts)) {
			varied := in
			varied.Workload = w
			out = append(out, varied)
		}
	}
	return out
}

// opposite is met where the requirement is not.
func (r requirement) opposite() requirement {
	r.operator = map[string]string{labelselector.In: labelselector.NotIn, labelselector.NotIn: labelselector.In, labelselector.Exists: labelselector.DoesNotExist, labelselector.DoesNotExist: labelselector.Exists}[r.operator]
	return r
}

// met returns the workload with each value that meets the requirement, or as it is where no value
// does. Beside the values that the selector names for the key, one value stands for all others.
func (r requirement) met(w policy.Workload, named []string, opts Options) []policy.Workload {
	values := r.values
	switch r.operator {
	case labelselector.NotIn, labelselector.Exists, labelselector.DoesNotExist:
		values = []string{labelselector.OtherThan(named)}
	}
	var out []policy.Workload
	for _, value := range values {
		changed := w
		changed.Labels = maps.Clone(w.Labels)
		if changed.Labels == nil {
			changed.Labels = map[string]string{}
		}
		switch label, ofNamespace := strings.CutPrefix(r.key, namespaceLabelPrefix); {
		case r.key == namespaceLabel:
			changed.Namespace = value
		case r.key == accountLabel && r.operator == labelselector.DoesNotExist:
			changed.ServiceAccount = ""
		case r.key == accountLabel:
			changed.ServiceAccount = value
		case ofNamespace && label == namespaceNameLabel:
			changed.Namespace = value
		case ofNamespace:
			return inNamespaces(w, r.namespaces(w, opts))
		case r.operator == labelselector.DoesNotExist || r.operator == labelselector.NotIn:
			delete(changed.Labels, r.key)
		default:
			changed.Labels[r.key] = value
		}
		out = append(out, changed)
	}
	return out
}

// inNamespaces returns the workload in each of the namespaces, or as it is where there are none.
func inNamespaces(w policy.Workload, namespaces []string) []policy.Workload {
	if len(namespaces) == 0 {
		return []policy.Workload{w}
	}
	out := make([]policy.Workload, len(namespaces))
	for i, name := range namespaces {
		out[i] = w
		out[i].Namespace = name
	}
	return out
}

// namespaces returns the namespaces whose labels meet the requirement, in the order of their names. One without
// labels is the last.
func (r requirement) namespaces(w policy.Workload, opts Options) (out []string) {
	known := slices.Sorted(maps.Keys(opts.NamespaceLabels))
	for _, name := range append(known, labelselector.OtherThan(known)) {
		w.Namespace = name
		if r.meets(identityOf(w, opts)) {
			out = append(out, name)
		}
	}
	return out
}
