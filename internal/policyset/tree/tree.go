// Package tree reads and changes policies as values of JSON: objects, lists and texts. It knows their shape, and not what a mesh
// makes of them.
//
// It guarantees that the same value is visited in the same order each time. It does not guarantee that a policy is valid
// after a change.
package tree

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/meshproof/meshproof/cases"
)

// SPIFFEScheme stands in front of each SPIFFE ID.
const SPIFFEScheme = "spiffe://"

// Values returns the policies and the options of a case as they are read from JSON.
func Values(c cases.Case) (policies []any, options any, err error) {
	for _, doc := range c.Policies {
		var v any
		if err := doc.Decode(&v); err != nil {
			return nil, nil, err
		}
		policies = append(policies, v)
	}
	if len(c.Options.Document.Keys()) > 0 {
		err = c.Options.Document.Decode(&options)
	}
	if err == nil {
		_, err = json.Marshal([]any{policies, options})
	}
	return policies, options, err
}

// Visit calls back for a value that stands under a key and for all values in it. The items of a list stand under the
// key of the list.
func Visit(key string, v any, see func(key string, v any)) {
	see(key, v)
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			Visit(key, item, see)
		}
	case map[string]any:
		for _, inner := range Keys(v) {
			Visit(inner, v[inner], see)
		}
	}
}

// Keys returns the keys of an object in their order.
func Keys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

// HoldsLabels reports whether an object under the key is a mapping of labels or tags, whose keys are names.
func HoldsLabels(key string) bool { return labels[key] }

var labels = map[string]bool{"labels": true, "matchLabels": true, "tags": true, "namespaceLabels": true}

// Specs returns the specs of a policy: the value of each of its two fields, or nil.
func Specs(policy any) []any {
	of, _ := policy.(map[string]any)
	return []any{of["spec"], of["specs"]}
}

// Objects returns the objects of the specs by the keys under which they stand.
func Objects(policies []any) map[string][]map[string]any {
	out := map[string][]map[string]any{}
	for _, p := range policies {
		of, _ := p.(map[string]any)
		for _, key := range []string{"spec", "specs"} {
			Visit(key, of[key], func(key string, v any) {
				if v, ok := v.(map[string]any); ok && len(v) > 0 && !HoldsLabels(key) {
					out[key] = append(out[key], v)
				}
			})
		}
	}
	return out
}

// Metadata returns what has the name of a policy.
func Metadata(policy any) map[string]any {
	of, _ := policy.(map[string]any)
	if metadata, ok := of["metadata"].(map[string]any); ok {
		return metadata
	}
	return of
}

// ForgetDisplayName takes the label away with which Kuma states the name of a policy.
func ForgetDisplayName(metadata map[string]any) {
	if labels, ok := metadata["labels"].(map[string]any); ok {
		delete(labels, "kuma.io/display-name")
	}
}

// List is a list in a policy, and where it stands.
type List struct {
	Object map[string]any
	Key    string
}

// Items returns the items of the list.
func (l List) Items() []any { return l.Object[l.Key].([]any) }

// Set replaces the items of the list.
func (l List) Set(items []any) { l.Object[l.Key] = items }

// Lists returns the lists in a value that have items.
func Lists(v any) []List {
	var out []List
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			out = append(out, Lists(item)...)
		}
	case map[string]any:
		for _, key := range Keys(v) {
			if items, ok := v[key].([]any); ok && len(items) > 0 {
				out = append(out, List{v, key})
			}
			out = append(out, Lists(v[key])...)
		}
	}
	return out
}

// SpecLists are the lists of the specs.
func SpecLists(policies []any) (out []List) {
	for _, p := range policies {
		of, _ := p.(map[string]any)
		all := Lists(of["spec"])
		if specs, ok := of["specs"].([]any); ok && len(specs) > 0 {
			all = append(append(all, List{of, "specs"}), Lists(specs)...)
		}
		for _, l := range all {
			if l.Key != "targetRefs" && l.Key != "parentRefs" {
				out = append(out, l)
			}
		}
	}
	return out
}

// ByKey groups the lists of the wanted keys.
func ByKey(all []List, wanted func(key string) bool) map[string][]List {
	byKey := map[string][]List{}
	for _, l := range all {
		if wanted(l.Key) {
			byKey[l.Key] = append(byKey[l.Key], l)
		}
	}
	return byKey
}

// Opposed are the fields of Istio that have an opposite: the same name behind "not".
var Opposed = []string{"principals", "requestPrincipals", "namespaces", "serviceAccounts", "ipBlocks", "remoteIpBlocks", "hosts", "ports", "methods", "paths", "values"}

// Clone returns a copy of a value that shares nothing with it. The copy has the types that JSON gives.
func Clone(v any) any {
	switch v := v.(type) {
	case nil, bool, float64:
		return v
	case string:
		if utf8.ValidString(v) {
			return v
		}
	case []any:
		if v != nil {
			out := make([]any, len(v))
			for i, item := range v {
				out[i] = Clone(item)
			}
			return out
		}
	case map[string]any:
		if v != nil {
			out := make(map[string]any, len(v))
			for key, value := range v {
				out[key] = Clone(value)
			}
			return out
		}
	}
	return throughJSON(v)
}

// throughJSON returns what a reader of JSON makes of a value.
func throughJSON(v any) (out any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("tree: %v", err))
	}
	return out
}
