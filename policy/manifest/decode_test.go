package manifest_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy/manifest"
)

var inf = math.Inf(1)

type color struct{ name string }

func (c *color) UnmarshalText(text []byte) error {
	if string(text) != "red" {
		return fmt.Errorf("color %q is unknown:\n use red", text)
	}
	c.name = string(text)
	return nil
}

// words takes one text or a list of them.
type words []string

func (w *words) UnmarshalManifest(d manifest.Document) error {
	var one string
	if d.Decode(&one) == nil {
		*w = words{one}
		return nil
	}
	var many []string
	err := d.Decode(&many)
	*w = many
	return err
}

type base struct {
	Kind string `yaml:"kind"`
}

type target struct {
	base
	Text    string                  `yaml:"text"`
	Pointer *string                 `yaml:"pointer"`
	List    []int8                  `yaml:"list"`
	ListPtr *[]target               `yaml:"listPtr"`
	Map     map[string]string       `yaml:"map"`
	Nested  *target                 `yaml:"nested"`
	Bool    bool                    `yaml:"bool"`
	Uint    uint16                  `yaml:"uint"`
	Float   float64                 `yaml:"float"`
	Color   color                   `yaml:"color"`
	Colors  map[string]*color       `yaml:"colors"`
	Words   words                   `yaml:"words"`
	Any     any                     `yaml:"any"`
	Channel chan int                `yaml:"channel"`
	ByInt   map[int]string          `yaml:"byInt"`
	Raw     map[string]rawContainer `yaml:"raw"`
	Untold  string
}

type rawContainer struct {
	Part manifest.Document `yaml:"part"`
}

func parseOne(t testing.TB, yaml string) manifest.Document {
	t.Helper()
	docs, err := manifest.Parse("p.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) != 1 {
		t.Fatalf("%d documents in %q", len(docs), yaml)
	}
	return docs[0]
}

func TestDecode(t *testing.T) {
	t.Parallel()
	var got target
	err := parseOne(t, `
kind: k
text: "1"
pointer: ""
list: [1, -128]
listPtr: []
map: {kuma.io/mesh: default}
nested: {uint: 65535, listPtr: [{text: x}]}
bool: true
float: 3
color: red
colors: {a: red, b: }
words: a
any: [1, {a: }]
`).Decode(&got)
	if err != nil {
		t.Fatal(err)
	}
	empty := ""
	want := target{
		base: base{Kind: "k"}, Text: "1", Pointer: &empty, List: []int8{1, -128}, ListPtr: &[]target{}, Map: map[string]string{"kuma.io/mesh": "default"},
		Nested: &target{Uint: 65535, ListPtr: &[]target{{Text: "x"}}}, Bool: true, Float: 3, Color: color{"red"}, Colors: map[string]*color{"a": {"red"}, "b": nil},
		Words: words{"a"}, Any: []any{int64(1), map[string]any{"a": nil}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(target{}, color{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDecodeKeepsAbsentEmptyAndSet(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{"text: x": "absent", "listPtr: ": "absent", "listPtr: []": "empty", "listPtr: [{}]": "set"} {
		var v target
		if err := parseOne(t, yaml).Decode(&v); err != nil {
			t.Fatal(err)
		}
		got := "set"
		switch {
		case v.ListPtr == nil:
			got = "absent"
		case len(*v.ListPtr) == 0:
			got = "empty"
		}
		if got != want {
			t.Errorf("%q is %s, want %s", yaml, got, want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"[a]":                                  "p.yaml:1: expected a mapping, found a list",
		"a":                                    `p.yaml:1: expected a mapping, found the text "a"`,
		"\ntext: a\nTEXT: b":                   "p.yaml:3: TEXT: unknown field: did you mean text?",
		"nested:\n  nested:\n    x: 1":         "p.yaml:3: nested.nested.x: unknown field: use one of any, bool, byInt, channel, color, colors, float, kind, list, listPtr, map, nested, pointer, raw, text, uint, words",
		"Untold: x":                            "p.yaml:1: Untold: unknown field: use one of any, bool, byInt, channel, color, colors, float, kind, list, listPtr, map, nested, pointer, raw, text, uint, words",
		"text: 1":                              "p.yaml:1: text: expected text, found the number 1: put it in quotes",
		"text: true":                           "p.yaml:1: text: expected text, found the boolean true: put it in quotes",
		"text: 1.50":                           "p.yaml:1: text: expected text, found the number 1.50: put it in quotes",
		"text:\n  - a":                         "p.yaml:1: text: expected text, found a list",
		"text:":                                "p.yaml:1: text: expected text, found nothing",
		"list: a":                              `p.yaml:1: list: expected a list, found the text "a"`,
		"list: {}":                             "p.yaml:1: list: expected a list, found a mapping",
		"list:\n  - 1\n  - 128":                "p.yaml:3: list[1]: expected a whole number from -128 to 127, found the number 128",
		"list:\n- x":                           `p.yaml:2: list[0]: expected a whole number from -128 to 127, found the text "x"`,
		"uint: -1":                             "p.yaml:1: uint: expected a whole number from 0 to 65535, found the number -1",
		"uint: 1.0":                            "p.yaml:1: uint: expected a whole number from 0 to 65535, found the number 1.0",
		"bool: 'yes'":                          `p.yaml:1: bool: expected true or false, found the text "yes"`,
		"text: yes":                            `p.yaml:1: text: expected text, found the word yes, which kubectl reads as the boolean true: put it in quotes`,
		"map: {a: Off}":                        `p.yaml:1: map.a: expected text, found the word Off, which kubectl reads as the boolean false: put it in quotes`,
		"float: a":                             `p.yaml:1: float: expected a number, found the text "a"`,
		"map: []":                              "p.yaml:1: map: expected a mapping, found a list",
		"map:\n  a: b\n  kuma.io/mesh: 1":      `p.yaml:3: map["kuma.io/mesh"]: expected text, found the number 1: put it in quotes`,
		"listPtr:\n- nested:\n    color: blue": `p.yaml:3: listPtr[0].nested.color: color "blue" is unknown: use red`,
		"color: [red]":                         "p.yaml:1: color: expected text, found a list",
		"color: 1":                             `p.yaml:1: color: color "1" is unknown: use red`,
		"colors:\n  x: blue":                   `p.yaml:2: colors.x: color "blue" is unknown: use red`,
		"words: {a: b}":                        "p.yaml:1: words: expected a list, found a mapping",
		"words:\n- a\n- 1":                     "p.yaml:3: words[1]: expected text, found the number 1: put it in quotes",
		"channel: a":                           "p.yaml:1: channel: cannot be decoded into chan int",
		"byInt: {1: a}":                        "p.yaml:1: byInt: cannot be decoded into map[int]string: the keys must be text",
	} {
		var v target
		err := parseOne(t, yaml).Decode(&v)
		if err == nil || err.Error() != want {
			t.Errorf("Decode(%q) = %v\nwant %s", yaml, err, want)
		}
		if !errors.As(err, new(*manifest.Error)) {
			t.Errorf("Decode(%q): no *Error", yaml)
		}
	}
}

func TestDecodeIntoNoPointer(t *testing.T) {
	t.Parallel()
	doc := parseOne(t, "a: b")
	for _, into := range []any{nil, target{}, (*target)(nil)} {
		if err := doc.Decode(into); err == nil {
			t.Errorf("Decode(%T) gives no error", into)
		}
	}
}
