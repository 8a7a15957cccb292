package clusterobject

import (
	"fmt"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Object is a document with its identity.
type Object struct {
	metadata.Identity
	Doc manifest.Document
	// Version is the version of the kind with its group, as a document states it: apiVersion.
	Version string
	// Fields are the fields of the document as a mapping, and its text where it has none.
	Fields any
	// Category says what the object may mean to a mesh.
	Category Category
	// Key is the same for one object on both sides of a comparison. What has no name is known by its content.
	Key string
}

// Read reads a document as an object.
func Read(doc manifest.Document) Object {
	o := Object{Identity: metadata.IdentityOf(doc), Doc: doc, Version: doc.Type().APIVersion}
	o.Key = KeyOf(o.Identity)
	if o.Kind == "" || o.Name == "" {
		o.Key += doc.Flow()
	}
	o.Fields = fieldvalue.Decode(doc)
	o.Category = categoryOf(o)
	return o
}

// IsNone reports whether a document is no object of a cluster, such as the values of a chart, which may have a kind of their own.
func (o Object) IsNone() bool { return o.Kind == "" || o.Version == "" && !o.Universal }

// KeyOf is the key of an object with a name.
func KeyOf(id metadata.Identity) string {
	return fmt.Sprintf("%t %q %q %q %q", id.Universal, id.Group, id.Kind, id.Namespace, id.Name)
}

// File is the name of the file that an object stands in.
func (o Object) File() string { return metadata.FileOf(o.Doc) }

// Controller returns the kind and the name of the object that made another one.
func (o Object) Controller() (kind, name string) {
	for _, owner := range fieldvalue.Mappings(fieldvalue.Lookup(o.Fields, "metadata", "ownerReferences")) {
		if owner["controller"] == true {
			kind, _ = owner["kind"].(string)
			name, _ = owner["name"].(string)
		}
	}
	return kind, name
}

// PlacedIn is an object as it is where something else gives it a namespace. Its key stays.
func (o Object) PlacedIn(namespace string) Object {
	o.Namespace = namespace
	o.Category = categoryOf(o)
	return o
}

// Written is the namespace that an object names, "" where it names none.
func (o Object) Written() string { return metadata.TextAt(o.Doc, "metadata.namespace") }

// Labels returns the labels of an object.
func (o Object) Labels() map[string]any {
	labels := fieldvalue.Lookup(o.Fields, "metadata", "labels")
	if o.Universal {
		labels = fieldvalue.Lookup(o.Fields, "labels")
	}
	return fieldvalue.Mapping(labels)
}

// Label returns a label of an object, nil where it does not have that.
func (o Object) Label(key string) any { return o.Labels()[key] }
