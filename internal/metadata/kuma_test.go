package metadata_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/metadata"
)

// On Kubernetes Kuma keeps some labels as annotations, and its display name is never that of a label.
func TestKumaLabels(t *testing.T) {
	t.Parallel()
	type m = map[string]string
	for name, tt := range map[string]struct{ labels, annotations, want m }{
		"none":          {nil, nil, nil},
		"labels":        {m{"app": "a"}, m{"kuma.io/other": "b"}, m{"app": "a"}},
		"a copy":        {nil, m{"kuma.io/display-name": "p"}, m{"kuma.io/display-name": "p"}},
		"a label alone": {m{"kuma.io/display-name": "p"}, nil, m{"kuma.io/display-name": "p-x7b4"}},
		"both":          {m{"kuma.io/display-name": "q"}, m{"kuma.io/display-name": "p"}, m{"kuma.io/display-name": "p"}},
		"an account":    {m{"k8s.kuma.io/service-account": "b"}, m{"k8s.kuma.io/service-account": "a"}, m{"k8s.kuma.io/service-account": "a"}},
		"a workload":    {nil, m{"kuma.io/workload": "w"}, m{"kuma.io/workload": "w"}},
	} {
		if diff := cmp.Diff(tt.want, metadata.Object{Name: "p-x7b4", Labels: tt.labels, Annotations: tt.annotations}.KumaLabels()); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}
