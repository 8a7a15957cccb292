// Package fieldvalue looks into the values of a document whose fields no type describes.
//
// It guarantees that a value of another form than the one asked for is as none: no call fails.
package fieldvalue

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy/manifest"
)

// Decode returns the fields of a document as a mapping, and its text where it is none.
func Decode(doc manifest.Document) any {
	var fields map[string]any
	if doc.Decode(&fields) != nil {
		return doc.Flow()
	}
	return fields
}

// Lookup follows keys into mappings, and returns nil where one is not there. An empty key leads nowhere else.
func Lookup(value any, keys ...string) any {
	for _, key := range keys {
		if key == "" {
			continue
		}
		fields, _ := value.(map[string]any)
		value = fields[key]
	}
	return value
}

// Mappings returns the mappings in a list, nil where it is none.
func Mappings(value any) (out []map[string]any) {
	list, _ := value.([]any)
	for _, item := range list {
		if one, ok := item.(map[string]any); ok {
			out = append(out, one)
		}
	}
	return out
}

// Texts returns the items of a list as texts, nil where it is none.
func Texts(value any) (out []string) {
	items, _ := value.([]any)
	for _, item := range items {
		out = append(out, fmt.Sprint(item))
	}
	return out
}

// Any reports whether a value, or one in it, meets a condition.
func Any(value any, meets func(any) bool) bool {
	if meets(value) {
		return true
	}
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return Any(item, meets) })
	case map[string]any:
		for _, item := range value {
			if Any(item, meets) {
				return true
			}
		}
	}
	return false
}
