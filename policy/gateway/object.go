package gateway

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Object is an AuthorizationPolicy as an API server would show it to which
// everything was applied: valid or not. [Objects] makes it. As JSON it is what was
// written, with its status; absent, empty and set stay apart.
type Object struct {
	// Kind is AuthorizationPolicy or XAuthorizationPolicy.
	Kind string
	// Namespace is filled in where it was left to the default.
	Namespace, Name string
	// Rules is the number of rules; 0 where they are no list.
	Rules int
	// Status is the one that was written, if any, where the policy is valid and the
	// pods are not known.
	Status *PolicyStatus
	// Invalid is the [*manifest.Error] for which [Parse] refuses the policy, nil
	// where it is valid.
	Invalid error
	content json.RawMessage
}

// MarshalJSON prints the whole object.
func (o Object) MarshalJSON() ([]byte, error) { return o.content, nil }

// Objects reads each document, whose status follows from the pods there are; nil
// means that they are not known. A policy that [Parse] refuses is an object all the
// same, with a status that says why. The errors are about what no API server could
// hold: a document without a sound apiVersion, kind, name and namespace, two of
// one name, and numbers that JSON does not have. They are joined, one line each,
// and there are no objects beside them.
func Objects(docs []manifest.Document, pods []policy.Workload) ([]Object, error) {
	var errs []error
	out := make([]Object, 0, len(docs))
	names := firsts{}
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

func newObject(doc manifest.Document, pods []policy.Workload) (Object, error) {
	head, err := identify(doc)
	if err != nil {
		return Object{}, err
	}
	o := Object{
		Kind: head.Kind, Namespace: head.Metadata.Namespace, Name: head.Metadata.Name,
		Rules: len(read[[]manifest.Document](doc, "spec.rules")),
	}
	p, invalid := Parse(doc)
	o.Invalid = invalid
	if o.Status = p.Resource().Status; invalid != nil || pods != nil {
		status := statusOf(doc, p, invalid, pods)
		o.Status = &status
	}
	if o.content, err = json.Marshal(o.shown(doc, p)); err != nil {
		return Object{}, doc.Errorf("", "an API server cannot hold it: %v", err)
	}
	return o, nil
}

// shown is what is printed: the parsed policy, or else whatever was written.
func (o Object) shown(doc manifest.Document, p Policy) any {
	if o.Invalid == nil {
		resource := p.Resource()
		resource.Status = o.Status
		return resource
	}
	written := read[map[string]any](doc, "")
	metadata := read[map[string]any](doc, "metadata")
	metadata["namespace"] = o.Namespace
	written["metadata"], written["status"] = metadata, o.Status
	return written
}

// identify reads, and checks, what tells the object from others, whatever else is
// wrong with it.
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

// firsts are the places where names were seen first.
type firsts map[string]string

// add refuses a name that is there already; the two kinds are two names of one
// policy.
func (f firsts) add(doc manifest.Document, name string) error {
	if first, ok := f[name]; ok {
		return doc.Errorf("metadata.name", "%s is defined twice, first at %s: delete one of the two", name, first)
	}
	f[name] = doc.Place("")
	return nil
}
