// Package dialect lists the dialects of policies and finds out which of them a
// policy is written in.
//
// It guarantees that no document is passed over: a document without a dialect is an
// error, and policies of two dialects are never mixed. It adds no meaning of its
// own. It is the only package outside of the dialects that imports one.
package dialect

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/spelling"
	"github.com/meshproof/meshproof/policy/gateway"
	"github.com/meshproof/meshproof/policy/kuma"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// dialects is the list. A set without policies is of the first, unless its options
// name another.
var dialects = []language.Dialect{kuma.Dialect, gateway.Dialect}

// Parse reads the documents. It returns all errors joined, one line each. Policies
// of two dialects are refused, for nothing defines what they mean together; so is
// an option that no dialect has.
func Parse(docs []manifest.Document, opts language.Options) (language.Policies, error) {
	foreign, err := CheckOptions(opts.Document)
	if err != nil {
		return nil, err
	}
	owner := slices.IndexFunc(dialects, func(d language.Dialect) bool { return d.Name() == cmp.Or(opts.Dialect, dialects[0].Name()) })
	if owner < 0 {
		return nil, fmt.Errorf("policy/dialect: there is no dialect %q: use one of %s", opts.Dialect, names())
	}
	own := make([][]manifest.Document, len(dialects))
	var errs []error
	for _, key := range foreign {
		errs = append(errs, opts.Document.Errorf(key, "no dialect has this option: only another compiler can read it"))
	}
	for _, doc := range docs {
		if i := ownerOf(doc); i >= 0 {
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
	set, err := dialects[owner].Parse(own[owner], opts)
	for i, docs := range own {
		if i != owner && docs != nil {
			_, other := dialects[i].Parse(docs, opts)
			err = errors.Join(other, err)
		}
	}
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	return set, nil
}

func ownerOf(doc manifest.Document) int {
	return slices.IndexFunc(dialects, func(d language.Dialect) bool { return d.Owns(doc) })
}

// CheckOptions refuses a key that neither a dialect nor one of the structs has, and a
// value of a wrong type. The structs belong to the caller, and get their fields as by
// [manifest.Document.Decode].
//
// A mapping under an unknown key is the document of a dialect that is not in the list. It
// is no error: its key is in foreign. A foreign compiler may know it.
func CheckOptions(doc manifest.Document, own ...any) (foreign []string, err error) {
	for _, d := range dialects {
		own = append(own, d.NewOptions())
	}
	for _, key := range doc.Keys() {
		if at, ok := doc.At(key); ok && isMapping(at) && !slices.ContainsFunc(own, func(s any) bool { return hasKey(s, key) }) {
			foreign = append(foreign, key)
			doc = doc.Without(key)
		}
	}
	return foreign, doc.Decode(own...)
}

func isMapping(doc manifest.Document) bool {
	var entries map[string]manifest.Document
	return doc.Decode(&entries) == nil && entries != nil
}

// hasKey reports whether a pointer to a struct has a field with the yaml tag.
func hasKey(pointer any, key string) bool {
	of := reflect.TypeOf(pointer).Elem()
	for i := range of.NumField() {
		if name, _, _ := strings.Cut(of.Field(i).Tag.Get("yaml"), ","); name == key {
			return true
		}
	}
	return false
}

// Having returns the dialects that have a capability, such as
// [capability.Converter].
func Having[Capability any]() []Capability {
	var out []Capability
	for _, d := range dialects {
		if c, ok := d.(Capability); ok {
			out = append(out, c)
		}
	}
	return out
}

func names() string {
	all := make([]string, len(dialects))
	for i, d := range dialects {
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
	var known, names []string
	for _, d := range dialects {
		for _, head := range d.Kinds() {
			text := "type " + head.Type
			if head.Type == "" {
				text = "kind " + head.Kind + " of " + head.APIVersion
			}
			known, names = append(known, text), append(names, cmp.Or(head.Type, head.Kind))
		}
	}
	use := "the known kinds are " + strings.Join(known, ", ")
	if meant, ok := spelling.Closest(kind(doc), names); ok && meant != kind(doc) {
		use = "did you mean " + meant + "?"
	}
	switch head := doc.Type(); {
	case head.Type != "":
		return doc.Errorf("type", "kind %q is unknown: %s", head.Type, use)
	case head.Kind != "":
		return doc.Errorf("kind", "kind %q of apiVersion %q is unknown: %s", head.Kind, head.APIVersion, use)
	default:
		return doc.Errorf("", "the policy has neither type nor apiVersion and kind: %s", use)
	}
}
