package route

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Match takes the requests that meet all of its fields. The zero value takes every request.
type Match struct {
	// Path is nil for any path. It is exact, whole segments or a regular expression.
	Path *policy.Match
	// Root is true for the prefix "/", which takes every path too, and is tried before each regular
	// expression and each match without a path.
	Root    bool
	Method  string
	Headers []Pair
	Query   []Pair
	// Written has the lists that are written and empty. They ask for nothing, and Kuma takes a match with one for
	// another than the match without.
	Written [2]bool
}

// Pair compares a header or a parameter of the query.
type Pair struct {
	Name  string
	Match policy.Match
	// Absent wants that there is no such header.
	Absent bool
}

// Condition returns the match as a condition, nil for one that takes every request.
func (m Match) Condition() policy.Condition {
	var all policy.And
	if m.Path != nil {
		all = append(all, policy.Is{Attribute: attribute.Path, Match: *m.Path})
	}
	if m.Method != "" {
		all = append(all, attribute.Method.Exact(m.Method))
	}
	for _, h := range m.Headers {
		is := policy.Is{Attribute: attribute.Header(h.Name), Match: h.Match}
		if h.Absent {
			all = append(all, policy.Not{Condition: is})
		} else {
			all = append(all, is)
		}
	}
	for _, q := range m.Query {
		all = append(all, policy.Is{Attribute: attribute.QueryParameter(q.Name), Match: q.Match})
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return all
}

// Compare orders matches as Kuma does, the first to be tried first: an exact path, then the longer
// prefix, the last of which is "/", then a regular expression, then a match without a path; then a
// method; then more headers; then more parameters.
func Compare(a, b Match) int { return slices.Compare(b.rank(), a.rank()) }

func (m Match) rank() []int {
	kind, length, method := 0, 0, 0
	if m.Root {
		kind, length = 2, 1
	}
	if m.Path != nil {
		length = len(m.Path.Value)
		switch m.Path.Kind {
		case policy.Exact:
			kind = 3
		case policy.Segments:
			kind = 2
		default:
			kind = 1
		}
	}
	if m.Method != "" {
		method = 1
	}
	return []int{kind, length, method, len(m.Headers), len(m.Query)}
}

// Key is equal for two matches that ask for the same and are tried at one place.
func (m Match) Key() string {
	sorted := m
	sorted.Headers, sorted.Query, sorted.Written = byName(m.Headers), byName(m.Query), [2]bool{}
	return sorted.text()
}

func (m Match) text() string {
	text := fmt.Sprint(m.Root, m.Written)
	if when := m.Condition(); when != nil {
		text += " " + when.String()
	}
	return text
}

// Key is equal for two rules of which Kuma makes one: their matches are alike, in their order. Of rules
// that have some of their matches alike, Kuma makes two.
func (r Rule) Key() string {
	var all strings.Builder
	for _, m := range r.Matches {
		fmt.Fprintf(&all, "%q ", m.text())
	}
	return all.String()
}

func byName(pairs []Pair) []Pair {
	return slices.SortedStableFunc(slices.Values(pairs), func(a, b Pair) int { return strings.Compare(a.Name, b.Name) })
}

type matchSchema struct {
	Path        *pathSchema  `yaml:"path"`
	Method      *string      `yaml:"method"`
	Headers     []pairSchema `yaml:"headers"`
	QueryParams []pairSchema `yaml:"queryParams"`
}

type pathSchema struct {
	Type  string `yaml:"type"`
	Value string `yaml:"value"`
}

type pairSchema struct {
	Type  string `yaml:"type"`
	Name  string `yaml:"name"`
	Value string `yaml:"value"`
}

func parseMatches(doc manifest.Document, field string, schemas []matchSchema) ([]Match, error) {
	if len(schemas) == 0 {
		return nil, doc.Errorf(field, "the matches are missing, and Kuma refuses a rule without one: write [{}] for every request")
	}
	out := make([]Match, len(schemas))
	for i, schema := range schemas {
		at := fmt.Sprintf("%s[%d]", field, i)
		var err error
		if schema.Path != nil {
			if out[i].Path, err = parsePath(doc, at+".path", *schema.Path); err != nil {
				return nil, err
			}
			out[i].Root = out[i].Path == nil
		}
		out[i].Written = [2]bool{schema.Headers != nil && len(schema.Headers) == 0, schema.QueryParams != nil && len(schema.QueryParams) == 0}
		if schema.Method != nil {
			if out[i].Method = *schema.Method; !slices.Contains(methods, out[i].Method) {
				return nil, doc.Errorf(at+".method", "method %q is unknown: use one of %s", out[i].Method, strings.Join(methods, ", "))
			}
		}
		if out[i].Headers, err = parsePairs(doc, at+".headers", true, schema.Headers, "Exact", "Prefix", "RegularExpression", "Present", "Absent"); err != nil {
			return nil, err
		}
		if out[i].Query, err = parsePairs(doc, at+".queryParams", false, schema.QueryParams, "Exact", "RegularExpression"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}

// parsePath reads the match of a path. A prefix compares whole segments: "/p" takes "/p" and
// "/p/x", and not "/px". The prefix "/" takes every path, and is nil.
func parsePath(doc manifest.Document, field string, schema pathSchema) (*policy.Match, error) {
	kind := policy.Exact
	switch schema.Type {
	case "Exact":
	case "PathPrefix":
		kind = policy.Segments
	case "RegularExpression":
		return expression(doc, field+".value", schema.Value)
	default:
		return nil, doc.Errorf(field+".type", "match type %q is not supported: use Exact, PathPrefix or RegularExpression", schema.Type)
	}
	switch {
	case !strings.HasPrefix(schema.Value, "/"):
		return nil, doc.Errorf(field+".value", "%q is no path: it begins with no slash", schema.Value)
	case strings.ContainsAny(schema.Value, "?#"):
		return nil, doc.Errorf(field+".value", "%q has a query or a fragment: a path has neither", schema.Value)
	case kind == policy.Segments && schema.Value == "/":
		return nil, nil
	case kind == policy.Segments && strings.HasSuffix(schema.Value, "/"):
		return nil, doc.Errorf(field+".value", "%q ends with a slash, which Kuma refuses: a prefix compares whole segments without it", schema.Value)
	}
	return &policy.Match{Kind: kind, Value: schema.Value}, nil
}

// expression reads a regular expression of RE2.
func expression(doc manifest.Document, field, value string) (*policy.Match, error) {
	if value == "" {
		return nil, doc.Errorf(field, "the regular expression is missing")
	}
	if _, err := syntax.Parse(value, syntax.Perl); err != nil {
		return nil, doc.Errorf(field, "%q is no regular expression of RE2: %v", value, err)
	}
	return &policy.Match{Kind: policy.Regex, Value: value}, nil
}

// headerName are the names of headers that Kuma takes: tokens of HTTP in lower case, and so no pseudo header.
var headerName = regexp.MustCompile("^[a-z0-9!#$%&'*+.^_`|~-]+$")

func parsePairs(doc manifest.Document, field string, areHeaders bool, schemas []pairSchema, types ...string) ([]Pair, error) {
	var out []Pair
	for i, schema := range schemas {
		at := fmt.Sprintf("%s[%d]", field, i)
		p := Pair{Name: schema.Name}
		if p.Name == "" {
			return nil, doc.Errorf(at+".name", "a name is required")
		}
		if areHeaders && !headerName.MatchString(p.Name) {
			return nil, doc.Errorf(at+".name", "%q is no name of a header that Kuma takes: write a token in lower case", p.Name)
		}
		kind := schema.Type
		switch {
		case kind == "" && !areHeaders:
			return nil, doc.Errorf(at+".type", "the type is missing, and Kuma refuses a parameter without one: write Exact or RegularExpression")
		case kind == "":
			kind = "Exact"
		}
		switch {
		case !slices.Contains(types, kind):
			return nil, doc.Errorf(at+".type", "match type %q is not supported: use one of %s", kind, strings.Join(types, ", "))
		case kind == "Present" || kind == "Absent":
			if schema.Value != "" {
				return nil, doc.Errorf(at+".value", "must not be set with type %s", kind)
			}
			p.Match, p.Absent = policy.Match{Kind: policy.Present}, kind == "Absent"
		case schema.Value == "":
			return nil, doc.Errorf(at+".value", "a value is required with type %s", kind)
		case kind == "RegularExpression":
			m, err := expression(doc, at+".value", schema.Value)
			if err != nil {
				return nil, err
			}
			p.Match = *m
		case kind == "Prefix":
			p.Match = policy.Match{Kind: policy.Prefix, Value: schema.Value}
		default:
			p.Match = policy.Match{Kind: policy.Exact, Value: schema.Value}
		}
		if slices.ContainsFunc(out, func(q Pair) bool { return strings.EqualFold(q.Name, p.Name) }) {
			return nil, doc.Errorf(at+".name", "%q is there twice: one of them would be left out", p.Name)
		}
		out = append(out, p)
	}
	return out, nil
}
