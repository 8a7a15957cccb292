package policy

import (
	"strconv"
	"strings"
)

// MatchKind is the way in which a string is compared.
type MatchKind uint8

const (
	// Exact compares the whole string.
	Exact MatchKind = iota
	// Prefix compares the beginning. What a beginning is depends on the attribute:
	// bytes for an identity, whole segments for a path.
	Prefix
)

// String returns "Exact" or "Prefix".
func (k MatchKind) String() string {
	if k == Prefix {
		return "Prefix"
	}
	return "Exact"
}

// StringMatch compares a string byte by byte, case sensitive, the way
// envoy.type.matcher.v3.StringMatcher does.
type StringMatch struct {
	Kind  MatchKind
	Value string
}

// Matches reports whether s is matched.
func (m StringMatch) Matches(s string) bool {
	if m.Kind == Prefix {
		return strings.HasPrefix(s, m.Value)
	}
	return s == m.Value
}

// String returns the match in the program's text form.
func (m StringMatch) String() string {
	if m.Kind == Prefix {
		return "starts with " + strconv.Quote(m.Value)
	}
	return "= " + strconv.Quote(m.Value)
}

// Path compares the normalized path without its query. A Prefix is segment
// aware: "/metrics" covers "/metrics" and "/metrics/x" but not "/metricsx". A
// Prefix that ends in "/" means the same as without it, and "/" alone covers
// everything, also the "*" of an OPTIONS request.
type Path struct {
	Kind  MatchKind
	Value string
}

// Holds implements [Condition].
func (c Path) Holds(r *Request) bool {
	path := r.PathOnly()
	if c.Kind == Exact {
		return path == c.Value
	}
	segment := c.Segment()
	rest, ok := strings.CutPrefix(path, segment)
	return segment == "" || ok && (rest == "" || rest[0] == '/')
}

// Segment returns the prefix without its closing slash, thus "" where every path
// is covered.
func (c Path) Segment() string { return strings.TrimRight(c.Value, "/") }

// Layer implements [Condition].
func (Path) Layer() Layer { return L7 }

// String implements [Condition].
func (c Path) String() string {
	if c.Kind == Prefix {
		return "path under " + strconv.Quote(c.Value)
	}
	return "path = " + strconv.Quote(c.Value)
}

func (Path) precedence() int { return atom }
