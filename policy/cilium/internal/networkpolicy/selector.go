package networkpolicy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/labelselector"
	"github.com/meshproof/meshproof/policy"
)

// Labels that Cilium gives an endpoint beside those of its pod. A pod cannot override them.
const (
	ownedPrefix          = "io.cilium.k8s"
	namespaceLabel       = "io.kubernetes.pod.namespace"
	namespaceLabelPrefix = "io.cilium.k8s.namespace.labels."
	clusterLabel         = "io.cilium.k8s.policy.cluster"
	accountLabel         = "io.cilium.k8s.policy.serviceaccount"
	namespaceNameLabel   = "kubernetes.io/metadata.name"
)

// Where a label comes from. A key without a source means any.
const (
	sourceAny      = "any"
	sourceK8s      = "k8s"
	sourceReserved = "reserved"
)

// initLabel is the reserved label of a pod that has no labels yet.
const initLabel = "init"

// selector is met by the endpoints that meet all of its requirements.
type selector struct {
	field        string
	requirements []requirement
}

// requirement asks for one label.
type requirement struct {
	source, key, operator string
	values                []string
}

// identity is what a selector looks at: a set of labels, which Cilium's peers of one identity
// share. They are looked up and not copied: selectors are held against very many workloads. The
// world is the one identity of the source reserved; no policy asks for its label.
type identity struct {
	source string
	// A workload has its own labels, those of its namespace and those that Cilium gives it.
	workload    policy.Workload
	ofNamespace map[string]string
	cluster     string
}

var world = identity{source: sourceReserved}

// worlds are the reserved labels of which the world has one.
var worlds = []string{"world", "world-ipv4", "world-ipv6"}

// outsidePrefixes are those of the keys that Cilium's default list leaves out of identities, so that no selector is met
// by such a label. (defaultLabelPrefixCfg in pkg/labelsfilter)
var outsidePrefixes = []string{
	"io.kubernetes", "kubernetes.io", "k8s.io", "topology.kubernetes.io", "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index",
	"batch.kubernetes.io/job-completion-index", "batch.kubernetes.io/controller-uid", "pod-template-generation", "pod-template-hash",
	"controller-revision-hash", "controller-uid", "annotation", "etcd_node",
}

// isOutside reports whether no identity has a label of the key.
func isOutside(key string) bool {
	return !strings.HasPrefix(key, namespaceLabel) && (strings.Contains(key, "beta.kubernetes.io") ||
		slices.ContainsFunc(outsidePrefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) }))
}

// identityOf returns the identity of a workload.
func identityOf(w policy.Workload, o Options) identity {
	w.Namespace = cmp.Or(w.Namespace, defaultNamespace)
	return identity{sourceK8s, w, o.NamespaceLabels[w.Namespace], o.ClusterName}
}

// label returns the value of a label, and whether the identity has the label. Only a workload has any.
func (i identity) label(key string) (value string, found bool) {
	switch ofNamespace, isOfNamespace := strings.CutPrefix(key, namespaceLabelPrefix); {
	case i.source != sourceK8s:
		return "", false
	case key == namespaceLabel, isOfNamespace && ofNamespace == namespaceNameLabel:
		value, found = i.workload.Namespace, true
	case key == clusterLabel:
		value, found = i.cluster, true
	case key == accountLabel:
		value, found = i.workload.ServiceAccount, i.workload.ServiceAccount != ""
	case isOfNamespace:
		value, found = i.ofNamespace[ofNamespace]
	case !strings.HasPrefix(key, ownedPrefix):
		value, found = i.workload.Labels[key]
	}
	if !found || isOutside(key) {
		return "", false
	}
	return value, true
}

func (s selector) selects(of identity) bool {
	return !slices.ContainsFunc(s.requirements, func(r requirement) bool { return !r.meets(of) })
}

func (r requirement) meets(of identity) bool {
	value, found := of.label(r.key)
	found = found && (r.source == sourceAny || r.source == of.source)
	return labelselector.Expression{Operator: r.operator, Values: r.values}.Meets(value, found)
}

// isOutside reports whether the requirement is on a label that no identity has.
func (r requirement) isOutside() bool { return r.source != sourceReserved && isOutside(r.key) }

// wantsOutside returns the label that the selector wants, and that no identity has; "" where it wants none.
func (s selector) wantsOutside() string {
	for _, r := range s.requirements {
		if r.isOutside() && (r.operator == labelselector.In || r.operator == labelselector.Exists) {
			return r.key
		}
	}
	return ""
}

// sourceOf returns the source of a key as it is written, and the key without it.
func sourceOf(written string) (source, key string) {
	if source, key, found := strings.Cut(written, ":"); found {
		return source, key
	}
	return sourceAny, written
}

// asksFor reports whether the selector has a requirement on a key that the function takes.
func (s selector) asksFor(takes func(source, key string) bool) bool {
	return slices.ContainsFunc(s.requirements, func(r requirement) bool { return takes(r.source, r.key) })
}

// asksForReserved reports whether the selector asks for a label that no pod has: one of a node, or of
// another caller beside the pods.
func (s selector) asksForReserved() bool {
	return s.asksFor(func(source, _ string) bool { return source == sourceReserved })
}

// inNamespace adds the requirement on the namespace of the pod.
func (s selector) inNamespace(namespace string) selector {
	s.requirements = append(s.requirements, requirement{sourceK8s, namespaceLabel, labelselector.In, []string{namespace}})
	return s
}

// withLabel adds the requirement that there is the label.
func (s selector) withLabel(key string) selector {
	s.requirements = append(s.requirements, requirement{source: sourceK8s, key: key, operator: labelselector.Exists})
	return s
}

// pinPeers bounds a selector of peers to the own cluster, and to the namespace of its policy, or to
// pods where the policy has none. A selector that asks for a reserved label stays as it is. One that
// asks for the cluster or for the namespace is not bound to it. In a policy with a namespace,
// labels of namespaces ask for it too. A policy without a namespace whose subject asks for the label of pods that start, even
// for its absence, does not bound its peers to pods. (getEndpointSelector in pkg/k8s/apis/cilium.io/utils)
func (s selector) pinPeers(namespace string, ofInit bool) selector {
	if s.asksForReserved() {
		return s
	}
	if !s.asksFor(func(_, key string) bool { return key == clusterLabel }) {
		// All workloads of a case are of one cluster, and the world is of none.
		s = s.withLabel(clusterLabel)
	}
	return s.pinNamespace(namespace, ofInit)
}

func (s selector) pinNamespace(namespace string, ofInit bool) selector {
	ofPod := func(_, key string) bool { return key == namespaceLabel }
	ofNamespace := func(_, key string) bool { return strings.HasPrefix(key, namespaceLabelPrefix) }
	switch {
	case s.asksFor(ofPod), namespace == "" && ofInit:
		return s
	case namespace == "":
		return s.withLabel(namespaceLabel)
	case s.asksFor(ofNamespace):
		return s
	default:
		return s.inNamespace(namespace)
	}
}

// readSelector reads a selector as it is written.
func (r *reader) readSelector(field string, from Selector) selector {
	s := selector{field: field}
	for _, written := range slices.Sorted(maps.Keys(from.MatchLabels)) {
		// Cilium writes the source in front of a key without one, into the same map.
		if other, both := from.MatchLabels[sourceAny+":"+written]; both && other != from.MatchLabels[written] {
			r.refuse(fmt.Sprintf("%s.matchLabels[%q]", field, written), "%s is the same key as any:%s to Cilium, which takes one of the two values at random", written, written)
		}
	}
	from.Check(field, r.refuse, func(field string, e labelselector.Expression) {
		s.requirements = append(s.requirements, r.readRequirement(field, e.Key, e.Operator, e.Values))
	})
	return s
}

func (r *reader) readRequirement(field, written, operator string, values []string) requirement {
	source, key := sourceOf(written)
	if source != sourceAny && source != sourceK8s && source != sourceReserved {
		r.refuse(field, "meshproof knows no label of the source %q: use k8s:, any: or reserved:", source)
	} else if source == sourceReserved && slices.Contains(worlds, key) {
		r.refuse(field, "meshproof cannot judge the label %s: which one the world has depends on the families of addresses that the agent serves; use fromEntities: [world]", written)
	} else {
		labelselector.CheckKey(field, key, r.refuse)
	}
	labelselector.CheckValues(field, values, r.refuse)
	return requirement{source, key, operator, values}
}
