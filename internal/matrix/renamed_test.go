package matrix

import (
	"slices"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
)

// A run asks about the policies of each case with other names, so that no form that a case writes comes up by chance
// alone.
func TestRunRenamesEachCase(t *testing.T) {
	t.Parallel()
	stories, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	profiles := []feature.Profile{feature.GEP3779, feature.KumaMTP, feature.KumaMTPLegacy, feature.IstioAuthz, feature.LinkerdAuthz, feature.CiliumIngress}
	if testing.Short() {
		profiles = profiles[:1]
	}
	for _, profile := range profiles {
		t.Run(string(profile), func(t *testing.T) {
			t.Parallel()
			s := Suite{Selection: Selection{Profiles: []feature.Profile{profile}}, Cases: stories, Seed: 11}
			covered, err := s.covered()
			if err != nil {
				t.Fatal(err)
			}
			source := newSource(s, covered, s.freshForms(covered))
			for i, c := range slices.Concat(source.accepted, source.crowded) {
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
