package tree

import (
	"testing"

	"github.com/meshproof/meshproof/internal/policyset/choice"
)

// A compiler that knows objects by their uid is sound: a copy has none, and the policy keeps its own.
func TestCopiesShareNoUID(t *testing.T) {
	t.Parallel()
	policy := map[string]any{"metadata": map[string]any{"name": "p", "namespace": "shop", "uid": "3f0c", "labels": map[string]any{"a": "b"}}}
	other := Metadata(AnotherPolicy(choice.Random(1, 1), policy))
	if own := Metadata(policy); own["uid"] != "3f0c" || other["uid"] != nil || other["name"] == own["name"] && other["namespace"] == own["namespace"] {
		t.Errorf("%v is a copy of %v", other, own)
	}
}
