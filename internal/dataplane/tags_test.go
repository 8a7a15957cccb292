package dataplane_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/policy/manifest"
)

// A label of a Dataplane is no tag of its inbounds, and its name is no service of theirs: a policy that selects by the tag passes it over.
func TestLabelsAreNoTags(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tags string
		want map[string]string
	}{
		"tags are stated": {"tags: {kuma.io/service: b, app: c}", map[string]string{"kuma.io/service": "b", "app": "c", "team": ""}},
		"none are stated": {"", map[string]string{"kuma.io/service": "", "team": "", "app": ""}},
	} {
		docs, err := manifest.Parse("d.yaml", []byte("{type: Dataplane, mesh: default, name: b, labels: {team: x, app: b, kuma.io/zone: east}, networking: {address: 10.0.0.2, inbound: [{port: 8080, "+tt.tags+"}]}}"))
		if err != nil {
			t.Fatal(err)
		}
		d, err := dataplane.Parse(docs[0])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tt.want, d.Inbounds[0].Tags); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
