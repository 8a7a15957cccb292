package matrix

import (
	"testing"

	"github.com/meshproof/meshproof/internal/feature"
)

// A compiler that does not claim features is asked about as many related sets as another one.
func TestRelatedSetsWithoutFeatures(t *testing.T) {
	t.Parallel()
	s := Suite{Seed: 1, Selection: Selection{
		Profiles: []feature.Profile{feature.IstioAuthz}, Exempt: []feature.Name{"IstioTokens", "IstioCustom", "IstioPeerAuthentication"},
	}}
	source, made, sets := sourceOf(t, s), 0, 0
	for number := uint64(1); number < relatedSets; number += 8 {
		sets++
		if _, ok := source.related(firstRelated + number); ok {
			made++
		}
	}
	if made < sets*4/5 {
		t.Errorf("%d of %d sets are made", made, sets)
	}
}
