package adversary

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/policy"
)

// Request is a request that asks for something in a way of its own.
type Request struct {
	// Name is unique among the requests of one list, in kebab case, and stable;
	// over HTTP/2 it begins with "h2-".
	Name string
	// About says in one sentence what the attack is.
	About string
	// Source is the rule that the request breaks or leans on.
	Source string
	// Protocol is that of the inbound it is meant for: HTTP or HTTP2.
	Protocol policy.Protocol
	// Method, Path, Authority and Headers are the request as [caller.Call] takes
	// them. They are unused where Head or Fields are set.
	Method, Path, Authority string
	Headers                 []caller.Header
	// Head is all that is sent over HTTP/1.1, byte for byte, where it is set.
	Head string
	// Fields is the header block that is sent over HTTP/2, pseudo-headers included,
	// in order, where it is set.
	Fields []caller.Header
}

// Raw tells whether the request can only be sent by [Request.Exchange]: Head or
// Fields are set. Any other fits into a [caller.Call] too.
func (r Request) Raw() bool { return r.Head != "" || r.Fields != nil }

// Authority is the host that the requests name unless they are about it. It means
// nothing to an inbound, which takes any.
const Authority = "backend.mesh"

// innocent is a path that nobody protects, and harmless a method.
const (
	innocent = "/innocent"
	harmless = "PATCH"
)

// Requests returns the mutations of a request whose method and path a policy
// protects, as one asked for by Method and Path conditions of policy.Program. The
// path begins with a slash, is longer than that, and is a plain one: without
// escapes, dot segments and query; the method is one of RFC 9110 in upper case.
//
// Where the other of the two would hide what a mutation is about, say the body
// of a smuggled request, it is replaced by a harmless one. There are none for a
// path that is not such a one, or a method of a single letter.
func Requests(method, path string) []Request {
	if len(method) < 2 || len(path) < 2 || path[0] != '/' {
		return nil
	}
	m := mutation{method: method, path: path}
	all := slices.Concat(m.paths(), m.methods(), m.detours(), m.lines(), m.pseudo())
	// HEAD is no mutation of HEAD, and a path without letters has no other case.
	return slices.DeleteFunc(all, func(r Request) bool {
		return !r.Raw() && r.Method == method && r.Path == path && r.Authority == Authority && r.Headers == nil
	})
}

// mutation holds what the requests are made of.
type mutation struct{ method, path string }

// spelling is an element of a request in another form.
type spelling struct{ name, about, source, text string }

// over1 and over2 complete requests of their protocol.
func over1(r Request) Request {
	r.Protocol = policy.HTTP
	if r.Authority == "" && r.Head == "" {
		r.Authority = Authority
	}
	return r
}

func over2(r Request) Request {
	r.Name, r.Protocol = "h2-"+r.Name, policy.HTTP2
	if r.Authority == "" && r.Fields == nil {
		r.Authority = Authority
	}
	return r
}

// both returns a request over either protocol. Over HTTP/2 it is raw where an
// HTTP library would refuse it or tidy it up.
func both(r Request) []Request {
	second := r
	if strings.ContainsAny(r.Path, "#\\\t ") || !strings.HasPrefix(r.Path, "/") || !isASCII(r.Path) || badEscape(r.Path) {
		second = Request{Name: r.Name, About: r.About, Source: r.Source, Fields: r.block()}
	}
	return []Request{over1(r), over2(second)}
}

// block returns the header block of the request.
func (r Request) block() []caller.Header {
	if r.Fields != nil {
		return r.Fields
	}
	authority := r.Authority
	if authority == "" {
		authority = Authority
	}
	return append(block(r.Method, "https", authority, r.Path), r.Headers...)
}

// block returns the pseudo-headers of an ordinary request.
func block(method, scheme, authority, path string) []caller.Header {
	return []caller.Header{{Name: ":method", Value: method}, {Name: ":scheme", Value: scheme}, {Name: ":authority", Value: authority}, {Name: ":path", Value: path}}
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 || r < 0x20 || r == 0x7f })
}

// badEscape tells of a percent sign that begins no escape.
func badEscape(s string) bool {
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
