package matrix

import (
	"testing"

	"github.com/meshproof/meshproof/internal/feature"
)

// A run asks about the policies of each case with other names, so that no form that a case writes comes up by chance
// alone.
func TestRunRenamesEachCase(t *testing.T) {
	t.Parallel()
	profiles := []feature.Profile{feature.GEP3779, feature.KumaMTP, feature.KumaMTPLegacy, feature.IstioAuthz, feature.LinkerdAuthz, feature.CiliumIngress}
	if testing.Short() {
		profiles = profiles[:1]
	}
	for _, profile := range profiles {
		t.Run(string(profile), func(t *testing.T) {
			t.Parallel()
			source := sourceOf(t, Suite{Selection: Selection{Profiles: []feature.Profile{profile}}, Seed: 11})
			for i, c := range source.originals {
				set, _, ok := source.paper(firstRenamed + uint64(i))
				switch {
				case !ok:
					t.Errorf("%s: no set is made of it", c.Name)
				case len(set.Policies) < len(c.Policies) || len(set.Inbounds) < len(c.Inbounds):
					t.Errorf("%s: %d policies and %d inbounds, want at least %d and %d", c.Name, len(set.Policies), len(set.Inbounds), len(c.Policies), len(c.Inbounds))
				case len(c.Inbounds) > 0 && questionsOf(t, set)[0].text == questionsOf(t, c)[0].text:
					t.Errorf("%s: the compiler is asked for the same text", c.Name)
				}
			}
		})
	}
}
