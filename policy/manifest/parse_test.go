package manifest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/meshproof/meshproof/policy/manifest"
)

func TestParseDocuments(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		yaml string
		want []any
	}{
		"nothing":                {"", nil},
		"comments":               {"# nothing\n---\n# still nothing\n---\n", nil},
		"empty documents":        {"---\n---\na: 1\n---\n---\nnull\n", []any{map[string]any{"a": int64(1)}}},
		"two documents":          {"a: b\n---\n- c\n", []any{map[string]any{"a": "b"}, []any{"c"}}},
		"document end":           {"a: b\n...\n---\nc: d\n...\n", []any{map[string]any{"a": "b"}, map[string]any{"c": "d"}}},
		"carriage returns":       {"a:\r\n  b: c\r\n---\r\nd: e\r\n", []any{map[string]any{"a": map[string]any{"b": "c"}}, map[string]any{"d": "e"}}},
		"scalars":                {"[1, -2, 0x1F, 18446744073709551615, 1.5, .inf, true, Yes, 'off', ~, 'x', \"\\u0041\"]", []any{[]any{int64(1), int64(-2), int64(31), uint64(1<<64 - 1), 1.5, inf, true, true, "off", nil, "x", "A"}}},
		"block text":             {"a: |\n  x\n  y\nb: >-\n  x\n  y\n", []any{map[string]any{"a": "x\ny\n", "b": "x y"}}},
		"empty collections":      {"{a: [], b: {}, c: }", []any{map[string]any{"a": []any{}, "b": map[string]any{}, "c": nil}}},
		"keys that are words":    {"{true: 1, 2: b, a.b: c}", []any{map[string]any{"true": int64(1), "2": "b", "a.b": "c"}}},
		"aliases":                {"a: &x {b: [1, yes]}\nc: *x\nd: &y\ne: *y\n", []any{map[string]any{"a": map[string]any{"b": []any{int64(1), true}}, "c": map[string]any{"b": []any{int64(1), true}}, "d": nil, "e": nil}}},
		"a key that is an alias": {"a: &x b\n*x : {c: 1}\n", []any{map[string]any{"a": "b", "b": map[string]any{"c": int64(1)}}}},
		"an anchor twice":        {"a: &x 1\nb: *x\nc: &x 2\nd: *x\n", []any{map[string]any{"a": int64(1), "b": int64(1), "c": int64(2), "d": int64(2)}}},
		"merge keys": {"a: &x {b: 1, c: 2}\nd: &y {c: 3, e: 4}\nf:\n  <<: [*x, *y]\n  b: 5\n", []any{map[string]any{
			"a": map[string]any{"b": int64(1), "c": int64(2)}, "d": map[string]any{"c": int64(3), "e": int64(4)},
			"f": map[string]any{"b": int64(5), "c": int64(2), "e": int64(4)}}}},
		"same key in two places": {"a: {b: {c: 1}}\na.b: {c: 2}\n", []any{map[string]any{
			"a": map[string]any{"b": map[string]any{"c": int64(1)}}, "a.b": map[string]any{"c": int64(2)}}}},
	} {
		docs, err := manifest.Parse("p.yaml", []byte(tt.yaml))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []any
		for _, doc := range docs {
			var v any
			if err := doc.Decode(&v); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			got = append(got, v)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"a: b\nc: [d\n":        "p.yaml:2: malformed YAML: sequence end token ']' not found: compare the indentation, the brackets and the quotation marks with the lines around",
		"a: b\n c: d\n":        "p.yaml:1: malformed YAML: mapping value is not allowed in this context: compare the indentation, the brackets and the quotation marks with the lines around",
		"a: b\n\tc: d\n":       `p.yaml:2: malformed YAML: found character '\t' that cannot start any token: indent with spaces`,
		"a: 'b\n":              "p.yaml:1: malformed YAML: could not find end character of single-quoted text: compare the indentation, the brackets and the quotation marks with the lines around",
		"a: \xff\n":            "p.yaml: malformed YAML: the text is not UTF-8",
		"a: {{ .Values.b }}\n": "p.yaml:1: malformed YAML: could not find flow map content: the file is a template: write out what is applied, such as by helm template",
		"{{- if .Values.b }}\na: b\n{{- end }}\n":    "p.yaml:1: malformed YAML: could not find flow map content: the file is a template: write out what is applied, such as by helm template",
		"a: b\n{{ include \"c\" . | nindent 2 }}\n":  "p.yaml:2: malformed YAML: unexpected map key: the file is a template: write out what is applied, such as by helm template",
		"a: '{{ .Values.b }}'\nc: 1\nc: 2\n":         "p.yaml:3: c: the key appears twice, first on line 2: the file is a template: write out what is applied, such as by helm template",
		"a:\n  b: 1\n  c: 2\n  b: 3\n":               "p.yaml:4: a.b: the key appears twice, first on line 2",
		"a: {b: 1, b: 2}":                            "p.yaml:1: a.b: the key appears twice, first on line 1",
		"x: 1\n---\nb: 1\nb: 2\n":                    "p.yaml:4: b: the key appears twice, first on line 3",
		"a: 1\nb: *x\n":                              "p.yaml:2: b: there is no anchor &x before this alias",
		"a: &x [*x]\n":                               "p.yaml:1: a[0]: there is no anchor &x before this alias",
		"a: &x 1\n---\nb: *x\n":                      "p.yaml:3: b: there is no anchor &x before this alias",
		"a: 1\n<<: [b]\n":                            "p.yaml:2: a merge key names mappings, and this is the text \"b\"",
		"a: &x {b: 1}\nc:\n  b: 2\n  <<: *x\n":       "p.yaml:3: c.b: kubectl reads the number 1 here, and meshproof the number 2: write it so that every reader of YAML reads the same, such as in quotes",
		"case: c\na: &x 1\nb: *x\n":                  "p.yaml:3: a case file has no aliases and merge keys: write the value out",
		"case: c\n<<: {b: 1}\n":                      "p.yaml:2: a case file has no aliases and merge keys: write the value out",
		"a: &x [1]\n*x : 1\n":                        "p.yaml:2: a key is a text, and this alias stands for a list",
		"a: &x b\nb: 1\n*x : 1\n":                    "p.yaml:3: b: the key appears twice, first on line 2",
		bomb(7):                                      "p.yaml:6: a5[7]: aliases stand for more than 100000 values",
		"a: !!str 1\n":                               "p.yaml:1: tags are not supported: leave !!str out",
		"%YAML 1.2\n---\na: 1\n":                     "p.yaml:1: directives are not supported: leave the line out",
		"? [a]\n: b\n":                               "p.yaml:2: malformed YAML: found an invalid key for this map: compare the indentation, the brackets and the quotation marks with the lines around",
		"? |\n  a\n: b\n":                            "p.yaml:1: a key must be text on one line",
		"a: " + strings.Repeat("&x ", 100_000) + "1": "p.yaml:1: a value has two anchors: leave one out",
		strings.Repeat("[", 101):                     "p.yaml:1: nested deeper than 100 levels",
		strings.Repeat("- ", 20_000):                 "p.yaml:1: nested deeper than 100 levels",
		strings.Repeat("{a: ", 200):                  "p.yaml:1: nested deeper than 100 levels",
		indented(101):                                "p.yaml:101: nested deeper than 100 levels",
		string(repeat(20_000, "k%d: v\n")):           "p.yaml:10001: more than 10000 keys in one mapping",
	} {
		if _, err := manifest.Parse("p.yaml", []byte(yaml)); err == nil || err.Error() != want {
			t.Errorf("Parse(%.40q) = %v\nwant %s", yaml, err, want)
		}
	}
}

func TestParseTakesWhatIsInBounds(t *testing.T) {
	t.Parallel()
	for name, yaml := range map[string]string{
		"depth":     indented(99) + strings.Repeat(" ", 99) + "x",
		"lists":     strings.Repeat("- ", 98) + "a: b",
		"brackets":  strings.Repeat("[", 98) + strings.Repeat("]", 98),
		"keys":      string(repeat(10_000, "k%d: v\n")),
		"items":     string(repeat(50_000, "- v%d\n")),
		"lines":     "a: |\n" + string(repeat(50_000, "  line %d\n")),
		"documents": string(repeat(20_000, "---\na: %d\n")),
		"ends":      string(repeat(20_000, "---\na: %d\n...\n")),
	} {
		if docs, err := manifest.Parse("p.yaml", []byte(yaml)); err != nil || len(docs) == 0 {
			t.Errorf("%s: %d documents, %v", name, len(docs), err)
		}
	}
}

// bomb is a document whose aliases stand for ten to the power of n values.
func bomb(n int) string {
	var b strings.Builder
	b.WriteString("a0: &x0 1\n")
	for i := range n {
		fmt.Fprintf(&b, "a%d: &x%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*x%d, ", i), 10))
	}
	return b.String()
}

// indented is a mapping nested n levels deep, each on a line of its own.
func indented(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%*sa:\n", i, "")
	}
	return b.String()
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"type: T\nspec: {a: [1, 2.5, x, true, null]}\n---\n- b\n- c:\n    d: |\n      text\n",
		"a: \"\\x41\\u263a\"\nb: 'it''s'\nc: >-\n  folded\n  text\n", "a: &x 1\nb: *x\n", "? a\n: b\n", "%YAML 1.2\n---\na", "- - - a\n-\t- b", "a: {b: [c, {d: e}]}\n...\nb",
		"a: 0x1F\nb: 0o17\nc: 1_000\nd: .inf\ne: -.NaN\nf: 1e400\n", "a:\r\n  b: c\r\n", "\ufeffa: b", "<<: a", "!!binary a", "#", "---\n---\n", "a: b: c", "{", "]", "'", "|", "-", ":", "?",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := manifest.Parse("f.yaml", data)
		if err != nil {
			if !errors.As(err, new(*manifest.Error)) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error is no one-line *Error: %q", err)
			}
			return
		}
		for _, doc := range docs {
			var want, got any
			var strict struct {
				Type string           `yaml:"type"`
				Spec map[string][]int `yaml:"spec"`
			}
			_ = doc.Decode(&strict)
			if err := doc.Decode(&want); err != nil {
				t.Fatalf("decode into any: %v", err)
			}
			again, err := manifest.Parse("g.yaml", doc.YAML())
			if err != nil || len(again) != 1 {
				t.Fatalf("printed document does not parse to one: %d, %v\n%s", len(again), err, doc.YAML())
			}
			if err := again[0].Decode(&got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
				t.Fatalf("printing changed the document (-before +after):\n%s", diff)
			}
		}
	})
}
