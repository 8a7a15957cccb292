package policy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// EscapedSlashes is what a listener does with a path that contains %2F or %5C.
type EscapedSlashes uint8

// The actions of HttpConnectionManager.PathWithEscapedSlashesAction that a
// listener is configured with here.
const (
	// RejectEscapedSlashes answers 400.
	RejectEscapedSlashes EscapedSlashes = iota
	// KeepEscapedSlashes leaves them as they are.
	KeepEscapedSlashes
	// UnescapeSlashes turns them into slashes and forwards the request.
	UnescapeSlashes
)

var escapedSlashesNames = [...]string{RejectEscapedSlashes: "reject", KeepEscapedSlashes: "keep", UnescapeSlashes: "unescape"}

// String returns the name used in case files.
func (e EscapedSlashes) String() string {
	if int(e) < len(escapedSlashesNames) {
		return escapedSlashesNames[e]
	}
	return "escaped slashes " + strconv.Itoa(int(e))
}

// UnmarshalText reads the name used in case files; an unknown one is an error
// that lists the known ones.
func (e *EscapedSlashes) UnmarshalText(text []byte) error {
	i := slices.Index(escapedSlashesNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("escapedSlashes %q is unknown: use one of %s", text, strings.Join(escapedSlashesNames[:], ", "))
	}
	*e = EscapedSlashes(i)
	return nil
}

// errPathRejected is returned for a path that the listener answers with a 400
// before any filter sees it.
var errPathRejected = errors.New("path refused with 400")

// PathNormalization says how a listener normalizes a path before filters and
// upstream see it. The zero value is the safe default: normalize, merge slashes,
// refuse escaped ones. With any of them off, a path matcher can be bypassed.
type PathNormalization struct {
	// Raw switches HttpConnectionManager.normalize_path off.
	Raw bool
	// KeepSlashes switches HttpConnectionManager.merge_slashes off.
	KeepSlashes bool
	// EscapedSlashes is HttpConnectionManager.path_with_escaped_slashes_action.
	EscapedSlashes EscapedSlashes
	// KeepDotParameters is no setting: an Envoy without the fix of CVE-2026-73551 takes
	// "..;x" for a name, where others resolve it as "..".
	KeepDotParameters bool
}

// Apply returns the path, with its query, as the filters see it, or an error
// for a path that the listener answers with a 400. Envoy's order is kept: fragment, escaped
// slashes, dot segments, merging. A query is never touched.
func (n PathNormalization) Apply(target string) (string, error) {
	if strings.Contains(target, "#") {
		return "", fmt.Errorf("%w: %q has a fragment", errPathRejected, target)
	}
	path, query, hasQuery := strings.Cut(target, "?")
	if !strings.HasPrefix(path, "/") {
		return target, nil
	}
	path, err := n.EscapedSlashes.apply(path)
	if err == nil && !n.Raw {
		if !n.KeepDotParameters {
			path = dropDotParameters(path)
		}
		path, err = canonical(path)
	}
	if err != nil {
		return "", err
	}
	if !n.KeepSlashes {
		path = mergeSlashes(path)
	}
	if hasQuery {
		path += "?" + query
	}
	return path, nil
}

var slashEscapes = strings.NewReplacer("%2f", "/", "%2F", "/", "%5c", `\`, "%5C", `\`)

func (e EscapedSlashes) apply(path string) (string, error) {
	plain := slashEscapes.Replace(path)
	switch {
	case e == KeepEscapedSlashes || plain == path:
		return path, nil
	case e == UnescapeSlashes:
		return plain, nil
	default:
		return "", fmt.Errorf("%w: %q has an escaped slash", errPathRejected, path)
	}
}

// canonical does what Envoy's normalize_path does (URL canonicalization of the
// path): escaped unreserved characters are unescaped once, characters that no URL has
// are escaped, a backslash counts as a slash, dot segments are resolved, an escaped NUL
// is refused.
func canonical(path string) (string, error) {
	plain, err := normalizeEscapes(strings.ReplaceAll(path, `\`, "/"))
	if err != nil {
		return "", err
	}
	segments := strings.Split(plain, "/")[1:]
	var out []string
	for i, segment := range segments {
		last := i == len(segments)-1
		switch segment {
		case ".":
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, segment)
			continue
		}
		if last {
			out = append(out, "")
		}
	}
	return "/" + strings.Join(out, "/"), nil
}

// dropDotParameters drops what follows a semicolon in a dot segment. Envoy looks for
// such segments before it unescapes, so that "%2e%2e;x" stays a name.
func dropDotParameters(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if name, _, has := strings.Cut(segment, ";"); has && (name == "." || name == "..") {
			segments[i] = name
		}
	}
	return strings.Join(segments, "/")
}

// unsafe are the characters that Envoy takes in a path and escapes, of those that RFC 3986 has in no URL. It escapes no
// square bracket, refuses blanks and bytes beyond ASCII, and has another use for a backslash.
const unsafe = "\"<>^`{|}"

func normalizeEscapes(path string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if strings.IndexByte(unsafe, path[i]) >= 0 {
			fmt.Fprintf(&b, "%%%02X", path[i])
			continue
		}
		if path[i] != '%' || i+2 >= len(path) {
			b.WriteByte(path[i])
			continue
		}
		high, low := unhex(path[i+1]), unhex(path[i+2])
		switch c := byte(high<<4 | low); {
		case high < 0 || low < 0:
			b.WriteByte('%')
		case c == 0:
			return "", fmt.Errorf("%w: %q has an escaped NUL", errPathRejected, path)
		case unreserved(c):
			b.WriteByte(c)
			i += 2
		default:
			b.WriteString(path[i : i+3])
			i += 2
		}
	}
	return b.String(), nil
}

func unhex(c byte) int {
	digit := strings.IndexByte("0123456789abcdefABCDEF", c)
	if digit > 0xf {
		digit -= 6
	}
	return digit
}

func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// mergeSlashes does what PathUtil::mergeSlashes of Envoy does: it keeps a slash at the beginning
// and one at the end, so that a path of several slashes and nothing else becomes two.
func mergeSlashes(path string) string {
	if len(path) > 1 && strings.Trim(path, "/") == "" {
		return "//"
	}
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}
