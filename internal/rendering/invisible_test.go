package rendering_test

import (
	"fmt"
	"testing"

	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy/manifest"
)

// A character that nobody sees has a warning where the text is compared, and none in prose.
func TestInvisibleCharacters(t *testing.T) {
	t.Parallel()
	for _, c := range []rune{0x200b, 0x200d, 0x2060, 0xfeff, 0x00ad, 0x00a0, 0x202e, 0x2009, 0x3164, 0xfe0f, 0x2800} {
		for field, want := range map[string]int{
			"spec: {action: DENY, rules: [{to: [{operation: {paths: [\"/a%cb\"]}}]}]}": 1,
			"spec: {selector: {matchLabels: {\"app%c\": a}}, rules: [{}]}":             1,
			"spec: {selector: {matchLabels: {app: \"a%c\"}}, rules: [{}]}":             1,
			"metadata: {annotations: {a: \"a%c\"}}":                                    0,
			"spec: {description: \"a%c\"}":                                             0,
			"specs: [{description: \"a%c\"}]":                                          0,
			"status: {a: \"a%c\"}":                                                     0,
		} {
			docs, err := manifest.Parse("p.yaml", fmt.Appendf(nil, "kind: P\n"+field, c))
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for _, w := range rendering.Unrendered(docs) {
				if w.Kind == warning.InvisibleCharacter {
					got++
				}
			}
			if got != want {
				t.Errorf("%U in %s: %d warnings, want %d", c, field, got, want)
			}
		}
	}
	docs, err := manifest.Parse("p.yaml", []byte("spec: {a: \"Grüße, 世界 é\"}"))
	if err != nil || len(rendering.Unrendered(docs)) > 0 {
		t.Errorf("letters: %v, %v", rendering.Unrendered(docs), err)
	}
}
