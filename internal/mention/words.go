// Package mention collects the words by which documents may name or select something else: labels, names, namespaces and accounts.
//
// It guarantees that a word that stands in a document is found; more words than those that select something may be found too. It does not say
// what a word names.
package mention

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// OfNamespaces ends what stands in front of the label of a namespace in a selector of Cilium.
const OfNamespaces = "namespace.labels."

// Words are the words of documents.
type Words map[string]bool

// Has reports whether a word is among these. The empty word never is.
func (w Words) Has(word string) bool { return word != "" && w[word] }

// add adds the words of a text, and what of them stands behind a prefix by which Cilium asks for the labels
// of a namespace.
func (w Words) add(text string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("{}[]\",': \n\t\r=|&()!<>;`\\", r) }) {
		_, label, _ := strings.Cut(word, OfNamespaces)
		w[word], w[label] = true, true
		for _, part := range strings.FieldsFunc(word, func(r rune) bool { return r == '/' || r == '.' }) {
			w["/"+part] = true
		}
	}
}

// AddValue adds the words of a value.
func (w Words) AddValue(value any) {
	switch value := value.(type) {
	case string:
		w.add(value)
		w[value] = true
	case []any:
		for _, item := range value {
			w.AddValue(item)
		}
	case map[string]any:
		for key, item := range value {
			w.add(key)
			w.AddValue(item)
		}
	}
}

// peerKeys are the fields by which policies name callers, beside those such as from, fromEndpoints and source.
var peerKeys = fieldpath.SetOf("spiffeid identities identityrefs serviceaccounts client requiredauthenticationrefs")

// Anybody is a word that no document has: a policy says of callers what many of them meet.
const Anybody = "\x00"

// AddPeers adds the words of what a policy says of callers.
func (w Words) AddPeers(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			w.AddPeers(item)
		}
	case map[string]any:
		if of, _ := value["key"].(string); strings.HasPrefix(of, "source.") { // a condition of Istio
			w.AddValue(value["values"])
			if value["notValues"] != nil {
				w[Anybody] = true
			}
		}
		for key, item := range value {
			if strings.HasPrefix(key, "from") || strings.HasPrefix(key, "source") || peerKeys[strings.ToLower(key)] {
				w.AddValue(item)
				if hasEmpty(item) {
					w[Anybody] = true
				}
			}
			w.AddPeers(item)
		}
	}
}

// AddOwn adds the namespace of a policy that lets in each account of its own namespace without naming it.
func (w Words) AddOwn(o clusterobject.Object) {
	if fieldvalue.Any(o.Fields, func(value any) bool {
		account := fieldvalue.Mapping(fieldvalue.Lookup(value, "serviceAccount"))
		return account["name"] == "*" && (account["namespace"] == nil || account["namespace"] == "")
	}) {
		w.AddValue(o.Namespace)
	}
}

// hasEmpty reports whether a value has a mapping without fields: a selector of everything.
func hasEmpty(value any) bool {
	return fieldvalue.Any(value, func(value any) bool {
		fields, isMapping := value.(map[string]any)
		return isMapping && len(fields) == 0
	})
}

// AddSelectors adds the words of a document, but for its own labels and annotations.
func (w Words) AddSelectors(value any) {
	fields, ok := value.(map[string]any)
	if !ok {
		w.AddValue(value)
		return
	}
	for key, item := range fields {
		if metadata, ok := item.(map[string]any); ok && key == "metadata" {
			item = map[string]any{"name": metadata["name"], "namespace": metadata["namespace"]}
		}
		w.add(key)
		w.AddValue(item)
	}
}

// AddSidecars adds the names of what a workload gives to a sidecar that it has by itself.
func (w Words) AddSidecars(o clusterobject.Object) {
	spec := fieldvalue.Lookup(o.Fields, append(strings.Split(o.PodPlace(), "."), "spec")...)
	for _, container := range slices.Concat(fieldvalue.Mappings(fieldvalue.Lookup(spec, "containers")), fieldvalue.Mappings(fieldvalue.Lookup(spec, "initContainers"))) {
		if clusterobject.IsSidecar(container) {
			w.AddValue(fieldvalue.Lookup(spec, "volumes"))
			w.AddValue(container)
		}
	}
}

// AddMeshAnnotations adds the words of the annotations by which an object tells a mesh something, such as
// the name of a ConfigMap with the first configuration of its sidecars.
func (w Words) AddMeshAnnotations(o clusterobject.Object) {
	for _, head := range []string{"metadata", o.PodPlace() + "metadata"} {
		annotations := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, append(strings.Split(head, "."), "annotations")...))
		for key, value := range annotations {
			if clusterobject.IsOfMesh(key) {
				w.AddValue(value)
			}
		}
	}
}
