// Package object has what the kinds of Linkerd share: the head of an object, references to other
// objects, and selectors of labels.
//
// It guarantees that what the API server refuses of them is refused, with file, line and field.
// It knows no kind, and decides nothing.
package object

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

const (
	// Group is the API group of Linkerd's policies.
	Group = "policy.linkerd.io"
	// GatewayGroup is the API group of Gateway API, whose routes a Server may have.
	GatewayGroup = "gateway.networking.k8s.io"
	// DefaultNamespace is that of an object and of a workload that state none.
	DefaultNamespace = "default"
)

// Head is an object without its spec. Kinds embed it.
type Head struct {
	APIVersion string            `yaml:"apiVersion"`
	Kind       string            `yaml:"kind"`
	Metadata   metadata.Object   `yaml:"metadata"`
	Status     manifest.Document `yaml:"status"`
}

// String returns "namespace/name".
func (h Head) String() string { return h.Metadata.Namespace + "/" + h.Metadata.Name }

// Group returns the API group of the object.
func (h Head) Group() string {
	group, _, _ := strings.Cut(h.APIVersion, "/")
	return group
}

// Reader collects the errors of one document.
type Reader struct {
	Doc  manifest.Document
	errs []error
}

// Refuse adds an error about a field.
func (r *Reader) Refuse(field, format string, args ...any) {
	r.errs = append(r.errs, r.Doc.Errorf(field, format, args...))
}

// Err returns all errors joined, nil for none.
func (r *Reader) Err() error { return errors.Join(r.errs...) }

// Complete fills the namespace in, and refuses a version that is none of those given, and names
// that Kubernetes does not take.
func (r *Reader) Complete(h *Head, versions []string) {
	h.Metadata.Namespace = cmp.Or(h.Metadata.Namespace, DefaultNamespace)
	_, version, _ := strings.Cut(h.APIVersion, "/")
	if !slices.Contains(versions, version) {
		r.Refuse("apiVersion", "%q is no version of %s: use %s/%s", h.APIVersion, h.Kind, h.Group(), versions[0])
	}
	r.CheckName("metadata.name", h.Metadata.Name)
	r.CheckNamespace("metadata.namespace", h.Metadata.Namespace)
}

// CheckName refuses what is no name of an object.
func (r *Reader) CheckName(field, name string) {
	if problem := metadata.NameProblem(name); problem != "" {
		r.Refuse(field, "%s", problem)
	}
}

// CheckNamespace refuses what is no namespace.
func (r *Reader) CheckNamespace(field, namespace string) {
	if problem := metadata.NamespaceProblem(namespace); problem != "" {
		r.Refuse(field, "%s", problem)
	}
}

// Item returns the field of an entry of a list.
func Item(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

// IsSet reports whether a part of a document has a value.
func IsSet(doc manifest.Document) bool {
	var v any
	return doc.Decode(&v) == nil && v != nil
}

// Reference names another object.
type Reference struct {
	Group     string  `yaml:"group"`
	Kind      string  `yaml:"kind"`
	Name      string  `yaml:"name"`
	Namespace *string `yaml:"namespace"`
}

// Is reports whether the reference is to the kind of the group. Linkerd compares them in any
// case. The group of the kinds of Kubernetes itself is empty, or core.
func (f Reference) Is(group, kind string) bool {
	own := f.Group
	if strings.EqualFold(own, "core") {
		own = ""
	}
	return strings.EqualFold(own, group) && strings.EqualFold(f.Kind, kind)
}

// NamespaceIn returns the namespace of the object, which is that of the object that names it where the
// reference has none.
func (f Reference) NamespaceIn(namespace string) string {
	if f.Namespace != nil {
		return *f.Namespace
	}
	return namespace
}
