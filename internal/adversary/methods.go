package adversary

import "github.com/meshproof/meshproof/harness/caller"

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
		out = append(out, overBoth(Request{Name: s.name, About: s.about, Source: s.source, Method: s.text, Path: m.path})...)
	}
	for _, name := range []string{"x-http-method-override", "x-http-method", "x-method-override"} {
		out = append(out, overBoth(Request{
			Name: name, About: "An unprotected method, and a header that asks for the protected method.", Source: "no standard; a habit of web frameworks",
			Method: openMethod, Path: m.path, Headers: []caller.Header{{Name: name, Value: m.method}},
		})...)
	}
	return out
}

// detours ask for something unprotected, and name the protected path in another place.
func (m mutation) detours() []Request {
	var out []Request
	for _, name := range []string{"x-original-url", "x-rewrite-url", "x-forwarded-uri", "x-envoy-original-path", "x-envoy-decorator-operation"} {
		out = append(out, overBoth(Request{
			Name: name, About: "An unprotected path, and a header that names the protected one.", Source: "no standard; a habit of web frameworks and proxies",
			Method: m.method, Path: openPath, Headers: []caller.Header{{Name: name, Value: m.path}},
		})...)
	}
	return append(out, overHTTP1(Request{
		Name: "asterisk-form", About: "The server as a whole.", Source: targetForms, Method: "OPTIONS", Path: "*",
	}), overHTTP1(Request{
		Name: "authority-form", About: "CONNECT to a host.", Source: targetForms, Method: "CONNECT", Path: Authority + ":443",
	}), overHTTP1(Request{
		Name: "connect-to-path", About: "CONNECT to the protected path.", Source: targetForms, Method: "CONNECT", Path: m.path,
	}), overHTTP1(Request{
		Name: "upgrade-h2c", About: "The protected path with an upgrade to HTTP/2 without TLS, which a proxy must not forward.", Source: "RFC 9113, section 3.1: h2c is deprecated",
		Method: m.method, Path: m.path,
		Headers: []caller.Header{{Name: "connection", Value: "Upgrade, HTTP2-Settings"}, {Name: "upgrade", Value: "h2c"}, {Name: "http2-settings", Value: "AAMAAABkAAQAAP__"}},
	}), overHTTP1(Request{
		Name: "upgrade-websocket", About: "An unprotected path with an upgrade that would open the connection for any bytes.", Source: "RFC 6455, section 4.1: the opening handshake",
		Method: "GET", Path: openPath,
		Headers: []caller.Header{{Name: "connection", Value: "Upgrade"}, {Name: "upgrade", Value: "websocket"}, {Name: "sec-websocket-version", Value: "13"}, {Name: "sec-websocket-key", Value: "AAAAAAAAAAAAAAAAAAAAAA=="}},
	}))
}
