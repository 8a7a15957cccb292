package metadata

import (
	"path/filepath"

	"github.com/meshproof/meshproof/policy/manifest"
)

// RefuseTwice says that a document defines an object of this name again in a field, first defined at "file:line", and what to do. Two folders are mostly those of two clusters, of
// which each has its own object.
func RefuseTwice(doc manifest.Document, field, name, first string) error {
	advice := "delete one of the two"
	if filepath.Dir(first) != filepath.Dir(doc.Place("")) {
		advice = "give the folder of one cluster at a time, delete one of the two"
	}
	return doc.Errorf(field, "%s is defined twice, first at %s: %s, or write out what is applied, such as by kustomize build", name, first, advice)
}
