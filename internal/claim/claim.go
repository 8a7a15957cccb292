// Package claim names the claims of a token (RFC 7519) by their place in its payload.
//
// It guarantees that two places never have one key, and that a key can be read back. It has the
// numbers that claims are compared with, too. It knows no token, no Envoy message and no policy.
package claim

import (
	"slices"
	"strconv"
	"strings"
)

// The last segment of a path may say what stands there. Without one it is a text.
const (
	// List means the texts of a list.
	List = "[]"
	// Scalar means a number, true, false or null.
	Scalar = "#"
	// ScalarList means the numbers of a list, and what else of it is true, false or null.
	ScalarList = "[#]"
	// Any means a value of any type.
	Any = "?"
)

// forms has the last segments that say what stands at a place.
var forms = []string{List, Scalar, ScalarList, Any}

// Key returns the name of a place in a payload: "sub", "realm_access.roles[]", "level#". A segment
// with other characters than letters, digits, "_" and "-" stands in quotes.
func Key(path ...string) string {
	var b strings.Builder
	for i, segment := range path {
		if i > 0 && i == len(path)-1 && slices.Contains(forms, segment) {
			b.WriteString(segment)
			break
		}
		if i > 0 {
			b.WriteByte('.')
		}
		if segment == "" || strings.ContainsFunc(segment, func(r rune) bool { return !isPlain(r) }) {
			segment = strconv.Quote(segment)
		}
		b.WriteString(segment)
	}
	return b.String()
}

func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// Path returns the path that a key was made of, and apart from it the last segment where that is
// one that says what stands there. It returns no path for a text that is no key.
func Path(key string) (path []string, form string) {
	rest := key
	for _, last := range forms {
		if cut, ok := strings.CutSuffix(key, last); ok {
			rest, form = cut, last
		}
	}
	for {
		end := strings.IndexFunc(rest, func(r rune) bool { return !isPlain(r) })
		segment := rest
		switch quoted, err := strconv.QuotedPrefix(rest); {
		case err == nil:
			if segment, err = strconv.Unquote(quoted); err != nil {
				return nil, form
			}
			rest = rest[len(quoted):]
		case end == 0, rest == "":
			return nil, form
		case end > 0:
			segment, rest = rest[:end], rest[end:]
		default:
			rest = ""
		}
		path = append(path, segment)
		if rest == "" {
			return path, form
		}
		after, ok := strings.CutPrefix(rest, ".")
		if !ok {
			return nil, form
		}
		rest = after
	}
}
