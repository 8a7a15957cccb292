package attribute

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/forwarded"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/policy"
)

// Header returns the lines of one header. The name is read in any case. A gate of named rules
// compares each line by itself, and one match is enough, where the Envoy that judges has the
// fix of CVE-2026-26308; without it, the lines are compared as one text, see
// [policy.Request.JoinsLines]. An absent header is matched by nothing, an empty one has the
// empty text. A gate of ordered rules sees the lines as one text on every Envoy: see
// [policy.Attribute.Joined]. The message of a named rule is
// envoy.config.route.v3.HeaderMatcher, and the input of a matcher is
// envoy.type.matcher.v3.HttpRequestHeaderMatchInput.
//
// Of some headers the codec of every Envoy joins the lines, before any filter sees them, such
// as authorization, origin and user-agent. Both forms see them as one text, without the empty
// lines.
//
// Of the pseudo headers, ":path" is the path with its query. ":method", ":authority" and Host
// are [Method] and [Host]. No gate can ask for a header that the lab's Envoy writes itself.
func Header(name string) *policy.Attribute {
	switch name = strings.ToLower(name); name {
	case ":method":
		return Method
	case ":authority", "host":
		return Host
	case ":path":
		return target
	default:
		return headers.attribute(name)
	}
}

var headerKinds = []policy.MatchKind{policy.Exact, policy.Prefix, policy.Suffix, policy.Contains, policy.Regex, policy.Present}

var headers = addFamily("header", "x-role", func(name string) *policy.Attribute {
	if requestline.IsOneLine(name) {
		return &policy.Attribute{
			Phrase:   "header " + name,
			Layer:    policy.L7,
			Text:     func(r *policy.Request) (string, bool) { return forwarded.Joined(r.Headers, name) },
			Kinds:    headerKinds,
			Forms:    []policy.Form{policy.Ordered, policy.Named},
			Routable: true,
		}
	}
	return &policy.Attribute{
		Phrase: "a line of header " + name,
		Layer:  policy.L7,
		Each: func(r *policy.Request, i int) (string, bool) {
			if r.JoinsLines {
				text, ok := joinedLines(r, name)
				return text, ok && i == 0
			}
			for _, line := range r.Headers {
				if line.Name == name {
					if i == 0 {
						return line.Value, true
					}
					i--
				}
			}
			return "", false
		},
		Kinds:    headerKinds,
		Forms:    formsOf(name, policy.Named),
		Joined:   joinedHeaders.attribute(name),
		Routable: formsOf(name, policy.Named) != nil,
	}
})

var joinedHeaders = addFamily("joined-header", "x-role", func(name string) *policy.Attribute {
	return &policy.Attribute{
		Phrase: "header " + name,
		Layer:  policy.L7,
		Text:   func(r *policy.Request) (string, bool) { return joinedLines(r, name) },
		Kinds:  headerKinds,
		Forms:  formsOf(name, policy.Ordered),
	}
})

// joinedLines returns the lines of a header as Envoy joins them, and false where there is none.
func joinedLines(r *policy.Request, name string) (text string, ok bool) {
	for _, line := range r.Headers {
		switch {
		case line.Name != name:
		case ok:
			text += "," + line.Value
		default:
			text, ok = line.Value, true
		}
	}
	return text, ok
}

// formsOf returns no form for a header that the caller does not write, and for a name that no
// message of Envoy takes.
func formsOf(name string, form policy.Form) []policy.Form {
	if name == "" || strings.ContainsAny(name, "\x00\n\r") || strings.HasPrefix(name, ":") || strings.HasPrefix(name, "x-envoy-") || slices.Contains(written, name) {
		return nil
	}
	return []policy.Form{form}
}

// written are headers that Envoy or the codec of a caller writes, changes or takes away, with
// those that begin with "x-envoy-": what a filter sees of them is not what the caller sends.
var written = strings.Fields(`connection content-length expect keep-alive proxy-connection te trailer transfer-encoding upgrade
	x-forwarded-client-cert x-forwarded-for x-forwarded-proto`)

// target is the path with its query, as Envoy's header :path has it.
var target = add(&policy.Attribute{
	Name:     "header :path",
	Phrase:   "header :path",
	Layer:    policy.L7,
	Text:     func(r *policy.Request) (string, bool) { return r.Path, true },
	Always:   true,
	Kinds:    headerKinds,
	Forms:    []policy.Form{policy.Ordered, policy.Named},
	Routable: true,
})
