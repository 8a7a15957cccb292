package authorization

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Objects reads each document and gives it a status, which depends on the pods; nil
// means that the pods are not known. A policy that [Parse] refuses is an object too: its
// status says why.
//
// Its errors are about documents that no API server could hold: a wrong apiVersion,
// kind, name or namespace, a name that is there twice, a number that JSON does not have.
// They are joined, one line each, and no object is returned beside them.
func Objects(docs []manifest.Document, pods []policy.Workload) ([]capability.Object, error) {
	var errs []error
	out := make([]capability.Object, 0, len(docs))
	names := firstPlaces{}
	for _, doc := range docs {
		o, err := newObject(doc, pods)
		if err == nil {
			err = names.add(doc, o.Namespace+"/"+o.Name)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, o)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return out, nil
}

func newObject(doc manifest.Document, pods []policy.Workload) (capability.Object, error) {
	head, err := identify(doc)
	if err != nil {
		return capability.Object{}, err
	}
	o := capability.Object{
		Kind: head.Kind, Namespace: head.Metadata.Namespace, Name: head.Metadata.Name,
		Rules: len(read[[]manifest.Document](doc, "spec.rules")),
	}
	p, invalid := Parse(doc)
	o.Invalid = invalid
	status := p.Resource().Status
	if invalid != nil || pods != nil {
		published := statusOf(doc, p, invalid, pods)
		status = &published
	}
	if status != nil {
		o.Accepted, o.Reason = status.accepted()
	}
	if o.JSON, err = json.Marshal(shown(doc, p, o, status)); err != nil {
		return capability.Object{}, doc.Errorf("", "an API server cannot hold it: %v", err)
	}
	return o, nil
}

// shown returns what is printed: the parsed policy, or the fields as they are written
// where the policy is not valid.
func shown(doc manifest.Document, p Policy, o capability.Object, status *PolicyStatus) any {
	if o.Invalid == nil {
		resource := p.Resource()
		resource.Status = status
		return resource
	}
	written := read[map[string]any](doc, "")
	metadata := read[map[string]any](doc, "metadata")
	metadata["namespace"] = o.Namespace
	written["metadata"], written["status"] = metadata, status
	return written
}

// identify reads and checks the fields that identify the object. The other fields may
// be wrong.
func identify(doc manifest.Document) (AuthorizationPolicy, error) {
	var head AuthorizationPolicy
	for _, f := range []struct {
		field string
		into  *string
	}{
		{"apiVersion", &head.APIVersion}, {"kind", &head.Kind},
		{"metadata.name", &head.Metadata.Name}, {"metadata.namespace", &head.Metadata.Namespace},
	} {
		if at, ok := doc.At(f.field); ok {
			if err := at.Decode(f.into); err != nil {
				return head, err
			}
		}
	}
	head.Metadata.Namespace = cmp.Or(head.Metadata.Namespace, defaultNamespace)
	return head, Policy{doc: doc, resource: head}.checkHead()
}

// firstPlaces has the place where each name was seen first.
type firstPlaces map[string]string

// add refuses a name that is there already. The two kinds are two names of one policy,
// so that the kind does not count.
func (f firstPlaces) add(doc manifest.Document, name string) error {
	if first, ok := f[name]; ok {
		return doc.Errorf("metadata.name", "%s is defined twice, first at %s: delete one of the two", name, first)
	}
	f[name] = doc.Place("")
	return nil
}
