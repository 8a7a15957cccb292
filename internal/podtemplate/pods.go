package podtemplate

import (
	"maps"
	"reflect"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// Pods are what an object says of its pods, each part as it is written.
type Pods struct {
	Labels, Annotations map[string]any
	// Account is the name of their service account, nil where none is stated.
	Account any
	Spec    map[string]any
}

// places say where kinds of workloads have their pods.
var places = map[string]string{
	"Pod": "", "PodTemplate": "template.", "ReplicationController": "spec.template.", "DaemonSet": "spec.template.", "Deployment": "spec.template.", "ReplicaSet": "spec.template.",
	"StatefulSet": "spec.template.", "CronJob": "spec.jobTemplate.spec.template.", "Job": "spec.template.", "Rollout": "spec.template.", "WorkloadGroup": "spec.",
}

// Places returns where kinds of workloads have their pods, as what stands in front of a field of these, such as "spec.template.".
func Places() map[string]string { return maps.Clone(places) }

// PlaceOf returns the place of one kind, as [Places] has it, and false for a kind without pods.
func PlaceOf(kind string) (place string, known bool) {
	place, known = places[kind]
	return place, known
}

// PodsOf returns the pods of an object, by its kind and its fields. It returns false for a kind that has none.
func PodsOf(kind string, fields any) (of Pods, known bool) {
	place, known := places[kind]
	if !known {
		return Pods{}, false
	}
	at := fieldvalue.Lookup(fields, strings.Split(place, ".")...)
	of.Labels = fieldvalue.Mapping(fieldvalue.Lookup(at, "metadata", "labels"))
	of.Annotations = fieldvalue.Mapping(fieldvalue.Lookup(at, "metadata", "annotations"))
	of.Spec = fieldvalue.Mapping(fieldvalue.Lookup(at, "spec"))
	if of.Account = of.Spec["serviceAccountName"]; of.Account == nil {
		of.Account = of.Spec["serviceAccount"]
	}
	return of, true
}

// MachineOf returns what the fields of a WorkloadEntry of Istio say of a machine, as if that were a pod.
func MachineOf(fields any) (of Pods) {
	of.Labels = fieldvalue.Mapping(fieldvalue.Lookup(fields, "spec", "labels"))
	of.Account = fieldvalue.Lookup(fields, "spec", "serviceAccount")
	return of
}

// selectedBy reports whether the selector of a Service selects the pods.
func (p Pods) selectedBy(selector map[string]any) bool {
	for key, value := range selector {
		if !reflect.DeepEqual(p.Labels[key], value) {
			return false
		}
	}
	return len(selector) > 0
}
