// Package dialect reads policies of any dialect: it finds out which dialect they are
// of.
//
// It guarantees that no document is passed over: a document without a dialect is an
// error, and policies of two dialects are never mixed. It adds no meaning of its
// own.
package dialect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/spelling"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// known are the dialects. A set without policies is of the first, unless its options name
// another.
var known = dialects.Having[language.Dialect]()

// Parse reads the documents. It returns all errors joined, one line each. Policies
// of two dialects are refused, for nothing defines what they mean together; so is
// an option that no dialect has.
func Parse(docs []manifest.Document, opts language.Options) (language.Policies, error) {
	foreign, err := dialects.CheckOptions(opts.Document)
	if err != nil {
		return nil, err
	}
	named := cmp.Or(opts.Dialect, dialects.OfOptions(opts.Document), known[0].Name())
	owner := slices.IndexFunc(known, func(d language.Dialect) bool { return d.Name() == named })
	if owner < 0 {
		return nil, fmt.Errorf("policy/dialect: there is no dialect %q: use one of %s", opts.Dialect, names())
	}
	own := make([][]manifest.Document, len(known))
	var errs []error
	for _, key := range foreign {
		errs = append(errs, opts.Document.Errorf(key, "no dialect has this option: only another compiler can read it"))
	}
	for _, doc := range docs {
		if i := slices.Index(known, dialects.OwnerOf(doc)); i >= 0 {
			own[i] = append(own[i], doc)
		} else {
			errs = append(errs, unowned(doc))
		}
	}
	var first []manifest.Document
	for i, docs := range own {
		switch {
		case docs == nil:
		case first == nil:
			first, owner = docs, i
		default:
			errs = append(errs, mixed(first[0], docs[0]))
		}
	}
	set, err := known[owner].Parse(own[owner], opts)
	for i, docs := range own {
		if i != owner && docs != nil {
			_, other := known[i].Parse(docs, opts)
			err = errors.Join(other, err)
		}
	}
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	return set, nil
}

func names() string {
	all := make([]string, len(known))
	for i, d := range known {
		all[i] = d.Name()
	}
	return strings.Join(all, ", ")
}

func mixed(a, b manifest.Document) error {
	return b.Errorf("", "%s stands beside %s (%s): what policies of two dialects mean together is not defined, use one of them",
		kind(b), kind(a), a.Place(""))
}

func kind(doc manifest.Document) string {
	head := doc.Type()
	return cmp.Or(head.Type, head.Kind)
}

func unowned(doc manifest.Document) error {
	var kinds, names, written []string
	for _, d := range known {
		for _, head := range d.Kinds() {
			text, name := "type "+head.Type, cmp.Or(head.Type, head.Kind)
			if head.Type == "" {
				text = "kind " + head.Kind + " of " + head.APIVersion
			}
			kinds, names = append(kinds, text), append(names, name)
			if name == kind(doc) {
				written = append(written, text)
			}
		}
	}
	use := "the known kinds are " + strings.Join(kinds, ", ")
	if meant, ok := spelling.Closest(kind(doc), names); ok && meant != kind(doc) {
		use = "did you mean " + meant + "?"
	} else if written != nil {
		use = "the known ones of this name are " + strings.Join(written, ", ")
	}
	_, asCase := doc.Lookup("requests")
	switch head := doc.Type(); {
	case head.Type != "":
		return doc.Errorf("type", "kind %q is unknown: %s", head.Type, use)
	case head.Kind != "":
		return doc.Errorf("kind", "kind %q of apiVersion %q is unknown: %s", head.Kind, head.APIVersion, use)
	case asCase:
		return doc.Errorf("", "the document has requests and no name: write the name of the case under case; a policy has no requests")
	default:
		return doc.Errorf("", "the policy has neither type nor apiVersion and kind: %s", use)
	}
}
