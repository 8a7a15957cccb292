package policyset_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/policyset"
)

// TestEveryFieldOfLinkerdIsDrawn compares the fields of drawn sets with those of the cases that are
// accepted.
func TestEveryFieldOfLinkerdIsDrawn(t *testing.T) {
	t.Parallel()
	want := fieldsOfCases(t, "LinkerdServer")
	for _, option := range []string{"defaultInboundPolicy", "identityDomain", "controlPlaneNamespace", "loopbackBypass", "clusterNetworks", "annotations"} {
		want = append(want, ".linkerd."+option)
	}
	drawFields(t, policyset.Linkerd, want)
}
