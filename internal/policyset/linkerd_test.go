package policyset_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/policyset"
)

// TestEveryFieldOfLinkerdIsDrawn compares the fields of drawn sets with those of the cases that are
// accepted.
func TestEveryFieldOfLinkerdIsDrawn(t *testing.T) {
	t.Parallel()
	drawn := map[string]bool{}
	for number := range uint64(1500) {
		c := policyset.Draw(5, number, policyset.Linkerd)
		for _, doc := range append(c.Policies, c.Options.Document) {
			var v any
			if err := doc.Decode(&v); err != nil {
				t.Fatal(err)
			}
			fieldsOf("", v, drawn)
		}
	}
	fieldsOfCases(t, "LinkerdServer", drawn)
	for _, option := range []string{"defaultInboundPolicy", "identityDomain", "controlPlaneNamespace", "loopbackBypass", "clusterNetworks", "annotations"} {
		if !drawn[".linkerd."+option] {
			t.Errorf("no set has the option %s", option)
		}
	}
}
