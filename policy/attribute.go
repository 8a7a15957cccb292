package policy

import "slices"

// Attribute is something that a condition can look at. It is a row of a table: package
// policy/attribute has the rows, one file for each. A row never changes after it was
// built, and its pointer tells it from others.
type Attribute struct {
	// Name is the name in tables and messages, such as "uri-san". It tells the attributes of
	// a family apart.
	Name string
	// Family is the name of the attributes that differ by a key alone, such as the headers of
	// a request, and Key is the key. Both are empty for an attribute of its own.
	Family, Key string
	// Phrase names the attribute in the text form of a program, such as "a URI SAN".
	Phrase string
	// Layer is the lowest layer on which the attribute can be judged.
	Layer Layer
	// Text returns the text that Envoy compares, and false for a request that has none.
	// Where Envoy joins several values to one text, so does Text. It is nil where Envoy
	// compares each value by itself. Neither Text nor Each keeps the request.
	Text func(r *Request) (string, bool)
	// Each returns value i of a request, and false behind the last one. It is for an
	// attribute whose values Envoy compares one by one: one match is enough.
	Each func(r *Request, i int) (string, bool)
	// Always is true where every request has a text, if only the empty one.
	Always bool
	// Kinds are the kinds of matches that the attribute admits.
	Kinds []MatchKind
	// Forms are the forms of gates that show the attribute.
	Forms []Form
	// Joined is what a gate of ordered rules sees where a gate of named rules sees each value
	// by itself: all values as one text. It is nil where there is no such attribute.
	Joined *Attribute
	// Routable is true where a route can be told by the attribute, see [Route.When].
	Routable bool
}

// Exact returns the condition that the attribute is the value.
func (a *Attribute) Exact(value string) Is { return Is{a, Match{Kind: Exact, Value: value}} }

// Prefix returns the condition that the attribute begins with the value.
func (a *Attribute) Prefix(value string) Is { return Is{a, Match{Kind: Prefix, Value: value}} }

// Segments returns the condition that the attribute begins with the segments of the
// value, see [Segments].
func (a *Attribute) Segments(value string) Is { return Is{a, Match{Kind: Segments, Value: value}} }

// Equal reports whether both are the same row. Libraries that compare values by
// reflection call it.
func (a *Attribute) Equal(b *Attribute) bool { return a == b }

// matches reports whether the attribute of a request is matched. A row without values
// matches nothing.
func (a *Attribute) matches(m Match, r *Request) bool {
	switch {
	case a == nil:
		return false
	case a.Text != nil:
		text, ok := a.Text(r)
		return ok && m.matches(text, r.UTF8)
	case a.Each == nil:
		return false
	}
	for i := 0; ; i++ {
		value, ok := a.Each(r, i)
		if !ok || m.matches(value, r.UTF8) {
			return ok
		}
	}
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
