package manifest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy/manifest"
)

// A list counts as its objects, each with its own place.
func TestParseLists(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		yaml string
		want []string
	}{
		"kubectl":       {"apiVersion: v1\nkind: List\nmetadata: {resourceVersion: \"\", continue: \"\"}\nitems:\n- kind: A\n- kind: B\n", []string{"p.yaml:5: items[0].x", "p.yaml:6: items[1].x"}},
		"kumactl":       {"items:\n- type: A\n- type: B\nnext: null\ntotal: 2\n", []string{"p.yaml:2: items[0].x", "p.yaml:3: items[1].x"}},
		"JSON":          {`{"total": 1, "items": [{"type": "A"}], "next": null}`, []string{"p.yaml:1: items[0].x"}},
		"an API server": {"apiVersion: kuma.io/v1alpha1\nkind: MeshTrafficPermissionList\nitems:\n- kind: A\n", []string{"p.yaml:4: items[0].x"}},
		"within a list": {"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: List, items: [{kind: A}]}\n- {kind: B}\n", []string{"p.yaml:4: items[0].items[0].x", "p.yaml:5: items[1].x"}},
		"among others":  {"kind: A\n---\nitems: [{kind: B}]\n---\nkind: C\n", []string{"p.yaml:1: x", "p.yaml:3: items[0].x", "p.yaml:5: x"}},
		"empty":         {"apiVersion: v1\nkind: List\nitems: []\n", nil},
		"of any kind":   {"apiVersion: v1\nkind: ConfigMap\nmetadata: {resourceVersion: '1'}\nitems: [{kind: A}]\n", []string{"p.yaml:4: items[0].x"}},
		"no list":       {"type: A\nitems: [{}]\n---\nitems: [{}]\nmore: 1\n", []string{"p.yaml:1: x", "p.yaml:4: x"}},
	} {
		docs, err := manifest.Parse("p.yaml", []byte(tt.yaml))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, d := range docs {
			got = append(got, d.Place("x"))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}

// A list that kubectl may refuse is named at each of its objects.
func TestDoubtfulList(t *testing.T) {
	t.Parallel()
	const item = "items: [{apiVersion: a/v1, kind: A}]"
	for yaml, want := range map[string]string{
		"apiVersion: v1\nkind: List\n" + item:    "",
		"apiVersion: a/v1\nkind: AList\n" + item: "",
		"apiVersion: a/v1\nkind: List\n" + item:  "",
		"apiVersion: a/v1\nkind: A\n" + item:     "",
		"apiVersion: a/v2\nkind: AList\n" + item: "a list of the kind a/v2 AList",
		"apiVersion: b/v1\nkind: List\n" + item:  "a list of the kind b/v1 List",
		"apiVersion: v1\nkind: BList\n" + item:   "a list of the kind v1 BList",
		item:                                     "a list without a kind",
		"items: [{type: A}]":                     "",
		"apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: List, " + item + "}]": "a list within a list",
	} {
		docs, err := manifest.Parse("p.yaml", []byte(yaml))
		if err != nil || len(docs) != 1 {
			t.Fatalf("%q: %d documents, %v", yaml, len(docs), err)
		}
		if got := docs[0].DoubtfulList(); got != want {
			t.Errorf("%q: %q, want %q", yaml, got, want)
		}
	}
}

func TestParseRefusesLists(t *testing.T) {
	t.Parallel()
	const page = "the list is one page of several, and the policies of the others are missing: get all pages"
	for yaml, want := range map[string]string{
		"apiVersion: v1\nkind: List\n":                                             "p.yaml:1: items: the list has no items: write [] for an empty list",
		"apiVersion: v1\nkind: List\nitems:\n":                                     "p.yaml:3: items: the list has no items: write [] for an empty list",
		"apiVersion: v1\nkind: List\nitmes: []\n":                                  "p.yaml:3: itmes: unknown field: did you mean items?",
		"apiVersion: v1\nkind: List\ntype: Opaque\nitems: [{type: A}]\n":           "p.yaml:3: type: unknown field: use one of apiVersion, items, kind, metadata, next, total",
		"apiVersion: v1\nkind: List\nitems: {}\n":                                  "p.yaml:3: items: expected a list, found a mapping",
		"apiVersion: v1\nkind: List\nitems: []\nspec: {}":                          "p.yaml:4: spec: unknown field: use one of apiVersion, items, kind, metadata, next, total",
		"items: [{type: A}]\nnext: http://cp/meshes?offset=1\n":                    "p.yaml:2: next: " + page,
		"items: [{type: A}]\ntotal: 2\n":                                           "p.yaml:2: total: " + page,
		"apiVersion: v1\nkind: List\nmetadata: {continue: x}\nitems: []\n":         "p.yaml:3: metadata.continue: " + page,
		"apiVersion: v1\nkind: List\nmetadata: {remainingItemCount: 3}\nitems: []": "p.yaml:3: metadata.remainingItemCount: " + page,
		"apiVersion: v1\nkind: List\nmetadata: 3\nitems: []":                       "p.yaml:3: metadata: expected a mapping, found the number 3",
		"apiVersion: v1\nkind: ConfigMap\nitems: [{kind: A}]\ndata: {a: b}":        "p.yaml:4: data: unknown field: use one of apiVersion, items, kind, metadata, next, total",
		"apiVersion: a/v1\nkind: FilterList\nitems: [{kind: A}, {spec: {}}]":       "p.yaml:3: items[1]: the item has neither apiVersion nor kind, and kubectl takes them from the list: write both",
		"items: 3\n": "p.yaml:1: items: expected a list, found the number 3",
	} {
		docs, err := manifest.Parse("p.yaml", []byte(yaml))
		if err == nil || err.Error() != want || docs != nil {
			t.Errorf("%q: %v, %v, want %s", yaml, docs, err, want)
		}
	}
}
