// Package dialect finds out which language a policy is written in and hands it
// to the package of that language.
//
// It guarantees that a document is never passed over: one that no dialect owns
// is an error. It adds no meaning of its own.
package dialect

import (
	"errors"
	"fmt"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Options are what the policies themselves do not say, for each dialect. The
// zero value holds the defaults.
type Options struct {
	Kuma kuma.Options
}

// Set is a set of parsed and validated policies. The zero value is the empty set,
// which every dialect has an answer to.
type Set struct {
	kuma    []kuma.Policy
	options Options
}

// Parse reads the documents. It returns all errors joined, one line each.
func Parse(docs []manifest.Document, opts Options) (Set, error) {
	var owned []manifest.Document
	var errs []error
	for _, doc := range docs {
		if kuma.Owns(doc) {
			owned = append(owned, doc)
		} else {
			errs = append(errs, unowned(doc))
		}
	}
	policies, err := kuma.ParseAll(owned)
	if err := errors.Join(append(errs, err)...); err != nil {
		return Set{}, err
	}
	return Set{kuma: policies, options: opts}, nil
}

func unowned(doc manifest.Document) error {
	const known = "the known kind is MeshTrafficPermission, as type: or with apiVersion: kuma.io/v1alpha1"
	switch head := doc.Type(); {
	case head.Type != "":
		return doc.Errorf("type", "kind %q is unknown: %s", head.Type, known)
	case head.Kind != "":
		return doc.Errorf("kind", "kind %q of apiVersion %q is unknown: %s", head.Kind, head.APIVersion, known)
	default:
		return doc.Errorf("", "the policy has neither type nor apiVersion and kind: %s", known)
	}
}

// Program is the decision program of one inbound, with what lowering warned
// about and why policies were left out.
type Program struct {
	policy.Program
	Warnings []policy.Warning
	// Ignored has a line for each policy that does not apply.
	Ignored []string
}

// Program selects the policies of the inbound and lowers them.
func (s Set) Program(in policy.Inbound) Program {
	selection := kuma.Select(s.kuma, in, s.options.Kuma)
	var p Program
	p.Program, p.Warnings = kuma.Lower(selection, in, s.options.Kuma)
	for _, ignored := range selection.Ignored {
		p.Ignored = append(p.Ignored, fmt.Sprintf("%s: %s", ignored.Policy.KRI(), ignored.Reason))
	}
	return p
}

// Evaluate judges a request straight from the text of the policies; it is a
// second opinion on [policy.Decide].
func (s Set) Evaluate(in policy.Inbound, r policy.Request) policy.Decision {
	return kuma.Evaluate(s.kuma, in, s.options.Kuma, r)
}

// Lint warns of policies that are legal but may not be meant, given all inbounds
// there are.
func (s Set) Lint(inbounds []policy.Inbound) []policy.Warning {
	return kuma.Lint(s.kuma, inbounds, s.options.Kuma)
}
