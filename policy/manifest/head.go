package manifest

import (
	"fmt"
	"regexp"
	"slices"
)

// behindSeparator finds a value on the line of a separator. kubectl passes over it, and Kustomize and Helm read it.
var behindSeparator = regexp.MustCompile(`(?m)^---[ \t]+[^#\s]`)

// beforeColon finds what may be a key in a text: a line that lacks a space behind its colon is no mapping.
var beforeColon = regexp.MustCompile(`(\w+)["']?\s*:`)

// keysIn returns what may be keys in a text that stands in the place of a mapping.
func keysIn(text string) (keys []string) {
	for _, found := range beforeColon.FindAllStringSubmatch(text, -1) {
		keys = append(keys, found[1])
	}
	return keys
}

// HeadKeys returns the keys at the top of each document of data, as the parser of kubectl reads it, and of each item where the
// document is a list. A text has what may be a key in it. It returns false where that parser takes none of data, or passes over some of it.
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
			keys, ok := keysOf(item)
			if !ok {
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
	case string:
		keys = keysIn(from)
	default:
		return nil, false
	}
	slices.Sort(keys)
	return keys, true
}

// HeadKeys returns the keys at the top of the document, and of each item where it is a list. A text has what may be a key in it. It returns false
// where one of these is neither a mapping nor a text.
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
		switch item.node.kind {
		case mapping:
			out = append(out, item.Keys())
		case text:
			out = append(out, keysIn(item.node.scalar))
		default:
			return nil, false
		}
	}
	return out, len(out) > 0
}
