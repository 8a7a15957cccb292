package evaluation

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/meshproof/meshproof/internal/plainheader"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/cilium/internal/networkpolicy"
)

// meetsHTTP reports whether one of the rule's HTTP rules matches the request.
func (q question) meetsHTTP(w written, r policy.Request) bool {
	for _, entry := range q.entries(w) {
		for _, rule := range entry.Rules.HTTP {
			if matches(rule, r) {
				return true
			}
		}
	}
	return false
}

func matches(rule networkpolicy.HTTPRule, r policy.Request) bool {
	if !full(rule.Path, r.Path, r) || !full(rule.Method, r.Method, r) || !full(rule.Host, r.Host, r) {
		return false
	}
	for _, header := range rule.Headers {
		name, value, hasValue := strings.Cut(header, " ")
		if hasValue {
			name = strings.TrimRight(name, ":")
		}
		if !has(r, name, value, hasValue) {
			return false
		}
	}
	for _, header := range rule.HeaderMatches {
		if !has(r, header.Name, header.Value, header.Value != "") {
			return false
		}
	}
	return true
}

// full matches a whole text by a regular expression, byte by byte where the Envoy that judges
// does so. No expression has characters beyond ASCII.
func full(expression, text string, r policy.Request) bool {
	if expression == "" {
		return true
	}
	if r.UTF8 && !utf8.ValidString(text) {
		return false
	}
	if !r.UTF8 {
		text = latin1(text)
	}
	// Envoy lets the dot match a line feed, which no request has.
	re, err := regexp.Compile(fmt.Sprintf("^(?:%s)$", expression))
	return err == nil && re.MatchString(text)
}

// latin1 turns each byte into the character of its number.
func latin1(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteRune(rune(text[i]))
	}
	return b.String()
}

// has reports whether a line of a header has the value, or whether there is one at all.
func has(r policy.Request, name, value string, hasValue bool) bool {
	for _, line := range plainheader.Lines(r, strings.ToLower(name), r.JoinsLines) {
		if !hasValue || line == value {
			return true
		}
	}
	return false
}
