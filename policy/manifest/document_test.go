package manifest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy/manifest"
)

const placed = `# a case
case: x
policies:
  - type: T
    labels:
      app: a
      kuma.io/mesh: m
    spec:
      rules:
        - {a: b}
        -
          c: d
  - e
list: [[1], [2, 3]]
`

func TestPlace(t *testing.T) {
	t.Parallel()
	doc := parseOne(t, placed)
	policy, ok := doc.Lookup("policies[0]")
	if !ok {
		t.Fatal("no policies[0]")
	}
	for _, tt := range []struct {
		doc         manifest.Document
		field, want string
	}{
		{doc, "", "p.yaml:2"},
		{doc, "case", "p.yaml:2: case"},
		{doc, "policies", "p.yaml:3: policies"},
		{doc, "policies[1]", "p.yaml:13: policies[1]"},
		{doc, "list[1][0]", "p.yaml:14: list[1][0]"},
		{policy, "", "p.yaml:4: policies[0]"},
		{policy, "labels", "p.yaml:5: policies[0].labels"},
		{policy, `labels["kuma.io/mesh"]`, `p.yaml:7: policies[0].labels["kuma.io/mesh"]`},
		{policy, "spec.rules[0].a", "p.yaml:10: policies[0].spec.rules[0].a"},
		{policy, "spec.rules[1].c", "p.yaml:12: policies[0].spec.rules[1].c"},
		// What does not exist is placed at its nearest parent.
		{policy, "spec.rules[2].c", "p.yaml:9: policies[0].spec.rules[2].c"},
		{policy, "metadata.name", "p.yaml:4: policies[0].metadata.name"},
		{policy, "type.x", "p.yaml:4: policies[0].type.x"},
		{policy, "spec[0]", "p.yaml:8: policies[0].spec[0]"},
		{doc, "policies.x", "p.yaml:3: policies.x"},
		// A path that is not well formed is kept as it is.
		{doc, "policies[", "p.yaml:3: policies["},
		{doc, "policies[-1]", "p.yaml:3: policies[-1]"},
		{doc, `policies["x]`, `p.yaml:3: policies["x]`},
		{manifest.Document{}, "a", ": a"},
	} {
		if got := tt.doc.Place(tt.field); got != tt.want {
			t.Errorf("Place(%s) = %s, want %s", tt.field, got, tt.want)
		}
		if got := tt.doc.Errorf(tt.field, "no %s", "good").Error(); got != tt.want+": no good" {
			t.Errorf("Errorf(%s) = %s, want %s", tt.field, got, tt.want)
		}
	}
}

func TestFieldOfADocument(t *testing.T) {
	t.Parallel()
	doc := parseOne(t, placed)
	for field, want := range map[string]any{
		"case": "x", "policies[1]": "e", "list[1][1]": int64(3), `policies[0].labels["app"]`: "a", `policies[0].labels["kuma.io/mesh"]`: "m",
	} {
		part, ok := doc.Lookup(field)
		var got any
		if err := part.Decode(&got); !ok || err != nil || got != want {
			t.Errorf("At(%s) = %v, %t, %v, want %v", field, got, ok, err, want)
		}
	}
	for _, field := range []string{"x", "case.x", "case[0]", "policies[2]", "list[1][2]", "list.1", "["} {
		if _, ok := doc.Lookup(field); ok {
			t.Errorf("At(%s) is there", field)
		}
	}
}

func TestDocumentAsFieldKeepsItsPlace(t *testing.T) {
	t.Parallel()
	var v struct {
		Raw map[string]rawContainer `yaml:"raw"`
	}
	if err := parseOne(t, "raw:\n  x:\n    part:\n      a: 1\n").Decode(&v); err != nil {
		t.Fatal(err)
	}
	part := v.Raw["x"].Part
	if got, want := part.Errorf("a", "wrong").Error(), "p.yaml:4: raw.x.part.a: wrong"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestType(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]manifest.Head{
		"type: T":                      {Type: "T"},
		"{apiVersion: a/v1, kind: K}":  {APIVersion: "a/v1", Kind: "K"},
		"{type: 1, kind: [], other: }": {},
		"[type]":                       {},
		// A Secret has a field of this name.
		"{apiVersion: v1, kind: K, type: Opaque}": {APIVersion: "v1", Kind: "K"},
		"{apiVersion: v1, type: T}":               {Type: "T", APIVersion: "v1"},
		"{kind: K, type: T}":                      {Type: "T", Kind: "K"},
		"type":                                    {},
	} {
		if got := parseOne(t, yaml).Type(); got != want {
			t.Errorf("Type(%s) = %+v, want %+v", yaml, got, want)
		}
	}
	if got := (manifest.Document{}).Type(); got != (manifest.Head{}) {
		t.Errorf("Type() of no document = %+v", got)
	}
}

func TestYAML(t *testing.T) {
	t.Parallel()
	const want = `a:
  b: spiffe://td.mesh/ns/a
  "c d": "1"
  "no": "yes"
  e: 1
  f: []
  g:
    - x
    - - "y: z"
      - {}
    - h: null
      i: "two\nlines"
`
	doc := parseOne(t, `a: {b: spiffe://td.mesh/ns/a, c d: "1", "no": "yes", e: 1, f: [], g: [x, ["y: z", {}], {h: , i: "two\nlines"}]}`)
	if diff := cmp.Diff(want, string(doc.YAML())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	part, _ := doc.Lookup("a.g")
	if diff := cmp.Diff("- x\n- - \"y: z\"\n  - {}\n- h: null\n  i: \"two\\nlines\"\n", string(part.YAML())); diff != "" {
		t.Errorf("part (-want +got):\n%s", diff)
	}
	if got := (manifest.Document{}).YAML(); len(got) != 0 {
		t.Errorf("no document prints %q", got)
	}
}

func TestErrorIsTyped(t *testing.T) {
	t.Parallel()
	var e *manifest.Error
	if err := parseOne(t, "a: b").Errorf("a", "bad\n%s", "thing"); !errors.As(err, &e) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&manifest.Error{File: "p.yaml", Line: 1, Field: "a", Reason: "bad\nthing"}, e); diff != "" {
		t.Error(diff)
	}
	if got := e.Error(); got != "p.yaml:1: a: bad thing" {
		t.Errorf("Error() = %q", got)
	}
}

func TestDecodeSharesAMapping(t *testing.T) {
	t.Parallel()
	var a struct {
		One int `yaml:"one"`
	}
	var b struct {
		Two string `yaml:"two"`
	}
	if err := parseOne(t, "{two: x, one: 1}").Decode(&a, &b); err != nil || a.One != 1 || b.Two != "x" {
		t.Errorf("%+v, %+v, %v", a, b, err)
	}
	if err := (manifest.Document{}).Decode(&a, &b); err != nil {
		t.Error(err)
	}
	for yaml, want := range map[string]string{
		"{one: 1, three: 3}": "p.yaml:1: three: unknown field: use one of one, two",
		"{one: 1, Two: 3}":   "p.yaml:1: Two: unknown field: did you mean two?",
		"{two: 2}":           "p.yaml:1: two: expected text, found the number 2: put it in quotes",
		"[one]":              "p.yaml:1: expected a mapping, found a list",
	} {
		if err := parseOne(t, yaml).Decode(&a, &b); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", yaml, err, want)
		}
	}
}

func TestDecodeKnown(t *testing.T) {
	t.Parallel()
	var v struct {
		One int `yaml:"one"`
	}
	if err := parseOne(t, "{two: x, one: 1}").DecodeKnown(&v); err != nil || v.One != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	if err := (manifest.Document{}).DecodeKnown(&v); err != nil {
		t.Error(err)
	}
	const want = "p.yaml:1: one: expected a whole number from -9223372036854775808 to 9223372036854775807, found the text \"x\""
	if err := parseOne(t, "{two: x, one: x}").DecodeKnown(&v); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestDocumentWithoutAField(t *testing.T) {
	t.Parallel()
	whole := parseOne(t, "{a: 1, b: [2], c: {d: e}}")
	rest := whole.WithoutKey("b")
	if got, want := rest.Keys(), []string{"a", "c"}; !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
	if got, want := whole.Keys(), []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("the whole has keys %v, want %v", got, want)
	}
	if got, want := rest.Place("c.d"), "p.yaml:1: c.d"; got != want {
		t.Errorf("place %s, want %s", got, want)
	}
	if nothing := rest.WithoutKey("a").WithoutKey("c"); len(nothing.YAML()) > 0 || nothing.Keys() != nil {
		t.Errorf("nothing is left, and printed as %q", nothing.YAML())
	}
	if got := (manifest.Document{}).WithoutKey("a").Keys(); got != nil {
		t.Errorf("keys of the zero value: %v", got)
	}
}

func TestFlow(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"{}":      "{}",
		"[]":      "[]",
		"a: ~":    "{a: null}",
		"- yes":   "[true]",
		"- 'yes'": `["yes"]`,
		"a: {b: [1, 1.5, true, x], 'c d': 'e, f'}\nspiffe: spiffe://td/a": `{a: {b: [1, 1.5, true, x], "c d": "e, f"}, spiffe: spiffe://td/a}`,
	} {
		doc := parseOne(t, yaml)
		if diff := cmp.Diff(want, doc.Flow()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", yaml, diff)
		}
		if again := parseOne(t, doc.Flow()); string(again.YAML()) != string(doc.YAML()) {
			t.Errorf("%s reads back as %s", doc.Flow(), again.YAML())
		}
	}
	if got := (manifest.Document{}).Flow(); got != "" {
		t.Errorf("the zero value is printed as %q", got)
	}
}

// The comments of a file are a part of each of its documents.
func TestComments(t *testing.T) {
	t.Parallel()
	const text = "# a\n#@ if x:\n---\nb: c # d\ne: '# f'\ng: |\n  # h\ni: [j, # k\n  l]\n---\nkind: List\napiVersion: v1\nitems:\n# m\n- {kind: n}\n#o"
	docs, err := manifest.Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range docs {
		at, found := doc.Lookup("#")
		var all []manifest.Document
		if err := at.Decode(&all); err != nil || !found {
			t.Fatal(found, err)
		}
		var got []string
		for _, one := range all {
			got = append(got, fmt.Sprint(one.Line(), one.Flow()))
		}
		if want := "1 a|2@ if x:|4 d|8 k|14 m|16o"; strings.NewReplacer(`"`, "", "'", "").Replace(strings.Join(got, "|")) != want {
			t.Errorf("%q, want %q", strings.Join(got, "|"), want)
		}
	}
	for _, text := range []string{"a: b", `{"a": "#"}`, "# a\ncase: b"} {
		docs, err := manifest.Parse("f.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, found := docs[0].Lookup("#"); found {
			t.Errorf("%q has a comment", text)
		}
	}
}

// A field goes, and all others stay as they are, in the document that it is taken from too.
func TestWithoutField(t *testing.T) {
	t.Parallel()
	const text = "{a: [{b: 1, c: 2}, {b: 3}], d: {e: 4}}"
	doc := parseOne(t, text)
	for field, want := range map[string]string{
		"a[0].b": "{a: [{c: 2}, {b: 3}], d: {e: 4}}",
		"a[1].b": "{a: [{b: 1, c: 2}, {}], d: {e: 4}}",
		"d":      "{a: [{b: 1, c: 2}, {b: 3}]}",
		"d.e":    "{a: [{b: 1, c: 2}, {b: 3}], d: {}}",
		"a[7].b": text, "a[0]": text, "d.x.y": text, "": text, "[": text,
	} {
		if got := doc.WithoutField(field).Flow(); got != want {
			t.Errorf("without %s: %s, want %s", field, got, want)
		}
		if doc.Flow() != text {
			t.Fatalf("without %s the document itself is %s", field, doc.Flow())
		}
	}
	if got, _ := doc.WithoutField("a[0].b").Lookup("a[0].c"); got.Place("") != "p.yaml:1: a[0].c" {
		t.Errorf("the other field is at %s", got.Place(""))
	}
}
