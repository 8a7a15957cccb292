package verify

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/sidecar"
)

// A regular expression that takes any character does not take every byte on an Envoy
// without the fix. TestRegexBytes in internal/adversary shows the request.
func TestOpenRegex(t *testing.T) {
	t.Parallel()
	path := func(expression string) edit {
		return allowing(header, `"header_name": ":path"`, inList(`"safe_regex": {"regex": "`+expression+`"}`))
	}
	urlPath := func(normalize string) edit {
		return func(dump any) any {
			dump = put(manager+".normalize_path", normalize)(drop(rbac + ".matcher")(dump))
			return put(rbac+".rules", `{"policies": {"p": {"permissions": [{"url_path": {"path": {"safe_regex": {"regex": "/admin(/.*)?"}}}}], "principals": [{"any": true}]}}}`)(dump)
		}
	}
	for name, tt := range map[string]struct {
		edit edit
		open string
	}{
		"as it is":               {func(dump any) any { return dump }, ""},
		"any text behind":        {path("/admin.*"), "/admin.*"},
		"any text but a slash":   {path("/admin/[^/]+"), "/admin/[^/]+"},
		"a letter":               {path("/\u00e9"), "/\u00e9"},
		"no expression":          {path("("), "("},
		"k in any case":          {path("/(?i:k)"), "/(?i:k)"},
		"a in any case":          {path("/(?i:a)"), ""},
		"the method":             {allowing(header, `"header_name": ":method"`, inList(`"safe_regex": {"regex": "P.*"}`)), ""},
		"the host":               {allowing(header, `"header_name": ":authority"`, inList(`"safe_regex": {"regex": "shop.*"}`)), ""},
		"another header":         {allowing(header, `"header_name": "x-a"`, inList(`"safe_regex": {"regex": "P.*"}`)), "P.*"},
		"a server name":          {allowing(network+"ServerNameInput", "", inList(`"safe_regex": {"regex": "a.*"}`)), "a.*"},
		"a requested name":       {letting(`{"requested_server_name": {"safe_regex": {"regex": "a.*"}}}`, anyone), "a.*"},
		"a list":                 {path("/a|/b[0-9]{2}|/\\\\w+"), ""},
		"the path":               {urlPath("false"), "/admin(/.*)?"},
		"the path, normalized":   {urlPath("true"), ""},
		"a name":                 {allowing(uriSAN, "", inList(`"safe_regex": {"regex": "spiffe://td/.*"}`)), ""},
		"the match of a route":   {override(`"safe_regex": {"regex": "/admin(/.*)?"}`), "/admin(/.*)?"},
		"a parameter of a route": {override(`"prefix": "/", "query_parameters": [{"name": "id", "string_match": {"safe_regex": {"regex": "admin.*"}}}]`), "admin.*"},
		"a parameter in ASCII":   {override(`"prefix": "/", "query_parameters": [{"name": "id", "string_match": {"safe_regex": {"regex": "[a-z]+"}}}]`), ""},
		"the header of a route":  {override(`"prefix": "/", "headers": [{"name": ":path", "string_match": {"safe_regex": {"regex": "/a.*"}}}]`), "/a.*"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(tt.edit(exampleDump(t)))
			if err != nil {
				t.Fatal(err)
			}
			found, err := sidecar.Dump(text)
			if err != nil {
				t.Fatal(err)
			}
			for _, fixed := range []bool{true, false} {
				v, err := match(t, somePolicy, false, found)
				if err != nil {
					t.Fatal(err)
				}
				v.SetEnvoy("1.0.0", "process", true, behavior.Set{}.Change(behavior.RegexBytes, fixed))
				got := ""
				for _, line := range lines(v.Unverified) {
					if _, after, ok := strings.Cut(line, "on this Envoy the regular expression "); ok {
						got = after
					}
				}
				want := ""
				if tt.open != "" && !fixed {
					quoted, _ := json.Marshal(tt.open)
					want = string(quoted) + " does not match a byte that is no UTF-8, which callers can send"
				}
				if got != want {
					t.Errorf("fixed %t: %s, want %s", fixed, got, want)
				}
			}
		})
	}
}
