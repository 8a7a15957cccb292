package matrix

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/feature"
)

// A run asks about refused policies alone, about refused ones beside sound ones, and about sound ones with a misspelt value.
func TestRefusedSetsAreOfEachKind(t *testing.T) {
	t.Parallel()
	for _, profile := range []feature.Profile{feature.KumaMTP, feature.KumaMTPLegacy, feature.GEP3779, feature.IstioAuthz, feature.CiliumIngress, feature.LinkerdAuthz} {
		t.Run(string(profile), func(t *testing.T) {
			t.Parallel()
			s := Suite{Seed: 1, Selection: Selection{Profiles: []feature.Profile{profile}}}
			alone, beside, misspelt := 0, 0, 0
			for _, c := range sourceOf(t, s).mustRefuse(FreshSets) {
				switch {
				case c.ExpectError == "":
					t.Errorf("%s: it need not be refused", c.Name)
				case strings.Contains(c.Name, ", beside what is sound"):
					beside++
				case strings.Contains(c.Name, ", misspelt"):
					misspelt++
				default:
					alone++
				}
			}
			// The legacy profile has 22 refused cases.
			if alone < 20 || beside < 20 || misspelt < FreshSets*6 {
				t.Errorf("%d alone, %d beside, %d misspelt", alone, beside, misspelt)
			}
		})
	}
}
