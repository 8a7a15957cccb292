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
		got, ok := (&templateReader{names: map[string]bool{}}).regex(template)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %t, want %q", template, got, ok, want)
		}
	}
}

// TestTemplatesOfEnvoy has templates that Envoy takes, and such as it refuses. Package harness asks
// Envoy for some of them.
func TestTemplatesOfEnvoy(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]string{
		"/{*}/" + strings.Repeat("a", longestTemplate-3):        "",
		"/{*}/" + strings.Repeat("a", longestTemplate-2):        "has 257 characters, and Envoy takes at most 256",
		"/{*}/" + strings.Repeat("%C3%BC", (longestTemplate)/6): "",
		"/{a}/{b}/{c}/{d}/{e}":                                  "",
		"/{a}/{b}/{c}/{d}/{e}/{f}":                              "has 6 variables, and Envoy takes at most 5",
		"/*/*/*/*/*/*":                                          "",
		"/{a}/{a}":                                              "two variables a",
		"/{a}/{" + strings.Repeat("b", 16) + "}":                "",
		"/{" + strings.Repeat("b", 17) + "}":                    "is no name of a variable",
		"/{}":                                                   `"" is no name of a variable`,
		"/{=*}":                                                 `"" is no name of a variable`,
		"/{1}":                                                  `"1" is no name of a variable`,
		"/{a-b}":                                                `"a-b" is no name of a variable`,
		"/{a_1=x/*}":                                            "",
		"/**/a/b":                                               "",
		"/*/**":                                                 "",
		"/**/*":                                                 `a wildcard behind "**"`,
		"/{a=**}/{b}":                                           `a wildcard behind "**"`,
		"/{a=**/*}":                                             `a wildcard behind "**"`,
		"/a//b":                                                 "an empty segment",
		"//":                                                    "an empty segment",
		"/a/":                                                   "",
		"/a%20;b=c!$&'()+~-_.:@,":                               "",
		"/a b":                                                  "a character that no path has",
		"/a#b":                                                  "a character that no path has",
		"/é":                                                    "a character that no path has",
		"/a\n":                                                  "a character that no path has",
		"/[a]":                                                  "a character that no path has",
	} {
		_, err := Template(template)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", template, err, want)
		}
	}
}
