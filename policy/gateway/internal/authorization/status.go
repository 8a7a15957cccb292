package authorization

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

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
		if p.missReason(pod) == "" {
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
	if at, ok := doc.At(field); !ok || at.Decode(&value) != nil {
		return *new(T)
	}
	return value
}
