package clusterobject

import (
	"encoding/json"
	"iter"
	"maps"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// DecidesAs reports whether a policy says what another one says, beside metadata that no dialect reads.
func (o Object) DecidesAs(other Object) bool { return o.Decisive() == other.Decisive() }

// Decisive is the text of what a dialect reads of a policy. Of two policies of some kinds the older one counts.
func (o Object) Decisive() string { return o.DecisiveBy(o.Name) }

// DecisiveBy is [Object.Decisive] of a policy that has another name.
func (o Object) DecisiveBy(name string) string {
	out := map[string]any{}
	for key, value := range fieldvalue.Mapping(o.Fields) {
		switch key {
		case "creationTime", "modificationTime", "kri", "status", "metadata":
		case "labels":
			out[key] = readOf(value)
		case "name":
			out[key] = name
		default:
			out[key] = value
		}
	}
	if !o.Universal {
		of := func(field string) any { return fieldvalue.Lookup(o.Fields, "metadata", field) }
		out["metadata"] = []any{name, of("namespace"), readOf(of("labels")), readOf(of("annotations"))}
		if o.Kind == "PeerAuthentication" || o.IsOfLinkerd() {
			out["age"] = of("creationTimestamp")
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return o.Doc.Flow()
	}
	return string(text)
}

// readOf returns the labels or annotations that a dialect reads.
func readOf(settings any) map[string]any {
	out := map[string]any{}
	for key, value := range fieldvalue.Mapping(settings) {
		if readSettings[key] {
			out[key] = value
		}
	}
	return out
}

// readSettings are the labels and annotations of policies that their dialects read.
var readSettings = fieldpath.SetOf(`kuma.io/mesh kuma.io/zone kuma.io/origin kuma.io/display-name kuma.io/policy-role kuma.io/effect k8s.kuma.io/namespace istio.io/dry-run`)

// ReadSettings are the labels and annotations of policies that their dialects read.
func ReadSettings() iter.Seq[string] { return maps.Keys(readSettings) }

// IsRead reports whether a label or an annotation is one of [ReadSettings].
func IsRead(key string) bool { return readSettings[key] }
