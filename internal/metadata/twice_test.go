package metadata_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Two clusters may have an object of one name. In one folder it is a mistake.
func TestRefuseTwice(t *testing.T) {
	t.Parallel()
	for first, want := range map[string]string{
		"clusters/b/a.yaml:4": "at clusters/b/a.yaml:4: delete one of the two, or",
		"clusters/a/p.yaml:1": "at clusters/a/p.yaml:1: give the folder of one cluster at a time, delete one of the two, or",
	} {
		docs, err := manifest.Parse("clusters/b/p.yaml", []byte("metadata: {name: p}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := metadata.RefuseTwice(docs[0], "metadata.name", "shop/p", first).Error(); !strings.HasPrefix(got, "clusters/b/p.yaml:1: metadata.name: shop/p is defined twice, first ") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", first, got)
		}
	}
}
