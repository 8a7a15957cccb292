package fieldvalue_test

import (
	"reflect"
	"testing"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/policy/manifest"
)

func TestValues(t *testing.T) {
	t.Parallel()
	docs, err := manifest.Parse("a.yaml", []byte("a: {b: [{c: d}, 1, x]}\n---\n[1]\n"))
	if err != nil {
		t.Fatal(err)
	}
	of := fieldvalue.Decode(docs[0])
	list := fieldvalue.Lookup(of, "a", "", "b")
	for name, tt := range map[string]struct{ got, want any }{
		"no mapping":         {fieldvalue.Decode(docs[1]), docs[1].Flow()},
		"no such key":        {fieldvalue.Lookup(of, "b", "c"), nil},
		"a key of no map":    {fieldvalue.Lookup(list, "c"), nil},
		"mappings":           {fieldvalue.Mappings(list), []map[string]any{{"c": "d"}}},
		"mappings of none":   {fieldvalue.Mappings(of), []map[string]any(nil)},
		"texts":              {fieldvalue.Texts(list), []string{"map[c:d]", "1", "x"}},
		"texts of none":      {fieldvalue.Texts("x"), []string(nil)},
		"a value further in": {fieldvalue.Any(of, func(v any) bool { return v == "d" }), true},
		"a key is no value":  {fieldvalue.Any(of, func(v any) bool { return v == "c" }), false},
	} {
		if !reflect.DeepEqual(tt.got, tt.want) {
			t.Errorf("%s: %v, want %v", name, tt.got, tt.want)
		}
	}
}
