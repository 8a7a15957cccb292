package tree

import (
	"fmt"
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

// Each new caller has a number behind the name of another one, which may have some already: no name gets too long by that.
func TestCallersKeepALength(t *testing.T) {
	t.Parallel()
	c := choice.Random(1, 1)
	for _, item := range []any{
		map[string]any{"type": "SPIFFE", "spiffe": SPIFFEScheme + "a.example/ns/shop/sa/cart"},
		map[string]any{"type": "ServiceAccount", "serviceAccount": map[string]any{"name": "cart"}},
		"cluster.local/ns/shop/sa/cart",
	} {
		for range 60 {
			item = Another(c, "sources", item)
		}
		text := fmt.Sprint(item)
		if of, ok := item.(map[string]any); ok {
			text = fmt.Sprint(of["spiffe"], Metadata(map[string]any{"metadata": of["serviceAccount"]})["name"])
		}
		if len(text) < 200 || len(text) > MostName+len("<nil>") {
			t.Errorf("%d characters: %s", len(text), text)
		}
	}
}
