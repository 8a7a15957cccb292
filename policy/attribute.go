package policy

import (
	"slices"
	"strings"
)

// Attribute is something that a condition can look at. It is a row of a table: package
// policy/attribute has the rows, one file for each. A row never changes after it was
// built, and its pointer tells it from others.
type Attribute struct {
	// Name is the name in tables and messages, such as "uri-san".
	Name string
	// Phrase names the attribute in the text form of a program, such as "a URI SAN".
	Phrase string
	// Layer is the lowest layer on which the attribute can be judged.
	Layer Layer
	// Value returns value i of a request, and false behind the last one.
	Value func(r *Request, i int) (string, bool)
	// Separator stands between the values where Envoy joins them to one text before it
	// compares. Where it is empty, Envoy compares each value, and one match is enough.
	Separator string
	// Always is true where every request has a value, if only the empty text.
	Always bool
	// Kinds are the kinds of matches that the attribute admits.
	Kinds []MatchKind
	// Forms are the forms of gates that show the attribute.
	Forms []Form
	// Routable is true where a route can be told by the attribute, see [Route.When].
	Routable bool
}

// Exact returns the condition that the attribute is the value.
func (a *Attribute) Exact(value string) Is { return Is{a, Match{Exact, value}} }

// Prefix returns the condition that the attribute begins with the value.
func (a *Attribute) Prefix(value string) Is { return Is{a, Match{Prefix, value}} }

// Segments returns the condition that the attribute begins with the segments of the
// value, see [Segments].
func (a *Attribute) Segments(value string) Is { return Is{a, Match{Segments, value}} }

// Equal reports whether both are the same row. Libraries that compare values by
// reflection ask for it.
func (a *Attribute) Equal(b *Attribute) bool { return a == b }

// matches reports whether the attribute of a request is matched. A row without values
// matches nothing.
func (a *Attribute) matches(m Match, r *Request) bool {
	if a == nil || a.Value == nil {
		return false
	}
	if a.Separator != "" {
		text, ok := a.joined(r)
		return ok && m.Matches(text)
	}
	for i := 0; ; i++ {
		value, ok := a.Value(r, i)
		if !ok || m.Matches(value) {
			return ok
		}
	}
}

// joined returns the values as one text, and false where there are none. It allocates for
// several values only.
func (a *Attribute) joined(r *Request) (string, bool) {
	text, has := a.Value(r, 0)
	value, ok := a.Value(r, 1)
	if !ok {
		return text, has
	}
	var b strings.Builder
	b.WriteString(text)
	for i := 2; ok; i++ {
		b.WriteString(a.Separator)
		b.WriteString(value)
		value, ok = a.Value(r, i)
	}
	return b.String(), true
}

func (a *Attribute) admits(kind MatchKind) bool { return slices.Contains(a.Kinds, kind) }
func (a *Attribute) shownBy(form Form) bool     { return slices.Contains(a.Forms, form) }

func (a *Attribute) phrase() string {
	if a == nil {
		return "no attribute"
	}
	return a.Phrase
}

// layerOf returns the lowest layer on which a condition can be judged.
func layerOf(c Condition) Layer {
	for c := range Walk(c) {
		if is, ok := c.(Is); ok && is.Attribute != nil && is.Attribute.Layer == L7 {
			return L7
		}
	}
	return L4
}
