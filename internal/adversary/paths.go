package adversary

import "fmt"

// The rules that the spellings of a path break or use.
const (
	dotSegments   = "RFC 3986, section 5.2.4: dot segments are removed"
	emptySegments = "RFC 3986, section 3.3: an empty segment is a segment; many servers merge them"
	pathEscapes   = "RFC 3986, section 6.2.2.2: an escaped unreserved character is that character"
	slashEscapes  = "RFC 3986, section 2.2: an escaped slash is data; many servers take it for a slash"
	backslashes   = "WHATWG URL, section 4.4: a backslash is a slash; not so in RFC 3986"
	parameters    = "RFC 3986, section 3.3: a parameter belongs to its segment; some servers drop it"
	decodedOnce   = "RFC 3986, section 2.4: nothing is decoded twice"
	noFragment    = "RFC 9110, section 7.1: a target has no fragment"
	targetForms   = "RFC 9112, section 3.2: the forms of a target"
	targetChars   = "RFC 3986, section 2: the characters of a URI"
	queries       = "RFC 3986, section 3.4: the query begins at the first question mark"
)

// spellings are paths that some server takes for the protected path.
func (m mutation) spellings() []spelling {
	p, rest := m.path, m.path[1:]
	first := m.path[1]
	return []spelling{
		{"trailing-slash", "A slash at the end.", emptySegments, p + "/"},
		{"double-slash", "The first slash is doubled.", emptySegments, "/" + p},
		{"dot-segment", "A dot segment at the start.", dotSegments, "/." + p},
		{"dot-segment-behind", "A dot segment at the end.", dotSegments, p + "/."},
		{"parent-segment", "A detour through another directory.", dotSegments, openPath + "/.." + p},
		{"parent-of-root", "A parent segment above the root.", dotSegments, "/.." + p},
		{"parent-behind", "A detour below the protected path that ends on it.", dotSegments, p + "/x/.."},
		{"escaped-dots", "A detour with escaped dots.", pathEscapes, openPath + "/%2e%2e" + p},
		{"escaped-dots-upper-case", "A detour with dots that are escaped in upper case.", pathEscapes, openPath + "/%2E%2E" + p},
		{"half-escaped-dots", "A detour with one escaped dot.", pathEscapes, openPath + "/.%2e" + p},
		{"escaped-letter", "The first character is escaped.", pathEscapes, fmt.Sprintf("/%%%02x", first) + rest[1:]},
		{"escaped-twice", "The first character is escaped, and so is the escape.", decodedOnce, fmt.Sprintf("/%%25%02x", first) + rest[1:]},
		{"escaped-slash", "An escaped slash after the first slash.", slashEscapes, "/%2f" + rest},
		{"escaped-slash-upper-case", "A slash that is escaped in upper case, after the first slash.", slashEscapes, "/%2F" + rest},
		{"escaped-slash-detour", "A detour between escaped slashes.", slashEscapes, openPath + "%2f..%2f" + rest},
		{"escaped-slash-behind", "An escaped slash at the end.", slashEscapes, p + "%2f"},
		{"slash-escaped-twice", "A slash that is escaped twice, after the first slash.", decodedOnce, "/%252f" + rest},
		{"backslash", "A backslash after the slash.", backslashes, `/\` + rest},
		{"backslash-detour", "A detour between backslashes.", backslashes, openPath + `\..\` + rest},
		{"escaped-backslash", "An escaped backslash after the slash.", backslashes, "/%5c" + rest},
		{"overlong-dots", "A detour with dots in overlong UTF-8.", "RFC 3629, section 3: overlong sequences are invalid", openPath + "/%c0%ae%c0%ae" + p},
		{"escaped-nul", "An escaped NUL at the end, where a C string would end.", targetChars, p + "%00"},
		{"escaped-newline", "An escaped line end and more.", targetChars, p + "%0d%0ax"},
		{"escaped-space", "An escaped space at the end.", targetChars, p + "%20"},
		{"escaped-question-mark", "An escaped question mark and more.", queries, p + "%3fx"},
		{"escaped-hash", "An escaped number sign and more.", noFragment, p + "%23x"},
		{"escaped-parameter", "An escaped semicolon and more.", parameters, p + "%3bx"},
		{"bad-escape", "A percent sign that begins no escape.", targetChars, p + "%zz"},
		{"parameter", "A path parameter at the end.", parameters, p + ";x"},
		{"parameter-first", "An empty segment with a parameter first.", parameters, "/;x" + p},
		{"dot-parameter", "A detour whose dots have a parameter.", parameters, openPath + "/..;x" + p},
		{"escaped-dot-parameter", "A detour whose escaped dots have a parameter.", parameters, openPath + "/%2e%2e;x" + p},
		{"query", "A query with a path in it.", queries, p + "?x=" + openPath},
		{"empty-query", "An empty query.", queries, p + "?"},
		{"in-query", "The protected path as a query.", queries, openPath + "?" + p},
		{"detour-in-query", "A detour after the question mark.", queries, openPath + "?/.." + p},
		{"fragment", "A fragment at the end.", noFragment, p + "#x"},
		{"in-fragment", "The protected path as a fragment.", noFragment, openPath + "#" + p},
		{"other-case", "Upper and lower case exchanged.", "RFC 3986, section 6.2.2.1: a path has case", swapCase(p)},
		{"longer-segment", "The last segment with more text after it.", "RFC 3986, section 3.3: segments", p + "x"},
		{"full-stop-behind", "A full stop at the end, which some file systems remove.", "RFC 3986, section 3.3: segments", p + "."},
		{"homoglyph", "A fullwidth solidus instead of the slash.", targetChars, "/\uff0f" + rest},
		{"tab", "A tab at the end.", targetChars, p + "\t"},
		{"no-slash", "No slash at the start.", targetForms, rest},
		{"absolute-form", "The target as a URI.", targetForms, "http://" + Authority + p},
		{"absolute-form-https", "The target as an https URI.", targetForms, "https://" + Authority + p},
		{"absolute-form-other-host", "The target as a URI of another host.", targetForms, "http://other.mesh" + p},
		{"absolute-form-user", "The target as a URI with a user.", targetForms, "http://user@" + Authority + p},
		{"absolute-form-detour", "The target as a URI with a detour.", targetForms, "http://" + Authority + openPath + "/.." + p},
		{"absolute-form-no-path", "The target as a URI with its path after a question mark.", targetForms, "http://" + Authority + "?" + p},
		{"other-scheme", "The target as a URI of another scheme.", targetForms, "ftp://" + Authority + p},
		{"two-slashes-host", "The target begins like a reference to a host.", targetForms, "//" + Authority + p},
	}
}

// paths asks for each spelling over both protocols.
func (m mutation) paths() []Request {
	var out []Request
	for _, s := range m.spellings() {
		out = append(out, overBoth(Request{Name: s.name, About: s.about, Source: s.source, Method: m.method, Path: s.text})...)
	}
	return out
}
