package matrix

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset/renaming"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// enumerated are the fields of policies whose values an API enumerates, beside those of [renaming.HoldsNoName]. Every program knows all
// of these values.
var enumerated = map[string]bool{
	"methods": true, "notMethods": true, "method": true,
}

// placed are the values that stand in one place of policies, and the number of sets with any.
type placed struct {
	values map[string]bool
	sets   int
}

// Each field of policies that takes any text has values in a run that another run does not have, so that no compiler is right for the values
// of the lab alone. With -short there is one profile.
func TestEachRunHasValuesOfItsOwn(t *testing.T) {
	t.Parallel()
	stories, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	profiles := []feature.Profile{feature.LinkerdAuthz, feature.GEP3779, feature.KumaMTP, feature.KumaMTPLegacy, feature.IstioAuthz, feature.CiliumIngress}
	if testing.Short() {
		profiles = profiles[:1]
	}
	// In fewer sets than these the values may be the usual ones by chance.
	const least = 10
	for _, profile := range profiles {
		t.Run(string(profile), func(t *testing.T) {
			t.Parallel()
			s := Suite{Selection: Selection{Profiles: []feature.Profile{profile}}, Cases: stories}
			covered, err := s.covered()
			if err != nil {
				t.Fatal(err)
			}
			known := valuesOfRun(t, s, covered)
			s.Seed++
			for place, of := range valuesOfRun(t, s, covered) {
				key := place[strings.LastIndexByte(place, '.')+1:]
				call := strings.HasSuffix(place, ".method.service") || strings.HasSuffix(place, ".method.method")
				delete(of.values, "")
				// Authorizers keep their names in these sets; related sets have others.
				if place == ".provider.name" || of.sets < least || len(of.values) == 0 || !call && (enumerated[key] || renaming.HoldsNoName(key)) {
					continue
				}
				if !slices.ContainsFunc(slices.Collect(maps.Keys(of.values)), func(v string) bool { return known[place] == nil || !known[place].values[v] }) {
					t.Errorf("%s: another run has each value of %d sets: %v", place, of.sets, slices.Sorted(maps.Keys(of.values)))
				}
			}
		})
	}
}

// valuesOfRun returns the texts of the policies of a run by the place where they stand.
func valuesOfRun(t *testing.T, s Suite, covered []cases.Case) map[string]*placed {
	t.Helper()
	out := map[string]*placed{}
	source := newSource(s, covered, s.freshForms(covered))
	for number := range uint64(FreshSets + paperSets) {
		c, ok := source.draw(number)
		if number >= FreshSets {
			c, _, ok = source.paper(firstPaper + number - FreshSets)
		}
		if !ok {
			continue
		}
		had := map[string]bool{}
		for _, p := range c.Policies {
			var v map[string]any
			if err := p.Decode(&v); err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"spec", "specs"} {
				place(out, had, "", v[key])
			}
		}
	}
	return out
}

// place notes each text of a value by its place. The keys of labels are no places. The places of a set are counted once.
func place(out map[string]*placed, had map[string]bool, at string, v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			place(out, had, at, item)
		}
	case map[string]any:
		for key := range v {
			inner := at + "." + key
			if tree.HoldsLabels(at[strings.LastIndexByte(at, '.')+1:]) {
				inner = at + ".*"
			}
			place(out, had, inner, v[key])
		}
	case string:
		if out[at] == nil {
			out[at] = &placed{values: map[string]bool{}}
		}
		if !had[at] {
			out[at].sets++
			had[at] = true
		}
		out[at].values[v] = true
	}
}
