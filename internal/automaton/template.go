package automaton

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
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
// template that Envoy refuses: the releases up to 1.40.0 end by a signal when they are given one.
func Template(template string) (*Language, error) {
	short := Wildcards(template)
	if n := utf8.RuneCountInString(short); n > longestTemplate {
		return nil, fmt.Errorf("it has %d characters, and Envoy takes at most %d", n, longestTemplate)
	}
	t := templateReader{names: map[string]bool{}}
	expression, ok := t.regex(short)
	if !ok {
		return nil, errors.New(`it is no path with wildcards such as "/a/*/b" or "/a/**"`)
	}
	if err := t.check(short); err != nil {
		return nil, err
	}
	return Regex(expression, Latin1)
}

// Wildcards returns a template without the braces that stand around wildcards alone: Envoy
// takes "*" for "{*}".
func Wildcards(template string) string {
	return strings.NewReplacer("{*}", "*", "{**}", "**").Replace(template)
}

// templateReader reads a template, and keeps what Envoy counts.
type templateReader struct {
	names map[string]bool
	// twice is a name that two variables have, and wrong a name that Envoy does not take.
	twice, wrong string
	// misplaced is true where a wildcard stands behind a "**", and many where there was one.
	misplaced, many bool
}

// The limits of envoy.extensions.path.match.uri_template.v3, measured on 1.36.4 and 1.40.0.
var (
	variableName    = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]{0,15}$`)
	templateLiteral = regexp.MustCompile(`^[-a-zA-Z0-9._~%!$&'()+,;:@=?*{}/]*$`)
)

const mostVariables = 5

// check says why Envoy refuses a template that could be read.
func (t *templateReader) check(template string) error {
	switch {
	case !templateLiteral.MatchString(template):
		return errors.New("it has a character that no path has: write it with a percent sign, as in %20")
	case strings.Contains(template, "//"):
		return errors.New("it has an empty segment")
	case t.misplaced:
		return errors.New(`it has a wildcard behind "**"`)
	case t.wrong != "":
		return fmt.Errorf("%s is no name of a variable: Envoy takes a letter, and at most 15 letters, digits and underscores behind it", t.wrong)
	case t.twice != "":
		return fmt.Errorf("it has two variables %s", t.twice)
	case len(t.names) > mostVariables:
		return fmt.Errorf("it has %d variables, and Envoy takes at most %d", len(t.names), mostVariables)
	}
	return nil
}

// regex returns the regular expression of a template, and false for a template that it
// cannot read.
func (t *templateReader) regex(template string) (string, bool) {
	rest, ok := strings.CutPrefix(template, "/")
	out := "/"
	for ok && rest != "" {
		var part string
		if variable, isVariable := strings.CutPrefix(rest, "{"); isVariable {
			if variable, rest, ok = strings.Cut(variable, "}"); !ok {
				return "", false
			}
			if part, ok = t.variable(variable); !ok {
				return "", false
			}
		} else {
			part, rest = t.wildcard(rest)
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

// variable reads the name and the pattern of a variable.
func (t *templateReader) variable(text string) (string, bool) {
	name, pattern, has := strings.Cut(text, "=")
	if !has {
		pattern = "*"
	}
	if !variableName.MatchString(name) {
		t.wrong = strconv.Quote(name)
	}
	if t.names[name] {
		t.twice = name
	}
	t.names[name] = true
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		of, rest := t.wildcard(part)
		if strings.ContainsAny(rest, "*{}") || of != "" && rest != "" || part == "" {
			return "", false
		}
		parts[i] = of + regexp.QuoteMeta(rest)
	}
	return strings.Join(parts, "/"), true
}

// wildcard takes a wildcard off.
func (t *templateReader) wildcard(text string) (expression, rest string) {
	rest, ok := strings.CutPrefix(text, "*")
	if !ok {
		return "", text
	}
	t.misplaced = t.misplaced || t.many
	if rest, ok := strings.CutPrefix(rest, "*"); ok {
		t.many = true
		return manySegments, rest
	}
	return oneSegment, rest
}

// cutSegment returns the rest of a segment, and what follows.
func cutSegment(text string) (literal, rest string) {
	if i := strings.IndexByte(text, '/'); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}
