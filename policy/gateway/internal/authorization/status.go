package authorization

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/policylist"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// PolicyStatus is the status of a policy of Gateway API (GEP-713).
type PolicyStatus struct {
	Ancestors []Ancestor `yaml:"ancestors" json:"ancestors"`
}

// accepted returns status and reason of the last condition.
func (s *PolicyStatus) accepted() (status, reason string) {
	for _, a := range s.Ancestors {
		for _, c := range a.Conditions {
			status, reason = c.Status, c.Reason
		}
	}
	return status, reason
}

// Ancestor is what one controller says of the policy on one object.
type Ancestor struct {
	AncestorRef    AncestorRef `yaml:"ancestorRef" json:"ancestorRef"`
	ControllerName string      `yaml:"controllerName" json:"controllerName"`
	Conditions     []Condition `yaml:"conditions" json:"conditions,omitzero"`
}

// AncestorRef names the object.
type AncestorRef struct {
	Group       *string `yaml:"group" json:"group,omitempty"`
	Kind        string  `yaml:"kind" json:"kind,omitempty"`
	Namespace   string  `yaml:"namespace" json:"namespace,omitempty"`
	Name        string  `yaml:"name" json:"name"`
	SectionName string  `yaml:"sectionName" json:"sectionName,omitempty"`
	Port        uint16  `yaml:"port" json:"port,omitempty"`
}

// Condition is a condition of Kubernetes.
type Condition struct {
	Type               string `yaml:"type" json:"type"`
	Status             string `yaml:"status" json:"status"`
	ObservedGeneration int64  `yaml:"observedGeneration" json:"observedGeneration,omitempty"`
	// LastTransitionTime is empty. The controller that publishes the status fills it in.
	LastTransitionTime string `yaml:"lastTransitionTime" json:"lastTransitionTime,omitempty"`
	Reason             string `yaml:"reason" json:"reason"`
	Message            string `yaml:"message" json:"message"`
}

// ControllerName is the name of the controller in every [Status].
const ControllerName = "github.com/meshproof/meshproof"

// The reasons of the condition Accepted, which GEP-713 names.
const (
	ReasonAccepted       = "Accepted"
	ReasonInvalid        = "Invalid"
	ReasonTargetNotFound = "TargetNotFound"
)

// Status returns the status that a controller would publish for the document, given the
// workloads. It has one condition, Accepted. Its message says what is wrong, or which
// workloads the policy selects. The ancestor is the namespace, for a selector has no name
// and selects in its namespace only.
func Status(doc manifest.Document, pods []policy.Workload) PolicyStatus {
	p, err := Parse(doc)
	return statusOf(doc, p, err, pods)
}

// statusOf returns the status of a document for which [Parse] returned p and invalid.
func statusOf(doc manifest.Document, p Policy, invalid error, pods []policy.Workload) PolicyStatus {
	c := Condition{Type: "Accepted", Status: "False"}
	if invalid != nil {
		c.Reason, c.Message = ReasonInvalid, reasonOf(doc, invalid)
	} else {
		c.accept(p, pods)
	}
	c.ObservedGeneration = read[int64](doc, "metadata.generation")
	core := ""
	return PolicyStatus{Ancestors: []Ancestor{{
		AncestorRef:    AncestorRef{Group: &core, Kind: "Namespace", Name: cmp.Or(read[string](doc, "metadata.namespace"), defaultNamespace)},
		ControllerName: ControllerName,
		Conditions:     []Condition{c},
	}}}
}

func (c *Condition) accept(p Policy, pods []policy.Workload) {
	var names []string
	for _, pod := range pods {
		if p.missReason(pod) == nil {
			names = append(names, pod.Name)
		}
	}
	if len(names) == 0 {
		selector := p.resource.Spec.TargetRefs[0].Selector.expression()
		c.Reason, c.Message = ReasonTargetNotFound, fmt.Sprintf("no pod of namespace %s matches selector %s", p.resource.Metadata.Namespace, selector)
		return
	}
	slices.Sort(names)
	names = slices.Compact(names)
	c.Status, c.Reason, c.Message = "True", ReasonAccepted, "selects "+strings.Join(names, ", ")
}

// reasonOf leaves out what an API server does not know: file and line, and the place of
// the policy in a larger document.
func reasonOf(doc manifest.Document, err error) string {
	e, root := new(manifest.Error), new(manifest.Error)
	if !errors.As(err, &e) || !errors.As(doc.Errorf("", ""), &root) {
		return err.Error()
	}
	field := strings.TrimPrefix(strings.TrimPrefix(e.Field, root.Field), ".")
	if field == "" {
		return e.Reason
	}
	return field + ": " + e.Reason
}

// read returns a field of a document that may be invalid. It returns the zero value for
// a field that is absent or of another type.
func read[T any](doc manifest.Document, field string) T {
	var value T
	if at, ok := doc.Lookup(field); !ok || at.Decode(&value) != nil {
		return *new(T)
	}
	return value
}

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
	// The two kinds are two names of one policy, so that the kind does not count.
	names := policylist.FirstPlaces{}
	for _, doc := range docs {
		o, err := newObject(doc, pods)
		if err == nil {
			err = names.Add(doc, o.Namespace+"/"+o.Name)
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
		value *string
	}{
		{"apiVersion", &head.APIVersion}, {"kind", &head.Kind},
		{"metadata.name", &head.Metadata.Name}, {"metadata.namespace", &head.Metadata.Namespace},
	} {
		if at, ok := doc.Lookup(f.field); ok {
			if err := at.Decode(f.value); err != nil {
				return head, err
			}
		}
	}
	head.Metadata.Namespace = cmp.Or(head.Metadata.Namespace, defaultNamespace)
	return head, Policy{doc: doc, resource: head}.checkHead()
}
