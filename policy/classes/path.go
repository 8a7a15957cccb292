package classes

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

var pathRow = add(row{
	attribute: attribute.Path,
	rank:      2,
	space: func(on Surface) space {
		return pathSpace{on.Normalization, on.Protocol == policy.HTTP2 || on.Protocol == policy.GRPC}
	},
	pattern: pathPattern,
	usual:   func(Surface) string { return "/" },
	embed: func(path *automaton.Language) *automaton.Language {
		return automaton.Parted(path, '?', anyBytes(), true)
	},
})

// pathPattern makes every path end in a slash, so that whole segments are a prefix of
// bytes.
func pathPattern(m policy.Match) pattern {
	switch {
	case m.Kind == policy.Exact:
		return pattern{text: m.Value + "/", kind: policy.Exact}
	case m.Kind == policy.Prefix:
		return pattern{text: m.Value, kind: policy.Prefix}
	case m.Segment() == "":
		return pattern{kind: policy.Prefix}
	default:
		return pattern{text: m.Segment() + "/", kind: policy.Prefix}
	}
}

// pathSpace is the space of normalized paths without their query. The key of a path
// ends in a slash, see [pathPattern].
type pathSpace struct {
	normalization policy.PathNormalization
	// bytes is true where a query can have any bytes, as in HTTP/2.
	bytes bool
}

func (pathSpace) name() string                        { return "path" }
func (pathSpace) read(r *policy.Request) string       { return r.Path }
func (pathSpace) put(r *policy.Request, value string) { r.Path = value }
func (pathSpace) clear(r *policy.Request)             { r.Path = "" }
func (pathSpace) key(value string) string {
	path, _, _ := strings.Cut(value, "?")
	return path + "/"
}
func (pathSpace) value(key string) string { return strings.TrimSuffix(key, "/") }

const (
	unreservedChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
	pathChars       = unreservedChars + "/!$&'()*+,;=:@"
)

func (pathSpace) alphabet() string { return pathChars }

// sound takes an absolute path of RFC 3986, section 3.3, unless the listener refuses or
// rewrites it. A query is no part of a path.
func (d pathSpace) sound(target string) error {
	path, _, _ := strings.Cut(target, "?")
	if !strings.HasPrefix(path, "/") {
		return fmt.Errorf("the path %q does not begin with /", path)
	}
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '%' && (i+2 >= len(path) || !isHex(path[i+1]) || !isHex(path[i+2])):
			return fmt.Errorf("%% in the path %q escapes nothing", path)
		case c != '%' && strings.IndexByte(pathChars, c) < 0:
			return fmt.Errorf("%q in the path %q has to be escaped", c, path)
		}
	}
	seen, err := d.normalization.Apply(path)
	if err != nil {
		return err
	}
	if seen != path {
		return fmt.Errorf("the listener makes %q of the path %q", seen, path)
	}
	return nil
}

func (d pathSpace) complete(prefix string, n int) []string {
	name := filler(n)
	switch {
	case prefix == "":
		return []string{"/", "/" + name}
	case prefix == "/":
		return []string{"/", "//" + name}
	case prefix == "//":
		return []string{prefix, prefix + name}
	case strings.HasSuffix(prefix, "/"):
		return []string{d.value(prefix), prefix + name}
	default:
		return []string{prefix, prefix + name, prefix + "/" + name}
	}
}

// sendable implements [sender]. The listener refuses or rewrites the other paths.
func (d pathSpace) sendable() (natural, all string, without []string) {
	n := d.normalization
	if !n.Raw {
		without = append(without, `.*/\.{1,2}(/.*)?`, `.*%(00|2[dDeE]|3[0-9]|[46][1-9a-fA-F]|[57][0-9aA]|5[fF]|7[eE]).*`)
		if !n.KeepDotParameters {
			without = append(without, `.*/\.{1,2};.*`)
		}
	}
	if !n.KeepSlashes {
		// Two slashes alone stay two.
		without = append(without, `.*//.+|.+//.*`)
	}
	if n.EscapedSlashes != policy.KeepEscapedSlashes {
		without = append(without, `.*%(2[fF]|5[cC]).*`)
	}
	return `/([a-z][a-z0-9._-]*(/[a-z][a-z0-9._-]*)*)?`, `/([-a-zA-Z0-9._~/!$&'()*+,;=:@]|%[0-9a-fA-F]{2})*`, without
}

// filler returns a name, another one for each n.
func filler(n int) string {
	if n == 0 {
		return "any"
	}
	return fmt.Sprint("any", n)
}

func (d pathSpace) neighbours(p pattern, _ string) []variant {
	path := d.value(p.text)
	out := []variant{
		{path + "x", "a longer name"},
		{path + "-evil/x", "a sibling"},
		{path + "/", "a closing slash"},
		{path + "/x", "a child"},
		{path + "?x=1", "a query"},
		{"/x?" + path, "only in the query"},
		{swapCase(path), "another case"},
	}
	if d.bytes {
		// An expression may not match it, see [policy.Request.UTF8].
		out = append(out, variant{path + "?\xff", "a query with a byte that is no UTF-8"})
	}
	if cut := strings.LastIndexByte(path, '/'); cut >= 0 {
		out = append(out, variant{path[:max(cut, 1)], "the parent"}, variant{path[:len(path)-1], "a shorter name"})
	}
	return out
}

func (d pathSpace) describe(p pattern) string {
	path := d.value(p.text)
	switch {
	case p.kind == policy.Exact:
		return "path " + path
	case path == p.text && path != "":
		return "path " + path + "…"
	}
	return "path under " + path
}

// swapCase turns the first letter of the last segment into the other case.
func swapCase(s string) string {
	start := strings.LastIndexByte(strings.TrimSuffix(s, "/"), '/') + 1
	for i := start; i < len(s); i++ {
		if c := s[i] | 0x20; c >= 'a' && c <= 'z' {
			return s[:i] + string(s[i]^0x20) + s[i+1:]
		}
	}
	return s
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }
