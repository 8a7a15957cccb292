// Package policylist reads documents as a list of policies with names.
//
// It guarantees that no two policies of a list have one name: Kubernetes has one object of a name, so
// that the second would take the place of the first. It knows no kind of policy.
package policylist

import (
	"errors"
	"fmt"

	"github.com/meshproof/meshproof/policy/manifest"
)

// FirstPlaces has the place where each name was seen first.
type FirstPlaces map[string]string

// Add refuses a name that is there already.
func (f FirstPlaces) Add(doc manifest.Document, name string) error {
	if first, ok := f[name]; ok {
		return doc.Errorf("metadata.name", "%s is defined twice, first at %s: delete one of the two", name, first)
	}
	f[name] = doc.Place("")
	return nil
}

// Parse parses each document, and refuses a policy whose text is that of another one. Where there
// is an error it returns no policies, and all errors joined, one line each.
func Parse[P fmt.Stringer](docs []manifest.Document, parse func(manifest.Document) (P, error)) ([]P, error) {
	var errs []error
	ps := make([]P, 0, len(docs))
	names := FirstPlaces{}
	for _, doc := range docs {
		p, err := parse(doc)
		if err == nil {
			err = names.Add(doc, p.String())
		}
		errs, ps = append(errs, err), append(ps, p)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return ps, nil
}
