package automaton

import (
	"strings"
	"testing"
)

func TestTemplateRegex(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]string{
		"/api/*/x":         "/api/" + oneSegment + "/x",
		"/a/**":            "/a/" + manySegments,
		"/a.b/{v=**}.json": `/a\.b/` + manySegments + `\.json`,
		"/{id}":            "/" + oneSegment,
		"/{x=v1/*}/{y=**}": "/v1/" + oneSegment + "/" + manySegments,
		"/a/*/":            "/a/" + oneSegment + "/",
		"/":                "/",
		"/a*":              "",
		"/a{b}":            "",
		"/*b/c":            "",
		"/{x":              "",
		"/{x=}":            "",
		"/{x=a*}":          "",
		"a/*":              "",
		"/***":             "",
		"/{x={y}}":         "",
	} {
		got, ok := templateRegex(template)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %t, want %q", template, got, ok, want)
		}
	}
}

// TestLongTemplate counts the characters that Envoy counts, without braces.
func TestLongTemplate(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]bool{
		"/{*}/" + strings.Repeat("a", longestTemplate-3):        true,
		"/{*}/" + strings.Repeat("a", longestTemplate-2):        false,
		"/{*}/" + strings.Repeat("%C3%BC", (longestTemplate)/6): true,
	} {
		if _, err := Template(template); (err == nil) != want {
			t.Errorf("%s: %v", template, err)
		}
	}
}
