package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/internal/endpoint"
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
	// Suffix compares the last bytes.
	Suffix
	// Contains looks for the bytes anywhere.
	Contains
	// Regex compares the whole string with a regular expression of RE2, as
	// envoy.type.matcher.v3.RegexMatcher does.
	Regex
	// Range compares a port with a range of ports: "8000-8999" has both of its ends, as
	// envoy.type.v3.Int32Range has the first one only. It compares a number with a range of
	// numbers: "[1,7)" has 1 and not 7, and "[-inf,7)" no first number, as envoy.type.v3.DoubleRange.
	Range
	// CIDR compares an address with a block of addresses, such as "10.0.0.0/8", as
	// envoy.config.core.v3.CidrRange does. No block of IPv4 has an address of IPv6, and none of
	// IPv6 has an address of IPv4.
	CIDR
	// Present takes any text. It has no value. What has no text is absent.
	Present
	// Template compares a path with a template, as
	// envoy.extensions.path.match.uri_template.v3 does: "*" is one segment, "**" any number
	// of them. Braces around a wildcard change nothing, and "{name}" is one segment too.
	Template
)

var matchKindNames = [...]string{
	Exact: "Exact", Prefix: "Prefix", Segments: "Segments", Suffix: "Suffix", Contains: "Contains", Regex: "Regex", Range: "Range", CIDR: "CIDR",
	Present: "Present", Template: "Template",
}

// String returns the name of the kind, such as "Exact".
func (k MatchKind) String() string {
	if int(k) < len(matchKindNames) {
		return matchKindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// Match compares a string byte by byte, as envoy.type.matcher.v3.StringMatcher does.
type Match struct {
	Kind MatchKind
	// AnyCase takes the letters of ASCII for the same in both cases. It is ignore_case of a
	// StringMatcher. A match of [Segments], [Regex], [Present] or [Template] has no such flag.
	AnyCase bool
	Value   string
}

// Matches reports whether s is matched. A match of an unknown kind, and a regular
// expression that cannot be read, match nothing. A regular expression reads s as Latin-1,
// see [Request.UTF8].
func (m Match) Matches(s string) bool { return m.matches(s, false) }

// matches reads a regular expression as an Envoy does that takes s for UTF-8 or not.
func (m Match) matches(s string, asUTF8 bool) bool {
	value := m.Value
	if m.AnyCase {
		s, value = lower(s), lower(value)
	}
	switch m.Kind {
	case Exact:
		return s == value
	case Prefix:
		return strings.HasPrefix(s, value)
	case Suffix:
		return strings.HasSuffix(s, value)
	case Contains:
		return strings.Contains(s, value)
	case Segments:
		segment := m.Segment()
		rest, ok := strings.CutPrefix(s, segment)
		return segment == "" || ok && (rest == "" || rest[0] == '/')
	case Regex, Template:
		l := languages.language(languageKey{m.Kind, m.Value, asUTF8})
		return l != nil && l.Matches(s)
	case Range:
		if m.ofNumbers() {
			return claim.InRange(s, m.Value)
		}
		first, last, err := endpoint.Ports(m.Value)
		port, wrong := endpoint.Port(s)
		return err == nil && wrong == nil && first <= port && port <= last
	case CIDR:
		block, err := endpoint.Block(m.Value)
		address, wrong := netip.ParseAddr(s)
		return err == nil && wrong == nil && block.Contains(address)
	case Present:
		return true
	default:
		return false
	}
}

// lower turns the letters of ASCII to lower case.
func lower(s string) string {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			out := []byte(s)
			for i, c := range out {
				if c >= 'A' && c <= 'Z' {
					out[i] = c | 0x20
				}
			}
			return string(out)
		}
	}
	return s
}

// Segment returns the value without its closing slashes. For [Segments] it is empty
// where every path is covered.
func (m Match) Segment() string { return strings.TrimRight(m.Value, "/") }

// ofNumbers reports whether the text of a range begins as one of numbers.
func (m Match) ofNumbers() bool { return strings.HasPrefix(m.Value, "[") }

// check reports what gives a match no meaning, or what Envoy refuses.
func (m Match) check() error {
	switch {
	case m.AnyCase && (m.Kind == Segments || m.Kind >= Regex):
		return fmt.Errorf("a match of the kind %s cannot leave the case open", m.Kind)
	case m.Value == "" && (m.Kind == Suffix || m.Kind == Contains || m.Kind == Regex || m.Kind == Template):
		return fmt.Errorf("a match of the kind %s has no value: Envoy refuses it", m.Kind)
	case m.Value != "" && m.Kind == Present:
		return errors.New("a match of the kind Present compares with no value")
	case m.AnyCase && m.Value == "":
		return errors.New("a match without a value cannot leave the case open")
	case m.Kind == Range && m.ofNumbers():
		_, _, err := claim.Interval(m.Value)
		return err
	case m.Kind == Range:
		_, _, err := endpoint.Ports(m.Value)
		return err
	case m.Kind == CIDR:
		_, err := endpoint.Block(m.Value)
		return err
	case m.Kind == Template:
		if _, err := automaton.Template(m.Value); err != nil {
			return fmt.Errorf("the template cannot be read: %w", err)
		}
		return nil
	case m.Kind != Regex:
		return nil
	}
	for i := range len(m.Value) {
		if m.Value[i] >= utf8.RuneSelf {
			return errors.New("the regular expression has a character beyond ASCII: releases of Envoy read it differently")
		}
	}
	if _, err := automaton.Regex(m.Value, automaton.Latin1); err != nil {
		return fmt.Errorf("the regular expression cannot be read: %w", err)
	}
	if languages.language(languageKey{Regex, m.Value, true}) == nil {
		return errors.New("the regular expression cannot be read as UTF-8, as releases without the fix of CVE-2026-73552 read it, such as one that is too large then")
	}
	return nil
}

// String returns the match in the program's text form.
func (m Match) String() string {
	value := strconv.Quote(m.Value)
	if m.AnyCase {
		value += " in any case"
	}
	switch m.Kind {
	case Exact:
		return "= " + value
	case Prefix:
		return "starts with " + value
	case Segments:
		return "under " + value
	case Suffix:
		return "ends with " + value
	case Contains:
		return "contains " + value
	case Regex:
		return "matches the regex " + value
	case Range, CIDR:
		return "in " + m.Value
	case Present:
		return "is present"
	case Template:
		return "matches the template " + value
	default:
		return "matches by " + m.Kind.String() + " " + value
	}
}
