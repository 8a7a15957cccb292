package policyset_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/policyset"
)

// TestFreshSetsOfLinkerd shows that other names leave the sets of Linkerd valid, as drawn and as made
// of cases, and that both opinions agree on them.
func TestFreshSetsOfLinkerd(t *testing.T) {
	t.Parallel()
	asked := 0
	for number := range uint64(setsOf(120, 30)) {
		asked += agree(t, policyset.DrawFresh(6, number, policyset.Linkerd))
	}
	if asked == 0 {
		t.Error("no request was asked")
	}
	made, all := 0, 0
	for i, c := range casetest.Stories(t) {
		if needs := policyset.Needs(c); len(needs) == 0 || needs[0] != "LinkerdServer" {
			continue
		}
		all++
		out, ok := policyset.FromCase(c, 8, uint64(i))
		if !ok {
			t.Logf("no other case is made of %q", c.Name)
			continue
		}
		made++
		if c.ExpectError == "" {
			agree(t, out)
		}
	}
	if made < all*9/10 || all < 150 {
		t.Errorf("of %d cases %d are made", all, made)
	}
}

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
