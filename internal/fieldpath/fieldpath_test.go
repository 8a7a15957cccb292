package fieldpath_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/policy/manifest"
)

// A path leads back to its field, whatever the key.
func TestPathsLeadBack(t *testing.T) {
	t.Parallel()
	docs, err := manifest.Parse("a.yaml", []byte(`{plain: [x], a.b/c: [x], "": [x], 'q"': [x], "é": [x], "[0]": [x], a-b_1: [x]}`))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"plain": "plain[0]", "a.b/c": `["a.b/c"][0]`, "": `[""][0]`, `q"`: `["q\""][0]`, "é": `["é"][0]`, "[0]": `["[0]"][0]`, "a-b_1": "a-b_1[0]",
	} {
		path := fieldpath.Item(fieldpath.Child("", key), 0)
		if path != want {
			t.Errorf("%q: %s, want %s", key, path, want)
		}
		var text string
		if at, found := docs[0].Lookup(path); !found || at.Decode(&text) != nil || text != "x" {
			t.Errorf("%s leads to %q, %t", path, text, found)
		}
	}
	if got, want := fieldpath.Child("metadata.labels", "kuma.io/mesh"), `metadata.labels["kuma.io/mesh"]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
