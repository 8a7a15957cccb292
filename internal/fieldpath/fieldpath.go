// Package fieldpath writes the path of a field of a document, such as metadata.labels["kuma.io/mesh"] or
// spec.rules[0].
//
// It guarantees that a path leads back to its field, whatever letters a key has. It reads no path: package
// manifest does.
package fieldpath

import "strconv"

// Child returns the path of a key below a field; "" is the document. A key that is no plain word is quoted.
func Child(field, key string) string {
	switch {
	case !IsPlain(key):
		return field + "[" + strconv.Quote(key) + "]"
	case field == "":
		return key
	default:
		return field + "." + key
	}
}

// Item returns the path of an item of a list, counted from 0.
func Item(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// IsPlain reports whether a key is a plain word, which a path has without quotes.
func IsPlain(key string) bool {
	for i := range len(key) {
		c := key[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return key != ""
}
