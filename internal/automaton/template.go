package automaton

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The characters of a segment of a path, and of several segments, as a template of
// envoy.extensions.path.match.uri_template.v3 takes them: measured on 1.36.4 and 1.40.0.
const (
	oneSegment   = `[-a-zA-Z0-9._~%!$&'()*+,;=:@]+`
	manySegments = `[-a-zA-Z0-9._~%!$&'()*+,;=:@/]*`
)

// longestTemplate is the most characters of a path_template in Envoy's UriTemplateMatchConfig.
const longestTemplate = 256

// Template returns the paths that a template matches. A wildcard stands at the beginning of a
// segment. Behind the last wildcard may be more of its segment. It returns an error for a
// template that Envoy refuses.
func Template(template string) (*Language, error) {
	short := Wildcards(template)
	if n := utf8.RuneCountInString(short); n > longestTemplate {
		return nil, fmt.Errorf("it has %d characters, and Envoy takes at most %d", n, longestTemplate)
	}
	expression, ok := templateRegex(short)
	if !ok {
		return nil, errors.New(`it is no path with wildcards such as "/a/*/b" or "/a/**"`)
	}
	return Regex(expression, Latin1)
}

// Wildcards returns a template without the braces that stand around wildcards alone: Envoy
// takes "*" for "{*}".
func Wildcards(template string) string {
	return strings.NewReplacer("{*}", "*", "{**}", "**").Replace(template)
}

// templateRegex returns the regular expression of a template, and false for a template that
// it cannot read. A wildcard stands at the beginning of a segment. Behind the last wildcard
// may be more of its segment.
func templateRegex(template string) (string, bool) {
	rest, ok := strings.CutPrefix(template, "/")
	out := "/"
	for ok && rest != "" {
		var part string
		if name, isVariable := strings.CutPrefix(rest, "{"); isVariable {
			if name, rest, ok = strings.Cut(name, "}"); !ok {
				return "", false
			}
			_, pattern, has := strings.Cut(name, "=")
			if !has {
				pattern = "*"
			}
			if part, ok = segmentsRegex(pattern); !ok {
				return "", false
			}
		} else {
			part, rest = wildcard(rest)
		}
		out += part
		var literal string
		literal, rest = cutSegment(rest)
		if out += regexp.QuoteMeta(literal); strings.ContainsAny(literal, "*{}") || part != "" && literal != "" && rest != "" {
			return "", false
		}
		if rest != "" {
			out, rest = out+"/", rest[1:]
		}
	}
	return out, ok
}

// segmentsRegex reads the pattern of a variable.
func segmentsRegex(pattern string) (string, bool) {
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		of, rest := wildcard(part)
		if strings.ContainsAny(rest, "*{}") || of != "" && rest != "" || part == "" {
			return "", false
		}
		parts[i] = of + regexp.QuoteMeta(rest)
	}
	return strings.Join(parts, "/"), true
}

// wildcard takes a wildcard off.
func wildcard(text string) (expression, rest string) {
	if rest, ok := strings.CutPrefix(text, "**"); ok {
		return manySegments, rest
	}
	if rest, ok := strings.CutPrefix(text, "*"); ok {
		return oneSegment, rest
	}
	return "", text
}

// cutSegment returns the rest of a segment, and what follows.
func cutSegment(text string) (literal, rest string) {
	if i := strings.IndexByte(text, '/'); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}
