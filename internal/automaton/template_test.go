package automaton

import "testing"

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
