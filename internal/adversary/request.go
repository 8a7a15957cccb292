package adversary

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/policy"
)

// Request is a request that asks for something in an unusual way.
type Request struct {
	// Name is unique among the requests of one list, in kebab case, and stable. Over
	// HTTP/2 it begins with "h2-".
	Name string
	// About describes the attack in one sentence.
	About string
	// Source is the rule that the request breaks or uses.
	Source string
	// Protocol is the protocol of the inbound: HTTP or HTTP2.
	Protocol policy.Protocol
	// Method, Path, Authority and Headers are the fields of a [caller.Call]. They are
	// unused when Head or Fields are set.
	Method, Path, Authority string
	Headers                 []caller.Header
	// Head is the whole request over HTTP/1.1, byte for byte, or empty.
	Head string
	// Fields is the header block over HTTP/2 with the pseudo-headers, in order, or nil.
	Fields []caller.Header
}

// Raw tells whether only [Request.Exchange] can send the request: Head or Fields are set.
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
type spelling struct{ name, about, source, text string }

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
		second = Request{Name: r.Name, About: r.About, Source: r.Source, Fields: r.headerBlock()}
	}
	return []Request{overHTTP1(r), overHTTP2(second)}
}

// headerBlock returns the header block of the request.
func (r Request) headerBlock() []caller.Header {
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
func pseudoHeaders(method, scheme, authority, path string) []caller.Header {
	return []caller.Header{{Name: ":method", Value: method}, {Name: ":scheme", Value: scheme}, {Name: ":authority", Value: authority}, {Name: ":path", Value: path}}
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 || r < 0x20 || r == 0x7f })
}

// hasBadEscape tells whether s has a percent sign that begins no escape.
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
