package manifest_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy/manifest"
)

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

func TestWithout(t *testing.T) {
	t.Parallel()
	whole := parseOne(t, "{a: 1, b: [2], c: {d: e}}")
	rest := whole.Without("b")
	if got, want := rest.Keys(), []string{"a", "c"}; !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
	if got, want := whole.Keys(), []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("the whole has keys %v, want %v", got, want)
	}
	if got, want := rest.Place("c.d"), "p.yaml:1: c.d"; got != want {
		t.Errorf("place %s, want %s", got, want)
	}
	if nothing := rest.Without("a").Without("c"); len(nothing.YAML()) > 0 || nothing.Keys() != nil {
		t.Errorf("nothing is left, and printed as %q", nothing.YAML())
	}
	if got := (manifest.Document{}).Without("a").Keys(); got != nil {
		t.Errorf("keys of the zero value: %v", got)
	}
}

func TestFlow(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"{}":    "{}",
		"[]":    "[]",
		"a: ~":  "{a: null}",
		"- yes": `["yes"]`,
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
