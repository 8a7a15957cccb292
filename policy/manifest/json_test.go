package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/manifest"
)

// The parser of JSON reads what API servers write, and nothing that the parser of YAML reads otherwise.
func TestParseJSON(t *testing.T) {
	t.Parallel()
	for text, own := range map[string]bool{
		`{}`: true, `[]`: true, " {\n}\n": true, `{"a":{},"b":[],"c":[[]]}`: true,
		`{"a": 1, "b": [-2, 1.50, 0, true, false, null, "x", ""]}`:                         true,
		"{\n  \"a\": [\n    {\n      \"b\": \"c\"\n    },\n    2\n  ],\n  \"d\" :\n  3}\n": true,
		`{"a.b": "\u003c\n\\\"\/\t", "#": "# no comment", "-": ": -"}`:                     true,
		`{"kind":"List","apiVersion":"v1","items":[{"a":1},{"b":2}]}`:                      true,
		`{"a": 9223372036854775807, "b": -9223372036854775808}`:                            true,
		`{"a": 9223372036854775808}`:                                                       false,
		`{"a": 1e3}`:                                                                       false,
		`{"a": -0}`:                                                                        false,
		`{"a": 1, "a": 2}`:                                                                 false,
		`{"": 1}`:                                                                          false,
		`{"<<": {"a": 1}}`:                                                                 false,
		`{"a": "ü", "ключ": "日本 🙂"}`:                                                       true,
		"{\"a\": \"\u00a0\"}":                                                              false, "{\"a\": \"\u2028\"}": false, "{\"a\": \"\u0085\"}": false, "{\"a\": \"\ufeff\"}": false,
		`{"a": "\ud800"}`:             false,
		"{\"a\":\t1}":                 false,
		"{\"a\": 1,\r\"b\": 2}":       false,
		`{"a": 1} # a comment`:        false,
		"{\"a\": 1}\n---\n{\"a\": 2}": false,
		`{a: 1}`:                      false, `1`: false, `"a"`: false, ``: false, ` `: false, `null`: false, `{"a": 1`: false,
		strings.Repeat("[", 98) + strings.Repeat("]", 98):                     true,
		strings.Repeat("[", 101) + strings.Repeat("]", 101):                   false,
		"{" + strings.TrimSuffix(string(repeat(2000, `"k%d":1,`)), ",") + "}": false,
	} {
		read, diff := manifest.ReadJSON([]byte(text))
		if read != own || diff != "" {
			t.Errorf("ReadJSON(%.60q) = %t, want %t; (-YAML +JSON)\n%s", text, read, own, diff)
		}
	}
}

func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{`{"a": [1, -2.5, "x\u0000\u2028\/", true, null]}`, "[\n{\"a\":\n\"b\"}\n,\n\n{} ]", `{"a":{"b":{"c":"\ud83d\ude00"}}}`, `[1.0,0.5,-0.0,00]`, `{"items":[{"a":1}]}`, `{"ü":"日本 🙂"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, diff := manifest.ReadJSON(data); diff != "" {
			t.Errorf("%q (-YAML +JSON)\n%s", data, diff)
		}
	})
}

// BenchmarkParseJSON measures a list of kubectl as JSON, of two sizes.
func BenchmarkParseJSON(b *testing.B) {
	const item = `{"apiVersion":"v1","kind":"T","metadata":{"name":"p-%d"},"spec":{"rules":[{"from":"a","ports":[8080]}]}},`
	for _, n := range []int{5000, 10000} {
		data := []byte(`{"apiVersion":"v1","kind":"List","items":[` + strings.TrimSuffix(string(repeat(n, item)), ",") + "]}")
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := manifest.Parse("b.json", data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
