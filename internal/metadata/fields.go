// Package metadata knows the metadata of resources: the fields that an author writes, those that an API server
// or a control plane adds, and the names that Kubernetes takes. The schemas of resources embed its structs.
//
// It guarantees that a schema with these fields takes a resource as a cluster gives it, and that all
// dialects refuse the same names in the same words. No added field decides whether a caller is allowed, but for [Created]. It
// does not know which objects have a namespace.
package metadata

import "github.com/meshproof/meshproof/policy/manifest"

// ignored takes any value and keeps none.
type ignored struct{}

// UnmarshalManifest lets [manifest.Document.Decode] read the type.
func (*ignored) UnmarshalManifest(manifest.Document) error { return nil }

// Added are the fields that Kubernetes adds to the metadata of an object.
type Added struct {
	UID                        ignored `yaml:"uid" json:"-"`
	ResourceVersion            ignored `yaml:"resourceVersion" json:"-"`
	Generation                 ignored `yaml:"generation" json:"-"`
	CreationTimestamp          ignored `yaml:"creationTimestamp" json:"-"`
	DeletionTimestamp          ignored `yaml:"deletionTimestamp" json:"-"`
	DeletionGracePeriodSeconds ignored `yaml:"deletionGracePeriodSeconds" json:"-"`
	GenerateName               ignored `yaml:"generateName" json:"-"`
	OwnerReferences            ignored `yaml:"ownerReferences" json:"-"`
	ManagedFields              ignored `yaml:"managedFields" json:"-"`
	Finalizers                 ignored `yaml:"finalizers" json:"-"`
	SelfLink                   ignored `yaml:"selfLink" json:"-"`
}

// Object is the metadata of a Kubernetes object: what an author writes, and what is added.
type Object struct {
	Name        string            `yaml:"name"`
	Namespace   string            `yaml:"namespace"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
	Added
}

// Universal are fields that Kuma's control plane adds to a universal resource.
type Universal struct {
	CreationTime     ignored `yaml:"creationTime"`
	ModificationTime ignored `yaml:"modificationTime"`
	KRI              ignored `yaml:"kri"`
	Status           ignored `yaml:"status"`
}
