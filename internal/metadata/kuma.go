package metadata

import "maps"

// labelDisplayName is the label with the name that a resource had where it was made.
const labelDisplayName = "kuma.io/display-name"

// ofAnnotations are the labels that Kuma keeps as annotations on Kubernetes, because a label may be too short for them.
var ofAnnotations = []string{labelDisplayName, "k8s.kuma.io/service-account", "kuma.io/workload"}

// KumaLabels returns the labels that Kuma reads of the object: those that it keeps as annotations among them. A label
// with the display name does not count: the name is that of the annotation, or else that of the object.
func (o Object) KumaLabels() map[string]string {
	out := maps.Clone(o.Labels)
	if _, stated := out[labelDisplayName]; stated {
		out[labelDisplayName] = o.Name
	}
	for _, key := range ofAnnotations {
		if value, ok := o.Annotations[key]; ok {
			if out == nil {
				out = map[string]string{}
			}
			out[key] = value
		}
	}
	return out
}
