package adversary

import (
	"strings"

	"github.com/meshproof/meshproof/harness/caller"
)

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
	lines := func(values ...string) []caller.Header {
		var out []caller.Header
		for _, v := range values {
			out = append(out, caller.Header{Name: name, Value: v})
		}
		return out
	}
	one := func(name, value string) []caller.Header { return []caller.Header{{Name: name, Value: value}} }
	var out []Request
	for _, r := range []Request{
		{Name: "repeated-value-first", About: "Two lines of one name, the value first.", Source: repeatable, Headers: lines(value, otherValue)},
		{Name: "repeated-value-last", About: "Two lines of one name, the value last.", Source: repeatable, Headers: lines(otherValue, value)},
		{Name: "repeated-value-twice", About: "Two lines of one name, both with the value.", Source: repeatable, Headers: lines(value, value)},
		{Name: "repeated-empty-first", About: "An empty line of that name first.", Source: repeatable, Headers: lines("", value)},
		{Name: "joined-value-first", About: "One line with two values, the value first.", Source: repeatable, Headers: lines(value + "," + otherValue)},
		{Name: "joined-value-last", About: "One line with two values, the value last.", Source: repeatable, Headers: lines(otherValue + "," + value)},
		{Name: "value-other-case", About: "The value with upper and lower case exchanged.", Source: "RFC 9110, section 5.5: a value may have case", Headers: lines(swapCase(value))},
		{Name: "value-quoted", About: "The value in quotes.", Source: "RFC 9110, section 5.6.4: quoted strings", Headers: lines(`"` + value + `"`)},
		{Name: "value-with-parameter", About: "The value with a parameter.", Source: "RFC 9110, section 5.6.6: parameters", Headers: lines(value + ";x")},
		{Name: "name-with-underscores", About: "Underscores instead of the dashes of the name, because CGI takes both for the same.", Source: "RFC 3875, section 4.1.18: HTTP_ variables", Headers: one(strings.ReplaceAll(name, "-", "_"), value)},
	} {
		r.Method, r.Path = "GET", "/"
		out = append(out, overBoth(r)...)
	}
	for _, r := range []Request{
		{Name: "name-other-case", About: "The name with upper and lower case exchanged.", Source: fieldNames, Headers: one(swapCase(name), value)},
		{Name: "value-in-spaces", About: "White space around the value.", Source: whitespace, Headers: lines("\t " + value + " \t")},
		{Name: "hop-by-hop-name", About: "Connection names the header, so that it ends at the proxy.", Source: "RFC 9110, section 7.6.1: Connection names what is removed", Headers: append(lines(value), caller.Header{Name: "connection", Value: name})},
	} {
		r.Method, r.Path = "GET", "/"
		out = append(out, overHTTP1(r))
	}
	head := "GET / HTTP/1.1\r\nhost: " + Authority + "\r\n" + name
	fields := func(name, value string) []caller.Header {
		return append(pseudoHeaders("GET", "https", Authority, "/"), caller.Header{Name: name, Value: value})
	}
	return append(out,
		overHTTP1(Request{Name: "name-space-colon", About: "A space between name and colon.", Source: fieldLines, Head: head + " : " + value + "\r\n\r\n"}),
		overHTTP1(Request{Name: "value-folded", About: "The value in a folded line.", Source: fieldLines, Head: head + ":\r\n " + value + "\r\n\r\n"}),
		overHTTP2(Request{Name: "name-other-case", About: "The name with upper and lower case exchanged, which HTTP/2 forbids.", Source: fieldChars, Fields: fields(swapCase(name), value)}),
		overHTTP2(Request{Name: "value-in-spaces", About: "White space around the value, which HTTP/2 forbids.", Source: fieldChars, Fields: fields(name, " "+value+" ")}),
	)
}
