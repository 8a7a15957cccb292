package fieldvalue

import (
	"slices"
	"strings"
)

// Mapping returns a value as a mapping, an empty one where it is none.
func Mapping(value any) map[string]any {
	fields, _ := value.(map[string]any)
	return fields
}

// EachText calls back for each key and each text of a value.
func EachText(value any, do func(string)) {
	switch value := value.(type) {
	case string:
		do(value)
	case []any:
		for _, item := range value {
			EachText(item, do)
		}
	case map[string]any:
		for key, item := range value {
			do(key)
			EachText(item, do)
		}
	}
}

// HasAnyPrefix reports whether a text begins with one of these.
func HasAnyPrefix(text string, all []string) bool {
	return slices.ContainsFunc(all, func(begin string) bool { return strings.HasPrefix(text, begin) })
}

// HasAnyPart reports whether a text has one of these in it.
func HasAnyPart(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}
