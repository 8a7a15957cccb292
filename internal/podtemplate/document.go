package podtemplate

import (
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/policy/manifest"
)

// document is one that stands in a file, with its fields.
type document struct {
	metadata.Identity
	doc    manifest.Document
	fields any
}

func read(doc manifest.Document) document {
	return document{metadata.IdentityOf(doc), doc, fieldvalue.Decode(doc)}
}

// isKustomization reports whether a document tells Kustomize what to apply.
func (d document) isKustomization() bool { return rendering.IsKustomization(d.doc) }

// has reports whether a document has one of some fields at its top.
func (d document) has(fields ...string) bool {
	for _, field := range fields {
		if fieldvalue.Lookup(d.fields, field) != nil {
			return true
		}
	}
	return false
}

// isOfCore reports whether a document is an object of Kubernetes of a kind that has no group.
func (d document) isOfCore(kind string) bool { return d.Kind == kind && d.Group == "" }

// written is the namespace that a document states, "" for none.
func (d document) written() string { return metadata.TextAt(d.doc, "metadata.namespace") }

// ownNamespace is the namespace of a policy, "" for one of all namespaces.
func (d document) ownNamespace() string {
	if d.IsNamespaced() {
		return d.Namespace
	}
	return ""
}

// eachValue calls a function with each value of some parts of a document, and with what is in it behind it: with its field, and with the key under which it, or the list
// that it is an item of, stands.
func (d document) eachValue(do func(field, key string, value any), parts ...string) {
	var walk func(field, key string, value any)
	walk = func(field, key string, value any) {
		do(field, key, value)
		switch value := value.(type) {
		case []any:
			for i, item := range value {
				walk(fieldpath.Item(field, i), key, item)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				walk(fieldpath.Child(field, key), key, value[key])
			}
		}
	}
	for _, part := range parts {
		walk(part, part, fieldvalue.Lookup(d.fields, part))
	}
}
