// Package dialects lists the dialects of policies, and what each of them can do.
//
// It guarantees that a new dialect is one line here: no other package outside of the
// dialects imports one. It reads no policy; package policy/dialect does.
package dialects

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy/cilium"
	"github.com/meshproof/meshproof/policy/gateway"
	"github.com/meshproof/meshproof/policy/istio"
	"github.com/meshproof/meshproof/policy/kuma"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/linkerd"
	"github.com/meshproof/meshproof/policy/manifest"
)

// dialects is the list. The first is the dialect of a set without policies.
var dialects = []language.Dialect{kuma.Dialect, gateway.Dialect, istio.Dialect, cilium.Dialect, linkerd.Dialect}

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
		if at, ok := doc.Lookup(key); ok && isMapping(at) && !slices.ContainsFunc(own, func(s any) bool { return hasKey(s, key) }) {
			foreign = append(foreign, key)
			doc = doc.WithoutKey(key)
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

// OfOptions returns the name of the dialect that alone has the options of a document, "" where none or
// several have some of them.
func OfOptions(doc manifest.Document) string {
	var names []string
	for _, d := range dialects {
		if slices.ContainsFunc(doc.Keys(), func(key string) bool { return hasKey(d.NewOptions(), key) }) {
			names = append(names, d.Name())
		}
	}
	if len(names) != 1 {
		return ""
	}
	return names[0]
}

// UnusedOptions returns the options of a document that only dialects have which read none of the given
// documents. Without documents each option may say whose policies there are none of.
func UnusedOptions(options manifest.Document, docs []manifest.Document) (unused []string) {
	for _, key := range options.Keys() {
		of := slices.DeleteFunc(slices.Clone(dialects), func(d language.Dialect) bool { return !hasKey(d.NewOptions(), key) })
		used := slices.ContainsFunc(of, func(d language.Dialect) bool {
			router, routes := d.(capability.Router)
			return slices.ContainsFunc(docs, func(doc manifest.Document) bool { return d.Owns(doc) || routes && router.OwnsRouting(doc) })
		})
		if len(docs) > 0 && len(of) > 0 && !used {
			unused = append(unused, key)
		}
	}
	return unused
}

// Designs is the flag that chooses what to rewrite policies for, with the designs of every
// dialect that is a [capability.Converter].
func Designs() capability.Flag {
	var all []string
	for _, c := range Having[capability.Converter]() {
		all = append(all, c.Designs().Values...)
	}
	return capability.Flag{Name: "to", Values: all, Usage: "design to rewrite the policies for", Value: func(text string) (string, error) {
		if ConverterTo(text) == nil {
			return "", fmt.Errorf("%q is unknown: use one of %s", text, strings.Join(all, ", "))
		}
		return text, nil
	}}
}

// ConverterTo returns the dialect that rewrites its policies for a design, nil where none does.
func ConverterTo(design string) capability.Converter {
	for _, c := range Having[capability.Converter]() {
		if _, err := c.Designs().Value(design); err == nil {
			return c
		}
	}
	return nil
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

// Released returns what releases of their mesh make of policies with parts that those of before do not have, see [capability.Releaser].
func Released(before, docs []manifest.Document) (out []capability.Released) {
	for _, d := range dialects {
		if releaser, ok := d.(capability.Releaser); ok {
			foreign := func(doc manifest.Document) bool { return !d.Owns(doc) }
			out = append(out, releaser.Released(slices.DeleteFunc(slices.Clone(before), foreign), slices.DeleteFunc(slices.Clone(docs), foreign))...)
		}
	}
	return out
}

// Drafts returns what of the policies and routes releases of their mesh, or older ones, take otherwise, see [capability.Drafter].
func Drafts(docs []manifest.Document) (out []string) {
	for _, d := range dialects {
		if drafter, ok := d.(capability.Drafter); ok {
			router, routes := d.(capability.Router)
			foreign := func(doc manifest.Document) bool { return !d.Owns(doc) && !(routes && router.OwnsRouting(doc)) }
			out = append(out, drafter.Drafts(slices.DeleteFunc(slices.Clone(docs), foreign))...)
		}
	}
	return out
}

// OwnersOf returns the dialects that read some of the documents as policies, in the order of the list.
func OwnersOf(docs []manifest.Document) []language.Dialect {
	return slices.DeleteFunc(slices.Clone(dialects), func(d language.Dialect) bool { return !slices.ContainsFunc(docs, d.Owns) })
}

// OwnerOf returns the dialect that reads a document as a policy, nil where none does.
func OwnerOf(doc manifest.Document) language.Dialect {
	for _, d := range dialects {
		if d.Owns(doc) {
			return d
		}
	}
	return nil
}

// RouterOf returns the dialect that reads a document as a route, a timeout or a service, nil where
// none does.
func RouterOf(doc manifest.Document) capability.Router {
	for _, r := range Having[capability.Router]() {
		if r.OwnsRouting(doc) {
			return r
		}
	}
	return nil
}
