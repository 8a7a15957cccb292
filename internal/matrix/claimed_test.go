package matrix

import (
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
)

// A compiler that does not claim features is asked about as many related sets as another one.
func TestRelatedSetsWithoutFeatures(t *testing.T) {
	t.Parallel()
	stories, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	s := Suite{Cases: stories, Seed: 1, Selection: Selection{
		Profiles: []feature.Profile{feature.IstioAuthz}, Exempt: []feature.Name{"IstioTokens", "IstioCustom", "IstioPeerAuthentication"},
	}}
	covered, err := s.covered()
	if err != nil {
		t.Fatal(err)
	}
	source, made, sets := newSource(s, covered, s.freshForms(covered)), 0, 0
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
