package manifest

import (
	"fmt"
	"regexp"
	"slices"
)

// behindSeparator finds a value on the line of a separator. kubectl passes over it, and Kustomize and Helm read it.
var behindSeparator = regexp.MustCompile(`(?m)^---[ \t]+[^#\s]`)

// HeadKeys returns the keys at the top of each document of data, as the parser of kubectl reads it, and of each item where the
// document is a list. It returns false where that parser reads no mapping there, takes none of it, or passes over some of it.
func HeadKeys(data []byte) (out [][]string, ok bool) {
	docs, err := readAgain(data)
	if err != nil || behindSeparator.Match(data) {
		return nil, false
	}
	for _, doc := range docs {
		items, isList := doc.([]any)
		if !isList {
			items = []any{doc}
		}
		for _, item := range items {
			keys, isMapping := keysOf(item)
			if !isMapping {
				return nil, false
			}
			out = append(out, keys)
		}
	}
	return out, len(out) > 0
}

func keysOf(from any) (keys []string, ok bool) {
	switch from := from.(type) {
	case map[any]any:
		for key := range from {
			keys = append(keys, fmt.Sprint(key))
		}
	case map[string]any:
		for key := range from {
			keys = append(keys, key)
		}
	default:
		return nil, false
	}
	slices.Sort(keys)
	return keys, true
}

// HeadKeys returns the keys at the top of the document, and of each item where it is a list. It returns false where one of these is no mapping.
func (d Document) HeadKeys() (out [][]string, ok bool) {
	if d.node == nil {
		return nil, false
	}
	items := []Document{d}
	if d.node.kind == list {
		items = nil
		for i := range d.node.items {
			items = append(items, d.item(i))
		}
	}
	for _, item := range items {
		if item.node.kind != mapping {
			return nil, false
		}
		out = append(out, item.Keys())
	}
	return out, len(out) > 0
}
