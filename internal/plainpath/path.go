// Package plainpath is a second reading of the paths of requests: what a listener makes of a
// path before its filters and the upstream see it.
//
// It follows Envoy's HttpConnectionManager (normalize_path, merge_slashes and
// path_with_escaped_slashes_action) by the plainest code that does so, and calls nothing of
// [policy.PathNormalization] but its settings. It guarantees that a mistake in either
// reading is found: package verdict holds the two against each other for each request.
package plainpath

import (
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// Normalize returns the path, with its query, as the filters see it, and false where the
// listener answers 400.
func Normalize(n policy.PathNormalization, target string) (string, bool) {
	if strings.IndexByte(target, '#') >= 0 {
		return "", false
	}
	path, query := target, ""
	if i := strings.IndexByte(target, '?'); i >= 0 {
		path, query = target[:i], target[i:]
	}
	if path == "" || path[0] != '/' {
		return target, true
	}
	path, ok := plainSlashes(n.EscapedSlashes, path)
	if !ok {
		return "", false
	}
	segments := strings.Split(path[1:], "/")
	if !n.Raw {
		if segments, ok = resolve(n, segments); !ok {
			return "", false
		}
	}
	if !n.KeepSlashes {
		segments = withoutEmpty(segments)
	}
	return "/" + strings.Join(segments, "/") + query, true
}

// plainSlashes looks at each %2F and %5C.
func plainSlashes(how policy.EscapedSlashes, path string) (string, bool) {
	out := ""
	for i := 0; i < len(path); i++ {
		c, escaped := escapedByte(path, i)
		switch {
		case !escaped || c != '/' && c != '\\' || how == policy.KeepEscapedSlashes:
			out += path[i : i+1]
		case how == policy.UnescapeSlashes:
			out += string(rune(c))
			i += 2
		default:
			return "", false
		}
	}
	return out, true
}

// escapedByte returns the byte that %XX at an index stands for.
func escapedByte(path string, i int) (byte, bool) {
	if path[i] != '%' || i+2 >= len(path) {
		return 0, false
	}
	value := 0
	for _, digit := range path[i+1 : i+3] {
		d := strings.IndexRune("0123456789abcdef", digit)
		if d < 0 {
			d = strings.IndexRune("0123456789ABCDEF", digit)
		}
		if d < 0 {
			return 0, false
		}
		value = value*16 + d
	}
	return byte(value), true
}

// resolve unescapes the segments and takes the dots out.
func resolve(n policy.PathNormalization, segments []string) ([]string, bool) {
	var out []string
	for i, written := range segments {
		// Envoy looks for parameters of dots before it unescapes.
		if !n.KeepDotParameters && (strings.HasPrefix(written, ".;") || strings.HasPrefix(written, "..;")) {
			written = written[:strings.IndexByte(written, ';')]
		}
		plain, ok := rewriteEscapes(written)
		if !ok {
			return nil, false
		}
		// A backslash separates segments too.
		parts := strings.Split(plain, `\`)
		for k, segment := range parts {
			last := i == len(segments)-1 && k == len(parts)-1
			switch segment {
			case "..":
				out = out[:max(0, len(out)-1)]
			case ".":
			default:
				out = append(out, segment)
				continue
			}
			// Dots at the end leave the slash in front of them.
			if last {
				out = append(out, "")
			}
		}
	}
	return out, true
}

// escapes are what Envoy writes for the characters of a path that it escapes.
var escapes = map[byte]string{'"': "%22", '<': "%3C", '>': "%3E", '^': "%5E", '`': "%60", '{': "%7B", '|': "%7C", '}': "%7D"}

// rewriteEscapes takes the escapes of unreserved characters (RFC 3986, section 2.3) away, adds those of
// characters that no URL has, and refuses an escaped NUL.
func rewriteEscapes(segment string) (string, bool) {
	const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	out := ""
	for i := 0; i < len(segment); i++ {
		c, escaped := escapedByte(segment, i)
		switch {
		case escaped && c == 0:
			return "", false
		case escaped && strings.IndexByte(unreserved, c) >= 0:
			out += string(rune(c))
			i += 2
		case escapes[segment[i]] != "":
			out += escapes[segment[i]]
		default:
			out += segment[i : i+1]
		}
	}
	return out, true
}

// withoutEmpty drops the empty segments. It keeps an empty last segment, which is a slash at the end.
func withoutEmpty(segments []string) []string {
	var out []string
	// Envoy keeps the first slash and the last one of a path that has no others.
	if len(segments) > 1 && strings.Join(segments, "") == "" {
		return []string{"", ""}
	}
	for i, segment := range segments {
		if segment != "" || i == len(segments)-1 {
			out = append(out, segment)
		}
	}
	return out
}
