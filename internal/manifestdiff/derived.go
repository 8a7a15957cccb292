package manifestdiff

import (
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/mention"
)

// derivations say of which fields of a workload a cluster, an injector or a control plane makes labels that
// stand in no template: where something selects by such a label, its fields count.
var derivations = []struct {
	labels map[string]bool
	// kinds are those of the workloads, nil for each one.
	kinds map[string]bool
	// fields are relative to the pod or to the object; with all true, the whole template counts.
	fields map[string]bool
	all    bool
}{
	{fieldpath.SetOf("statefulset.kubernetes.io/pod-name apps.kubernetes.io/pod-index"), fieldpath.SetOf("StatefulSet"), fieldpath.SetOf("spec.replicas spec.ordinals"), false},
	{fieldpath.SetOf("batch.kubernetes.io/job-completion-index"), fieldpath.SetOf("CronJob Job"), fieldpath.SetOf(`spec.completions spec.completionMode
		spec.jobTemplate.spec.completions spec.jobTemplate.spec.completionMode`), false},
	// Kuma copies labels of nodes, Kubernetes those of their topology, and Istio reads both.
	{topology, nil, fieldpath.SetOf("spec.nodeSelector spec.affinity spec.nodeName spec.topologySpreadConstraints spec.schedulerName spec.locality"), false},
	{fieldpath.SetOf("pod-template-hash controller-revision-hash pod-template-generation rollouts-pod-template-hash"), nil, nil, true},
}

// topology are the labels that a workload gets from the node on which it runs.
var topology = fieldpath.SetOf(`topology.kubernetes.io/region topology.kubernetes.io/zone topology.istio.io/subzone topology.istio.io/network
	failure-domain.beta.kubernetes.io/region failure-domain.beta.kubernetes.io/zone kubernetes.io/hostname kubernetes.io/os kubernetes.io/arch
	node.kubernetes.io/instance-type`)

// namesInLabels are the labels that have the name of a workload, by its kind.
var namesInLabels = map[string][]string{
	"CronJob":               {"linkerd.io/proxy-cronjob", "job-name", "batch.kubernetes.io/job-name"},
	"DaemonSet":             {"linkerd.io/proxy-daemonset"},
	"Deployment":            {"linkerd.io/proxy-deployment"},
	"Job":                   {"linkerd.io/proxy-job", "job-name", "batch.kubernetes.io/job-name"},
	"Pod":                   {"linkerd.io/proxy-pod"},
	"ReplicaSet":            {"linkerd.io/proxy-replicaset"},
	"ReplicationController": {"linkerd.io/proxy-replicationcontroller"},
	"StatefulSet":           {"linkerd.io/proxy-statefulset", "statefulset.kubernetes.io/pod-name"},
}

// labelsOfLabels say of which labels the injector of Istio makes another one. The name of the workload stands
// where a pod has none of the labels of its name.
var labelsOfLabels = map[string][]string{
	"service.istio.io/canonical-name":     {"app.kubernetes.io/name", "app"},
	"service.istio.io/canonical-revision": {"app.kubernetes.io/version", "version"},
}

// addDerived adds the labels of which others are made that something names.
func addDerived(w mention.Words) {
	for label, of := range labelsOfLabels {
		if w[label] {
			for _, key := range of {
				w[key] = true
			}
		}
	}
}

// derivedLabels returns the labels that pods get of their name, their kind and their other labels.
func derivedLabels(p pods) map[string]any {
	out := map[string]any{}
	for _, label := range namesInLabels[p.kind] {
		out[label] = p.name
	}
	out["linkerd.io/workload-ns"] = p.namespace
	out["service.istio.io/canonical-name"] = p.name
	for label, of := range labelsOfLabels {
		for _, key := range slices.Backward(of) {
			if p.labels[key] != nil {
				out[label] = p.labels[key]
			}
		}
	}
	return out
}

// callsByDerived reports whether policies may choose pods as callers by a label that stands in no template.
func (c *comparison) callsByDerived(p pods) bool {
	for key, value := range derivedLabels(p) {
		if c.callsBy(key, value) {
			return true
		}
	}
	return false
}

// addTargets adds the names of Dataplanes and of services that a policy of Kuma has. In Kubernetes a Dataplane has a
// name that begins with that of its workload, and a workload without a Service is a service by its own name.
func (c *comparison) addTargets(value any) {
	switch value := value.(type) {
	case string:
		if strings.HasSuffix(value, "_svc") {
			c.targets = append(c.targets, value)
		}
	case []any:
		for _, item := range value {
			c.addTargets(item)
		}
	case map[string]any:
		if name, _ := value["name"].(string); name != "" && value["kind"] == "Dataplane" {
			c.targets = append(c.targets, name)
		}
		for _, item := range value {
			c.addTargets(item)
		}
	}
}

// isTarget reports whether a policy selects a Dataplane of pods by its name.
func (c *comparison) isTarget(p pods) bool {
	return slices.ContainsFunc(c.targets, func(name string) bool {
		return name == p.name || strings.HasPrefix(name, p.name+"-") || name == p.name+"_"+p.namespace+"_svc"
	})
}

// isDerivedFrom reports whether a label by which something selects is made of a field of a workload.
func (w *walker) isDerivedFrom(path string, was, is any) bool {
	if w.category != clusterobject.Workload {
		return false
	}
	relative := w.relative(path)
	for _, d := range derivations {
		if (d.kinds == nil || d.kinds[w.kind]) && (d.fields[path] || d.fields[relative] || d.all && relative != path) && hasAny(w.named, d.labels) {
			return true
		}
	}
	// A control plane may copy other labels of nodes.
	switch relative {
	case "spec.nodeSelector":
		olds := fieldvalue.Mapping(was)
		recents := fieldvalue.Mapping(is)
		for key := range union(olds, recents) {
			if w.named.Has(key) && !reflect.DeepEqual(olds[key], recents[key]) {
				return true
			}
		}
		return false
	case "spec.affinity":
		return w.asksNodes(fieldvalue.Lookup(was, "nodeAffinity")) || w.asksNodes(fieldvalue.Lookup(is, "nodeAffinity"))
	default:
		return false
	}
}

// asksNodes reports whether an affinity asks nodes for a label by which something selects workloads.
func (w *walker) asksNodes(affinity any) bool {
	return fieldvalue.Any(affinity, func(value any) bool {
		key, _ := fieldvalue.Lookup(value, "key").(string)
		return w.named.Has(key)
	})
}

// hasAny reports whether one of the words is there.
func hasAny[V any](w mention.Words, of map[string]V) bool {
	for word := range of {
		if w[word] {
			return true
		}
	}
	return false
}
