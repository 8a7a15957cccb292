// Package object has what the kinds of security.istio.io share: the head of an object, its
// selector, and its targets.
//
// It guarantees that what the API server refuses of them is refused, with file, line and field.
// It knows no kind, and selects no workload.
package object

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

const (
	// Group is the API group of all kinds.
	Group = "security.istio.io"
	// DefaultNamespace is the namespace of an object or a workload that states none.
	DefaultNamespace = "default"

	revision        = "istio.io/rev"
	defaultRevision = "default"

	// DryRun is the annotation of an AuthorizationPolicy that only observes.
	DryRun = "istio.io/dry-run"
)

// reserved are annotations with which Istio's webhook takes no object (validateMetadata in pkg/config/validation).
var reserved = []string{"internal.istio.io/webhook-always-reject", "internal.istio.io/parents", "internal.istio.io/parent-namespace"}

// versions are the versions that Istio serves. They have one schema.
var versions = []string{"v1", "v1beta1"}

// Owns reports whether the document is an object of the kind, in any version.
func Owns(doc manifest.Document, kind string) bool {
	head := doc.Type()
	of, _, _ := strings.Cut(head.APIVersion, "/")
	return head.Type == "" && head.Kind == kind && of == Group
}

// Object is an object without its spec. Kinds embed it.
type Object struct {
	APIVersion string            `yaml:"apiVersion"`
	Kind       string            `yaml:"kind"`
	Metadata   metadata.Object   `yaml:"metadata"`
	Status     manifest.Document `yaml:"status"`
}

// String returns "namespace/name".
func (o Object) String() string { return o.Metadata.Namespace + "/" + o.Metadata.Name }

// Complete fills the namespace in, and refuses a version that is not served, and names that
// Kubernetes does not take.
func (o *Object) Complete(refuse func(field, format string, args ...any)) {
	o.Metadata.Namespace = cmp.Or(o.Metadata.Namespace, DefaultNamespace)
	if _, version, _ := strings.Cut(o.APIVersion, "/"); !slices.Contains(versions, version) {
		refuse("apiVersion", "%q is no version of %s: use %s/v1", o.APIVersion, o.Kind, Group)
	}
	if problem := metadata.NameProblem(o.Metadata.Name); problem != "" {
		refuse("metadata.name", "%s", problem)
	}
	// Istio reads an object with this label in the control plane of that revision alone.
	if of, ok := o.Metadata.Labels[revision]; ok && of != defaultRevision {
		refuse(fmt.Sprintf("metadata.labels[%q]", revision), "only a control plane of the revision %q reads it, and meshproof proves the revision %q: take the label out, or the object", of, defaultRevision)
	}
	if problem := metadata.NamespaceProblem(o.Metadata.Namespace); problem != "" {
		refuse("metadata.namespace", "%s", problem)
	}
	for _, name := range reserved {
		if _, ok := o.Metadata.Annotations[name]; ok {
			refuse(fmt.Sprintf("metadata.annotations[%q]", name), "it is Istio's own: take it out")
		}
	}
}

// RefuseDryRun refuses the annotation of a dry run, which another kind than AuthorizationPolicy does not have.
func (o *Object) RefuseDryRun(refuse func(field, format string, args ...any)) {
	if _, ok := o.Metadata.Annotations[DryRun]; ok {
		refuse(fmt.Sprintf("metadata.annotations[%q]", DryRun), "a %s has no dry run, and would be in force: take it out", o.Kind)
	}
}

// Selector selects workloads by labels. Without labels, and where it is nil, it selects all.
type Selector struct {
	MatchLabels map[string]string `yaml:"matchLabels"`
}

// Labels are those that a workload needs.
func (s *Selector) Labels() map[string]string {
	if s == nil {
		return nil
	}
	return s.MatchLabels
}

// longestLabel is the most bytes of the value of a label.
const longestLabel = 63

// Check refuses what the CRDs refuse of a selector.
func (s *Selector) Check(refuse func(field, format string, args ...any)) {
	labels := s.Labels()
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		value, at := labels[key], fmt.Sprintf("spec.selector.matchLabels[%q]", key)
		switch {
		case key == "":
			refuse("spec.selector.matchLabels", "a label has no key")
		case strings.Contains(key+value, "*"):
			refuse(at, "a selector has no wildcard: write the whole label")
		case len(value) > longestLabel:
			refuse(at, "the value has %d bytes, at most %d are allowed", len(value), longestLabel)
		}
	}
}

// RefuseTargets refuses a policy that names what it is for: that is no sidecar.
func RefuseTargets(doc manifest.Document, refuse func(field, format string, args ...any)) {
	for _, field := range []string{"targetRef", "targetRefs"} {
		if IsSet(doc, "spec."+field) {
			refuse("spec."+field, "it names a gateway, a service or a waypoint, and no sidecar: meshproof proves sidecars, which a selector names: take the policy out of these files, and review it by hand")
		}
	}
}

// IsSet reports whether a field is there and is not null.
func IsSet(doc manifest.Document, field string) bool {
	at, ok := doc.Lookup(field)
	var value any
	return ok && (at.Decode(&value) != nil || value != nil)
}
