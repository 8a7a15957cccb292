package manifestdiff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/policy/manifest"
)

// object is a document with its identity.
type object struct {
	doc                  manifest.Document
	group, version, kind string
	namespace, name      string
	universal            bool
	fields               any
	category             category
	// key is the same for one object on both sides. What has no name is known by its content.
	key string
}

// objectOf reads the identity of a document. The version of its kind is no part of it.
func objectOf(doc manifest.Document) object {
	id := metadata.IdentityOf(doc)
	o := object{doc: doc, group: id.Group, kind: id.Kind, version: doc.Type().APIVersion, namespace: id.Namespace, name: id.Name, universal: id.Universal}
	o.key = keyOfObject(o.universal, o.group, o.kind, o.namespace, o.name)
	if o.kind == "" || o.name == "" {
		o.key += doc.Flow()
	}
	o.fields = fieldvalue.Decode(doc)
	o.category = categoryOf(o)
	return o
}

// isNone reports whether a document is no object of a cluster, such as the values of a chart, which may have a kind of their own.
func (o object) isNone() bool { return o.kind == "" || o.version == "" && !o.universal }

// keyOfObject is the key of an object with a name.
func keyOfObject(universal bool, group, kind, namespace, name string) string {
	return fmt.Sprintf("%t %q %q %q %q", universal, group, kind, namespace, name)
}

// String names the object, as in "Deployment shop/web".
func (o object) String() string { return o.identity().String() }

func (o object) identity() metadata.Identity {
	return metadata.Identity{Group: o.group, Kind: o.kind, Namespace: o.namespace, Name: o.name, Universal: o.universal}
}

func (o object) change(effect string) Change { return Change{o.doc.Place(""), o.String(), effect} }

// file is the name of the file.
func (o object) file() string { return metadata.FileOf(o.doc) }

// isOfIstio reports whether an object is one of Istio, or tells Istio something.
func (o object) isOfIstio() bool {
	labels, _ := fieldvalue.Lookup(o.fields, "metadata", "labels").(map[string]any)
	if isWithin(o.group, []string{"istio.io"}) || labels["istio-injection"] != nil {
		return true
	}
	for _, head := range []string{"metadata", podPlaces[o.kind] + "metadata"} {
		for _, field := range []string{"labels", "annotations"} {
			settings, _ := fieldvalue.Lookup(o.fields, append(strings.Split(head, "."), field)...).(map[string]any)
			for key := range settings {
				if isWithin(domainOf(key), []string{"istio.io"}) {
					return true
				}
			}
		}
	}
	return false
}

// isOfKustomize reports whether a document tells Kustomize what to apply.
func (o object) isOfKustomize() bool {
	return rendering.IsKustomization(o.doc)
}

// objects are those of a side, in order and by their keys.
type objects struct {
	all   []object
	byKey map[string][]object
	// repeated counts by their keys what is there once more, and alike.
	repeated map[string]int
}

// objectsOf returns the objects of documents. One that is there twice alike is there once.
func objectsOf(docs []manifest.Document) objects {
	out, seen := objects{byKey: map[string][]object{}, repeated: map[string]int{}}, map[string]bool{}
	for _, doc := range docs {
		o := objectOf(doc)
		if id := o.key + doc.Flow(); seen[id] {
			out.repeated[o.key]++
		} else {
			seen[id] = true
			out.all = append(out.all, o)
			out.byKey[o.key] = append(out.byKey[o.key], o)
		}
	}
	return out
}

// eachPair calls a function for each object, with what both sides have of it.
func eachPair(olds, recents objects, of func(was, is []object)) {
	seen := map[string]bool{}
	for _, o := range slices.Concat(recents.all, olds.all) {
		if !seen[o.key] {
			seen[o.key] = true
			of(olds.byKey[o.key], recents.byKey[o.key])
		}
	}
}
