package adversary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// Request is a request that asks for something in an unusual way.
type Request struct {
	// Name is unique among the requests of one list, in kebab case, and stable. Over
	// HTTP/2 it begins with "h2-".
	Name string
	// Attack describes the attack in one sentence.
	Attack string
	// Source is the rule that the request breaks or uses.
	Source string
	// Protocol is the protocol of the inbound: HTTP or HTTP2.
	Protocol policy.Protocol
	// Method, Path, Authority and Headers are the fields of a [caller.Call]. They are
	// unused when Head or Fields are set.
	Method, Path, Authority string
	Headers                 []policy.Header
	// Head is the whole request over HTTP/1.1, byte for byte, or empty.
	Head string
	// Fields is the header block over HTTP/2 with the pseudo-headers, in order, or nil.
	Fields []policy.Header
}

// Raw reports whether only [Request.Exchange] can send the request: Head or Fields are set.
// The other requests fit into a [caller.Call] too.
func (r Request) Raw() bool { return r.Head != "" || r.Fields != nil }

// Authority is the host of all requests that do not change the host. An inbound accepts
// any host.
const Authority = "backend.mesh"

// openPath is a path, and openMethod a method, that no policy protects.
const (
	openPath   = "/innocent"
	openMethod = "PATCH"
)

// Requests returns the mutations of a request. A policy protects its method and path with
// Method and Path conditions of [policy.Program]. The path begins with a slash and has more
// characters, without escapes, dot segments and query. The method is a method of RFC 9110
// in upper case.
//
// Some mutations change only the path or only the method, and replace the other with an
// unprotected one, so that it cannot hide the change. There are no mutations of another
// kind of path, or of a method with one letter.
func Requests(method, path string) []Request {
	if len(method) < 2 || len(path) < 2 || path[0] != '/' {
		return nil
	}
	m := mutation{method: method, path: path}
	all := slices.Concat(m.paths(), m.methods(), m.detours(), m.malformedLines(), m.malformedFields())
	// Some mutations change nothing: HEAD of HEAD, or the case of a path without letters.
	return slices.DeleteFunc(all, func(r Request) bool {
		return !r.Raw() && r.Method == method && r.Path == path && r.Authority == Authority && r.Headers == nil
	})
}

// mutation holds the protected method and path.
type mutation struct{ method, path string }

// spelling is an element of a request in another form.
type spelling struct{ name, attack, source, text string }

// overHTTP1 completes a request over HTTP/1.1.
func overHTTP1(r Request) Request {
	r.Protocol = policy.HTTP
	if r.Authority == "" && r.Head == "" {
		r.Authority = Authority
	}
	return r
}

// overHTTP2 completes a request over HTTP/2.
func overHTTP2(r Request) Request {
	r.Name, r.Protocol = "h2-"+r.Name, policy.HTTP2
	if r.Authority == "" && r.Fields == nil {
		r.Authority = Authority
	}
	return r
}

// overBoth returns a request over both protocols. Over HTTP/2 it is raw when an HTTP
// library would refuse or change it.
func overBoth(r Request) []Request {
	second := r
	if strings.ContainsAny(r.Path, "#\\\t ") || !strings.HasPrefix(r.Path, "/") || !isASCII(r.Path) || hasBadEscape(r.Path) {
		second = Request{Name: r.Name, Attack: r.Attack, Source: r.Source, Fields: r.headerBlock()}
	}
	return []Request{overHTTP1(r), overHTTP2(second)}
}

// headerBlock returns the header block of the request.
func (r Request) headerBlock() []policy.Header {
	if r.Fields != nil {
		return r.Fields
	}
	authority := r.Authority
	if authority == "" {
		authority = Authority
	}
	return append(pseudoHeaders(r.Method, "https", authority, r.Path), r.Headers...)
}

// pseudoHeaders returns the pseudo-headers of an ordinary request.
func pseudoHeaders(method, scheme, authority, path string) []policy.Header {
	return []policy.Header{{Name: ":method", Value: method}, {Name: ":scheme", Value: scheme}, {Name: ":authority", Value: authority}, {Name: ":path", Value: path}}
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 || r < 0x20 || r == 0x7f })
}

// hasBadEscape reports whether s has a percent sign that begins no escape.
func hasBadEscape(s string) bool {
	for i := strings.IndexByte(s, '%'); i >= 0; {
		if len(s) < i+3 || strings.Trim(s[i+1:i+3], "0123456789abcdefABCDEF") != "" {
			return true
		}
		next := strings.IndexByte(s[i+1:], '%')
		if next < 0 {
			return false
		}
		i += 1 + next
	}
	return false
}

// The rules that the headers break or use.
const (
	repeatable = "RFC 9110, section 5.3: lines of one name mean their values joined by commas"
	fieldNames = "RFC 9110, section 5.1: a name has no case"
	whitespace = "RFC 9110, section 5.5: white space around a value is not part of it"
)

// otherValue is the value that the attacker adds to the wanted value.
const otherValue = "other"

// Headers returns the mutations of a GET request with a header that a policy reads. The
// name is in lower case. The policy compares the whole value.
func Headers(name, value string) []Request {
	lines := func(values ...string) []policy.Header {
		var out []policy.Header
		for _, v := range values {
			out = append(out, policy.Header{Name: name, Value: v})
		}
		return out
	}
	one := func(name, value string) []policy.Header { return []policy.Header{{Name: name, Value: value}} }
	var out []Request
	for _, r := range []Request{
		{Name: "repeated-value-first", Attack: "Two lines of one name, the value first.", Source: repeatable, Headers: lines(value, otherValue)},
		{Name: "repeated-value-last", Attack: "Two lines of one name, the value last.", Source: repeatable, Headers: lines(otherValue, value)},
		{Name: "repeated-value-twice", Attack: "Two lines of one name, both with the value.", Source: repeatable, Headers: lines(value, value)},
		{Name: "repeated-empty-first", Attack: "An empty line of that name first.", Source: repeatable, Headers: lines("", value)},
		{Name: "joined-value-first", Attack: "One line with two values, the value first.", Source: repeatable, Headers: lines(value + "," + otherValue)},
		{Name: "joined-value-last", Attack: "One line with two values, the value last.", Source: repeatable, Headers: lines(otherValue + "," + value)},
		{Name: "value-other-case", Attack: "The value with upper and lower case exchanged.", Source: "RFC 9110, section 5.5: a value may have case", Headers: lines(swapCase(value))},
		{Name: "value-quoted", Attack: "The value in quotes.", Source: "RFC 9110, section 5.6.4: quoted strings", Headers: lines(`"` + value + `"`)},
		{Name: "value-with-parameter", Attack: "The value with a parameter.", Source: "RFC 9110, section 5.6.6: parameters", Headers: lines(value + ";x")},
		{Name: "name-with-underscores", Attack: "Underscores instead of the dashes of the name, because CGI takes both for the same.", Source: "RFC 3875, section 4.1.18: HTTP_ variables", Headers: one(strings.ReplaceAll(name, "-", "_"), value)},
	} {
		r.Method, r.Path = "GET", "/"
		out = append(out, overBoth(r)...)
	}
	for _, r := range []Request{
		{Name: "name-other-case", Attack: "The name with upper and lower case exchanged.", Source: fieldNames, Headers: one(swapCase(name), value)},
		{Name: "value-in-spaces", Attack: "White space around the value.", Source: whitespace, Headers: lines("\t " + value + " \t")},
		{Name: "hop-by-hop-name", Attack: "Connection names the header, so that it ends at the proxy.", Source: "RFC 9110, section 7.6.1: Connection names what is removed", Headers: append(lines(value), policy.Header{Name: "connection", Value: name})},
	} {
		r.Method, r.Path = "GET", "/"
		out = append(out, overHTTP1(r))
	}
	head := "GET / HTTP/1.1\r\nhost: " + Authority + "\r\n" + name
	fields := func(name, value string) []policy.Header {
		return append(pseudoHeaders("GET", "https", Authority, "/"), policy.Header{Name: name, Value: value})
	}
	return append(out,
		overHTTP1(Request{Name: "name-space-colon", Attack: "A space between name and colon.", Source: fieldLines, Head: head + " : " + value + "\r\n\r\n"}),
		overHTTP1(Request{Name: "value-folded", Attack: "The value in a folded line.", Source: fieldLines, Head: head + ":\r\n " + value + "\r\n\r\n"}),
		overHTTP2(Request{Name: "name-other-case", Attack: "The name with upper and lower case exchanged, which HTTP/2 forbids.", Source: fieldChars, Fields: fields(swapCase(name), value)}),
		overHTTP2(Request{Name: "value-in-spaces", Attack: "White space around the value, which HTTP/2 forbids.", Source: fieldChars, Fields: fields(name, " "+value+" ")}),
	)
}

// The rules that the spellings of a method break or use.
const (
	methodCase   = "RFC 9110, section 9.1: a method has case"
	methodTokens = "RFC 9110, section 9.1: a method is a token, and need not be a known one"
)

// methods asks for the protected path with methods that some server takes for the
// protected method.
func (m mutation) methods() []Request {
	var out []Request
	for _, s := range []spelling{
		{"method-lower-case", "The method in lower case.", methodCase, swapCase(m.method)},
		{"method-mixed-case", "The method with its first letter alone in upper case.", methodCase, m.method[:1] + swapCase(m.method[1:])},
		{"method-unknown", "An unknown method.", methodTokens, m.method + "S"},
		{"method-shorter", "The method without its last letter.", methodTokens, m.method[:len(m.method)-1]},
		{"method-head", "HEAD, which many servers answer like GET.", "RFC 9110, section 9.3.2: HEAD is GET without content", "HEAD"},
		{"method-trace", "TRACE, which returns the request.", "RFC 9110, section 9.3.8: TRACE", "TRACE"},
		{"method-query", "QUERY, which Envoy knows since 1.40.", "draft-ietf-httpbis-safe-method-w-body: the QUERY method", "QUERY"},
	} {
		out = append(out, overBoth(Request{Name: s.name, Attack: s.attack, Source: s.source, Method: s.text, Path: m.path})...)
	}
	for _, name := range []string{"x-http-method-override", "x-http-method", "x-method-override"} {
		out = append(out, overBoth(Request{
			Name: name, Attack: "An unprotected method, and a header that asks for the protected method.", Source: "no standard; a habit of web frameworks",
			Method: openMethod, Path: m.path, Headers: []policy.Header{{Name: name, Value: m.method}},
		})...)
	}
	return out
}

// detours ask for something unprotected, and name the protected path in another place.
func (m mutation) detours() []Request {
	var out []Request
	for _, name := range []string{"x-original-url", "x-rewrite-url", "x-forwarded-uri", "x-envoy-original-path", "x-envoy-decorator-operation"} {
		out = append(out, overBoth(Request{
			Name: name, Attack: "An unprotected path, and a header that names the protected one.", Source: "no standard; a habit of web frameworks and proxies",
			Method: m.method, Path: openPath, Headers: []policy.Header{{Name: name, Value: m.path}},
		})...)
	}
	return append(out, overHTTP1(Request{
		Name: "asterisk-form", Attack: "The server as a whole.", Source: targetForms, Method: "OPTIONS", Path: "*",
	}), overHTTP1(Request{
		Name: "authority-form", Attack: "CONNECT to a host.", Source: targetForms, Method: "CONNECT", Path: Authority + ":443",
	}), overHTTP1(Request{
		Name: "connect-to-path", Attack: "CONNECT to the protected path.", Source: targetForms, Method: "CONNECT", Path: m.path,
	}), overHTTP1(Request{
		Name: "upgrade-h2c", Attack: "The protected path with an upgrade to HTTP/2 without TLS, which a proxy must not forward.", Source: "RFC 9113, section 3.1: h2c is deprecated",
		Method: m.method, Path: m.path,
		Headers: []policy.Header{{Name: "connection", Value: "Upgrade, HTTP2-Settings"}, {Name: "upgrade", Value: "h2c"}, {Name: "http2-settings", Value: "AAMAAABkAAQAAP__"}},
	}), overHTTP1(Request{
		Name: "upgrade-websocket", Attack: "An unprotected path with an upgrade that would open the connection for any bytes.", Source: "RFC 6455, section 4.1: the opening handshake",
		Method: "GET", Path: openPath,
		Headers: []policy.Header{{Name: "connection", Value: "Upgrade"}, {Name: "upgrade", Value: "websocket"}, {Name: "sec-websocket-version", Value: "13"}, {Name: "sec-websocket-key", Value: "AAAAAAAAAAAAAAAAAAAAAA=="}},
	}))
}

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
		out = append(out, overBoth(Request{Name: s.name, Attack: s.attack, Source: s.source, Method: m.method, Path: s.text})...)
	}
	return out
}
