package fieldpath

import "strings"

// SetOf returns the paths that a text names, one for each of its words.
func SetOf(text string) map[string]bool {
	out := map[string]bool{}
	for _, field := range strings.Fields(text) {
		out[field] = true
	}
	return out
}

// IsWithin reports whether a path leads to another one, or below it.
func IsWithin(path, of string) bool {
	rest, within := strings.CutPrefix(path, of)
	return within && (of == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Join returns the path of a key below a field in a table of fields: without indexes and without quotes. "" is the document.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
