package manifest

import (
	"strconv"
	"strings"
)

// child returns the path of a key below field. A key that is no plain word is quoted:
// metadata.labels["kuma.io/mesh"].
func child(field, key string) string {
	switch {
	case !plainKey(key):
		return field + "[" + strconv.Quote(key) + "]"
	case field == "":
		return key
	default:
		return field + "." + key
	}
}

func index(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// join puts a relative path behind the path of the node it is relative to.
func join(base, field string) string {
	if base == "" || field == "" || field[0] == '[' {
		return base + field
	}
	return base + "." + field
}

func plainKey(key string) bool {
	for i := range len(key) {
		c := key[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return key != ""
}

// step is one part of a path: a key where named is true, else an index.
type step struct {
	key   string
	named bool
	index int
}

// cutStep returns the first step of a path and the rest. It returns ok false where the
// path is malformed.
func cutStep(field string) (first step, rest string, ok bool) {
	if quoted, found := strings.CutPrefix(field, "["); found {
		if prefix, err := strconv.QuotedPrefix(quoted); err == nil {
			key, err := strconv.Unquote(prefix)
			rest, closed := strings.CutPrefix(quoted[len(prefix):], "]")
			return step{key: key, named: true}, strings.TrimPrefix(rest, "."), err == nil && closed
		}
		digits, rest, closed := strings.Cut(quoted, "]")
		i, err := strconv.Atoi(digits)
		return step{index: i}, strings.TrimPrefix(rest, "."), closed && err == nil && i >= 0
	}
	end := strings.IndexAny(field, ".[")
	if end < 0 {
		return step{key: field, named: true}, "", plainKey(field)
	}
	return step{key: field[:end], named: true}, strings.TrimPrefix(field[end:], "."), plainKey(field[:end])
}
