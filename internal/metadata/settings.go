package metadata

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/policy/manifest"
)

// The most bytes that an API server takes for all annotations of an object, and for the object. kubectl keeps the
// object in an annotation where it applies it, unless it is told to apply it on the server's side.
const (
	mostAnnotations = 256 << 10
	mostOfAll       = 1 << 20
)

// SettingsProblem returns the field of a resource's metadata for which an API server refuses the resource, and why; "" where
// there is none. Of a universal resource it is Kuma's API server, which refuses names too. A name of a Kubernetes object
// is the business of [NameProblem].
func SettingsProblem(doc manifest.Document) (field, why string) {
	var fields map[string]any
	if doc.Decode(&fields) != nil {
		return "", ""
	}
	if doc.Type().Type != "" {
		return problemOfUniversal(fields)
	}
	object, isMapping := fields["metadata"].(map[string]any)
	if !isMapping {
		return "metadata", "its metadata are of another type"
	}
	if field, why = typeProblem(object, objectTypes); field != "" {
		return fieldpath.Child("metadata", field), why
	}
	if key, why := labelProblem(object["labels"]); why != "" {
		return fieldpath.Child("metadata.labels", key), why
	}
	size := 0
	annotations, _ := object["annotations"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		size += len(key) + len(fmt.Sprint(annotations[key]))
		if reasons := validation.IsQualifiedName(strings.ToLower(key)); len(reasons) > 0 {
			return fieldpath.Child("metadata.annotations", key), reasons[0]
		}
	}
	finalizers, _ := object["finalizers"].([]any)
	for i, name := range finalizers {
		text := fmt.Sprint(name)
		if reasons := validation.IsQualifiedName(text); len(reasons) > 0 || !strings.Contains(text, "/") && text != "foregroundDeletion" && text != "orphan" {
			return fmt.Sprintf("metadata.finalizers[%d]", i), "a finalizer has a domain in front of its name"
		}
	}
	if _, isMapping := fields["status"].(map[string]any); fields["status"] != nil && !isMapping {
		return "status", "it is of another type"
	}
	switch {
	case size > mostAnnotations:
		return "metadata.annotations", fmt.Sprintf("they have more than %d bytes", mostAnnotations)
	case sizeOf(fields) > mostOfAll:
		return "metadata", fmt.Sprintf("the object has more than %d bytes", mostOfAll)
	default:
		return "", ""
	}
}

// lastApplied is the annotation in which kubectl keeps an object that it applies, with an empty mapping of annotations where the object
// has none.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration" + `"annotations":{},`

// IsTooLargeToApply reports whether kubectl cannot apply a resource, unless it is told to do so on the server's side: all annotations
// have a bound, and one of them is the resource.
func IsTooLargeToApply(doc manifest.Document) bool {
	var fields map[string]any
	if doc.Decode(&fields) != nil {
		return false
	}
	object, _ := fields["metadata"].(map[string]any)
	size := len(lastApplied) + sizeOf(fields)
	if annotations, _ := object["annotations"].(map[string]any); len(annotations) > 0 {
		size += sizeOf(annotations)
	}
	return size > mostAnnotations
}

func sizeOf(fields map[string]any) int {
	text, _ := json.Marshal(fields)
	return len(text)
}

// problemOfUniversal is [SettingsProblem] for the fields of a universal resource.
func problemOfUniversal(fields map[string]any) (field, why string) {
	if field, why = typeProblem(fields, universalTypes); field != "" {
		return field, why
	}
	name, _ := fields["name"].(string)
	if why := NameProblem(name); why != "" {
		return "name", why
	}
	if key, why := labelProblem(fields["labels"]); why != "" {
		return fieldpath.Child("labels", key), why
	}
	return "", ""
}

// labelProblem returns the first label that is refused.
func labelProblem(labels any) (key, why string) {
	all, _ := labels.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if reasons := slices.Concat(validation.IsQualifiedName(key), validation.IsValidLabelValue(fmt.Sprint(all[key]))); len(reasons) > 0 {
			return key, reasons[0]
		}
	}
	return "", ""
}

// manager is an entry of managedFields, as an API server checks it.
type manager struct {
	Manager, APIVersion, Subresource string
	Operation                        operation
	Time                             *time.Time
	FieldsType                       fieldsType
	FieldsV1                         map[string]any
}

type operation string

// UnmarshalText takes what a manager does to fields.
func (o *operation) UnmarshalText(text []byte) error {
	*o = operation(text)
	if *o != "Apply" && *o != "Update" {
		return fmt.Errorf("%q is no operation: it is Apply or Update", text)
	}
	return nil
}

type fieldsType string

// UnmarshalText takes the only type of fields that there is.
func (f *fieldsType) UnmarshalText(text []byte) error {
	*f = fieldsType(text)
	if *f != "FieldsV1" && *f != "" {
		return fmt.Errorf("%q is no type of fields: it is FieldsV1", text)
	}
	return nil
}

// objectTypes are the types of the fields of ObjectMeta, beside the labels, and universalTypes those of the metadata of Kuma.
var (
	objectTypes = map[string]func() any{
		"name": text, "namespace": text, "generateName": text, "selfLink": text, "uid": text, "resourceVersion": text,
		"generation": number, "deletionGracePeriodSeconds": number, "creationTimestamp": timestamp, "deletionTimestamp": timestamp,
		"labels": texts, "annotations": texts,
		"finalizers":    func() any { return new([]string) },
		"managedFields": func() any { return new([]manager) },
		"ownerReferences": func() any {
			return new([]struct {
				APIVersion, Kind, Name, UID    string
				Controller, BlockOwnerDeletion *bool
			})
		},
	}
	universalTypes = map[string]func() any{"name": text, "mesh": text, "labels": texts, "creationTime": timestamp, "modificationTime": timestamp}
)

func text() any      { return new(string) }
func texts() any     { return new(map[string]string) }
func number() any    { return new(int64) }
func timestamp() any { return new(time.Time) }

// typeProblem returns the first field that is of another type.
func typeProblem(fields map[string]any, types map[string]func() any) (field, why string) {
	for _, field := range slices.Sorted(maps.Keys(types)) {
		value, stated := fields[field]
		if !stated {
			continue
		}
		written, err := json.Marshal(value)
		if err == nil {
			err = json.Unmarshal(written, types[field]())
		}
		if err != nil {
			return field, "it is of another type"
		}
	}
	return "", ""
}
