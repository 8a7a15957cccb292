package policy

import (
	"strconv"
	"strings"
)

// MatchKind is how a string is compared.
type MatchKind uint8

const (
	// Exact compares the whole string.
	Exact MatchKind = iota
	// Prefix compares the first bytes.
	Prefix
	// Segments compares the first segments of a path: "/metrics" covers "/metrics" and
	// "/metrics/x" but not "/metricsx". A value that ends in "/" means the same as
	// without it, and "/" alone covers everything, also the "*" of an OPTIONS request.
	Segments
)

var matchKindNames = [...]string{Exact: "Exact", Prefix: "Prefix", Segments: "Segments"}

// String returns "Exact", "Prefix" or "Segments".
func (k MatchKind) String() string {
	if int(k) < len(matchKindNames) {
		return matchKindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// Match compares a string byte by byte. It is case sensitive, as
// envoy.type.matcher.v3.StringMatcher is by default.
type Match struct {
	Kind  MatchKind
	Value string
}

// Matches reports whether s is matched. A match of an unknown kind matches nothing.
func (m Match) Matches(s string) bool {
	switch m.Kind {
	case Exact:
		return s == m.Value
	case Prefix:
		return strings.HasPrefix(s, m.Value)
	case Segments:
		segment := m.Segment()
		rest, ok := strings.CutPrefix(s, segment)
		return segment == "" || ok && (rest == "" || rest[0] == '/')
	default:
		return false
	}
}

// Segment returns the value without its closing slashes. For [Segments] it is empty
// where every path is covered.
func (m Match) Segment() string { return strings.TrimRight(m.Value, "/") }

// String returns the match in the program's text form.
func (m Match) String() string {
	value := strconv.Quote(m.Value)
	switch m.Kind {
	case Exact:
		return "= " + value
	case Prefix:
		return "starts with " + value
	case Segments:
		return "under " + value
	default:
		return "matches by " + m.Kind.String() + " " + value
	}
}
