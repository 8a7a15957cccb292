// Package policylist reads documents as a list of policies with names, and selects from such a list.
//
// It guarantees that no two policies of a list have one name: Kubernetes has one object of a name, so
// that the second would take the place of the first. A policy is either selected, or ignored with a
// reason. The package knows no kind of policy.
package policylist

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// FirstPlaces has the place where each name was seen first.
type FirstPlaces map[string]string

// Add refuses a name that is there already.
func (f FirstPlaces) Add(doc manifest.Document, name string) error {
	if first, ok := f[name]; ok {
		return metadata.RefuseTwice(doc, "metadata.name", name, first)
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

// Select divides the policies: those without a reason to be ignored, in the order of their names, and for
// each other one what writes the line about it, in the order of the list. Most callers read no line.
func Select[P fmt.Stringer, R ~func() string](ps []P, missReason func(P) R) (selected []P, ignored []R) {
	for _, p := range ps {
		if reason := missReason(p); reason != nil {
			ignored = append(ignored, func() string { return Ignored(p, reason()) })
			continue
		}
		selected = append(selected, p)
	}
	slices.SortStableFunc(selected, func(a, b P) int { return strings.Compare(a.String(), b.String()) })
	return selected, ignored
}

// Ignored is the line about a policy, or a part of it, that has no part in a decision.
func Ignored(p fmt.Stringer, reason string) string { return p.String() + ": " + reason }
