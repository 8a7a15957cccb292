package policyset_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset"
)

// TestFreshSets shows that other names leave the sets of a dialect valid, as drawn and as made of
// cases, and that both opinions agree on them.
func TestFreshSets(t *testing.T) {
	t.Parallel()
	for name, dialect := range map[string]struct {
		form policyset.Form
		core feature.Name
	}{
		"Cilium":  {policyset.Cilium, "CiliumSelection"},
		"Linkerd": {policyset.Linkerd, "LinkerdServer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			for number := range uint64(setsOf(120, 15)) {
				asked += agree(t, policyset.DrawFresh(6, number, dialect.form))
			}
			if asked == 0 {
				t.Error("no request was asked")
			}
			made, tried, all := 0, 0, 0
			for i, c := range casetest.Stories(t) {
				if needs := policyset.Needs(c); len(needs) == 0 || needs[0] != dialect.core {
					continue
				}
				all++
				if testing.Short() && all%5 != 0 {
					continue
				}
				tried++
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
			if made < tried*9/10 || all < 150 {
				t.Errorf("of %d cases %d are made", tried, made)
			}
		})
	}
}
