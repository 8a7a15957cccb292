package manifestdiff

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// words are the words of documents.
type words map[string]bool

func (w words) has(word string) bool { return word != "" && w[word] }

// add adds the words of a text, and what of them stands behind a prefix by which Cilium asks for the labels
// of a namespace.
func (w words) add(text string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("{}[]\",': \n\t\r=|&()!<>;`\\", r) }) {
		_, label, _ := strings.Cut(word, "namespace.labels.")
		w[word], w[label] = true, true
		for _, part := range strings.FieldsFunc(word, func(r rune) bool { return r == '/' || r == '.' }) {
			w["/"+part] = true
		}
	}
}

// addValue adds the words of a value.
func (w words) addValue(value any) {
	switch value := value.(type) {
	case string:
		w.add(value)
		w[value] = true
	case []any:
		for _, item := range value {
			w.addValue(item)
		}
	case map[string]any:
		for key, item := range value {
			w.add(key)
			w.addValue(item)
		}
	}
}

// peerKeys are the fields by which policies name callers, beside those such as from, fromEndpoints and source.
var peerKeys = fields("spiffeid identities identityrefs serviceaccounts client requiredauthenticationrefs")

// anybody is a word that no document has: a policy says of callers what many of them meet.
const anybody = "\x00"

// addPeers adds the words of what a policy says of callers.
func (w words) addPeers(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			w.addPeers(item)
		}
	case map[string]any:
		if of, _ := value["key"].(string); strings.HasPrefix(of, "source.") { // a condition of Istio
			w.addValue(value["values"])
			if value["notValues"] != nil {
				w[anybody] = true
			}
		}
		for key, item := range value {
			if strings.HasPrefix(key, "from") || strings.HasPrefix(key, "source") || peerKeys[strings.ToLower(key)] {
				w.addValue(item)
				if hasEmpty(item) {
					w[anybody] = true
				}
			}
			w.addPeers(item)
		}
	}
}

// addOwn adds the namespace of a policy that lets in each account of its own namespace without naming it.
func (w words) addOwn(o object) {
	if fieldvalue.Any(o.fields, func(value any) bool {
		account, _ := fieldvalue.Lookup(value, "serviceAccount").(map[string]any)
		return account["name"] == "*" && (account["namespace"] == nil || account["namespace"] == "")
	}) {
		w.addValue(o.namespace)
	}
}

// hasEmpty reports whether a value has a mapping without fields: a selector of everything.
func hasEmpty(value any) bool {
	return fieldvalue.Any(value, func(value any) bool {
		fields, isMapping := value.(map[string]any)
		return isMapping && len(fields) == 0
	})
}

// addSelectors adds the words of a document, but for its own labels and annotations.
func (w words) addSelectors(value any) {
	fields, ok := value.(map[string]any)
	if !ok {
		w.addValue(value)
		return
	}
	for key, item := range fields {
		if metadata, ok := item.(map[string]any); ok && key == "metadata" {
			item = map[string]any{"name": metadata["name"], "namespace": metadata["namespace"]}
		}
		w.add(key)
		w.addValue(item)
	}
}

// addSidecars adds the names of what a workload gives to a sidecar that it has by itself.
func (w words) addSidecars(o object) {
	spec := fieldvalue.Lookup(o.fields, append(strings.Split(podPlaces[o.kind], "."), "spec")...)
	for _, container := range slices.Concat(fieldvalue.Mappings(fieldvalue.Lookup(spec, "containers")), fieldvalue.Mappings(fieldvalue.Lookup(spec, "initContainers"))) {
		if isSidecar(container) {
			w.addValue(fieldvalue.Lookup(spec, "volumes"))
			w.addValue(container)
		}
	}
}

// addMeshAnnotations adds the words of the annotations by which an object tells a mesh something, such as
// the name of a ConfigMap with the first configuration of its sidecars.
func (w words) addMeshAnnotations(o object) {
	for _, head := range []string{"metadata", podPlaces[o.kind] + "metadata"} {
		annotations, _ := fieldvalue.Lookup(o.fields, append(strings.Split(head, "."), "annotations")...).(map[string]any)
		for key, value := range annotations {
			if isOfMesh(key) {
				w.addValue(value)
			}
		}
	}
}
