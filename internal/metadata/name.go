package metadata

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/policy/manifest"
)

// NameProblem says why Kubernetes refuses the name of an object, "" where it takes it.
func NameProblem(name string) string {
	if name == "" {
		return "a name is required"
	}
	return problem(name, "no name of a Kubernetes object", validation.IsDNS1123Subdomain(name))
}

// NamespaceProblem says why Kubernetes refuses a namespace, "" where it takes it.
func NamespaceProblem(namespace string) string {
	return problem(namespace, "no namespace", validation.IsDNS1123Label(namespace))
}

func problem(name, is string, reasons []string) string {
	if reasons == nil {
		return ""
	}
	return fmt.Sprintf("%q is %s: %s", name, is, reasons[0])
}

// The most bytes that an API server takes for all annotations of an object, and for the object.
const (
	mostAnnotations = 256 << 10
	mostOfAll       = 1 << 20
)

// SettingsProblem returns the field of an object's metadata, beside its name, for which an API server refuses the object, and why;
// "" where there is none.
func SettingsProblem(doc manifest.Document) (field, why string) {
	var object struct {
		Metadata struct {
			Labels, Annotations map[string]any
			Finalizers          []any
		}
	}
	var raw map[string]any
	if doc.Decode(&raw) != nil {
		return "", ""
	}
	text, err := json.Marshal(raw)
	if err != nil || json.Unmarshal(text, &object) != nil {
		return "metadata", "its metadata are of another type"
	}
	for _, key := range slices.Sorted(maps.Keys(object.Metadata.Labels)) {
		if reasons := slices.Concat(validation.IsQualifiedName(key), validation.IsValidLabelValue(fmt.Sprint(object.Metadata.Labels[key]))); len(reasons) > 0 {
			return fieldpath.Child("metadata.labels", key), reasons[0]
		}
	}
	size := 0
	for _, key := range slices.Sorted(maps.Keys(object.Metadata.Annotations)) {
		size += len(key) + len(fmt.Sprint(object.Metadata.Annotations[key]))
		if reasons := validation.IsQualifiedName(strings.ToLower(key)); len(reasons) > 0 {
			return fieldpath.Child("metadata.annotations", key), reasons[0]
		}
	}
	for i, name := range object.Metadata.Finalizers {
		text := fmt.Sprint(name)
		if reasons := validation.IsQualifiedName(text); len(reasons) > 0 || !strings.Contains(text, "/") && text != "foregroundDeletion" && text != "orphan" {
			return fmt.Sprintf("metadata.finalizers[%d]", i), "a finalizer has a domain in front of its name"
		}
	}
	switch {
	case size > mostAnnotations:
		return "metadata.annotations", fmt.Sprintf("they have more than %d bytes", mostAnnotations)
	case len(text) > mostOfAll:
		return "metadata", fmt.Sprintf("the object has more than %d bytes", mostOfAll)
	default:
		return "", ""
	}
}
