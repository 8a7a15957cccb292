// Package listing shows MeshTrafficPermissions, services, routes and timeouts as the API server of a
// control plane would.
//
// It guarantees that each of them is shown, valid or not, with what a webhook adds: the label
// kuma.io/mesh and the namespace of a Kubernetes object, and the mesh of a universal one. It
// has no status, as Kuma has none.
package listing

import (
	"encoding/json"
	"errors"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Nouns are the names of the kind that a user may write, in lower case.
var Nouns = []string{"meshtrafficpermission", "meshtrafficpermissions", "mtp"}

// Objects reads each document. A policy that [permission.Parse] refuses is an object too. The
// error joins the errors of documents that no control plane could hold.
func Objects(docs []manifest.Document) ([]capability.Object, error) {
	var errs []error
	out := make([]capability.Object, 0, len(docs))
	first := map[string]string{}
	for _, doc := range docs {
		o, err := newObject(doc)
		if place := first[o.Policy]; err == nil && o.Policy != "" && place != "" {
			err = doc.Errorf("", "%s is defined twice, first at %s: delete one of the two", o.Policy, place)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		first[o.Policy] = doc.Place("")
		out = append(out, o)
	}
	return out, errors.Join(errs...)
}

func newObject(doc manifest.Document) (capability.Object, error) {
	o := capability.Object{Kind: permission.KindName, Target: "{kind: Mesh}", Rules: len(items(doc, "spec.rules")) + len(items(doc, "spec.from"))}
	if _, short := doc.Lookup("spec.default"); short {
		o.Rules++
	}
	p, invalid := permission.Parse(doc)
	if invalid == nil {
		o.Role = p.Role(permission.Options{})
	}
	return complete(o, doc, p.Resource, invalid)
}

// complete adds what all kinds have: the head of a valid document, or what of it can be read.
func complete(o capability.Object, doc manifest.Document, head resource.Resource, invalid error) (capability.Object, error) {
	var written map[string]any
	if err := doc.Decode(&written); err != nil {
		return capability.Object{}, err
	}
	if target, ok := doc.Lookup("spec.targetRef.kind"); ok && target.Line() > 0 {
		ref, _ := doc.Lookup("spec.targetRef")
		o.Target = ref.Flow()
	}
	if invalid == nil {
		o.Policy, o.Mesh, o.Namespace, o.Name = head.Origin, head.ID.Mesh, head.ID.Namespace, head.ID.Name
		show(written, head)
	} else {
		o.Invalid, o.Accepted, o.Reason = invalid, "False", "Invalid"
		o.Mesh, o.Name, o.Namespace = text(doc, "mesh"), text(doc, "name"), text(doc, "metadata.namespace")
		if name := text(doc, "metadata.name"); name != "" {
			o.Name = name
		}
	}
	var err error
	if o.JSON, err = json.Marshal(written); err != nil {
		return capability.Object{}, doc.Errorf("", "a control plane cannot hold it: %v", err)
	}
	return o, nil
}

// show adds what a webhook adds to a valid resource.
func show(written map[string]any, p resource.Resource) {
	if p.Universal {
		written["mesh"] = p.ID.Mesh
		return
	}
	metadata, _ := written["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	if labels == nil {
		labels = map[string]any{}
	}
	labels[resource.LabelMesh] = p.ID.Mesh
	metadata["labels"], metadata["namespace"] = labels, p.Namespace
}

func items(doc manifest.Document, field string) (out []manifest.Document) {
	if at, ok := doc.Lookup(field); ok && at.Decode(&out) != nil {
		return nil
	}
	return out
}

func text(doc manifest.Document, field string) (out string) {
	if at, ok := doc.Lookup(field); ok && at.Decode(&out) != nil {
		return ""
	}
	return out
}
