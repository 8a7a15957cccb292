package rendering_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Kustomize takes its own file by the name, where that states no other kind.
func TestKustomizations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file, text string
		want       bool
	}{
		{"kustomization.yaml", "resources: [a.yaml]", true},
		{"Kustomization", "kind: Kustomization", true},
		{"kustomization.yml", "kind: Component", true},
		{"kustomization.yaml", "kind: Other", false},
		{"kustomization.yaml", "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization}", false},
		{"other.yaml", "kind: Kustomization", false},
		{"other.yaml", "{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization}", true},
		{"kustomization.yaml", "type: Mesh", false},
	} {
		docs, err := manifest.Parse(tt.file, []byte(tt.text))
		if err != nil || len(docs) != 1 {
			t.Fatalf("%s: %d documents, %v", tt.text, len(docs), err)
		}
		if got := rendering.IsKustomization(docs[0]); got != tt.want {
			t.Errorf("%s: %s: %t, want %t", tt.file, tt.text, got, tt.want)
		}
	}
}
