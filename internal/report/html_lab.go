package report

import (
	"slices"

	"github.com/meshproof/meshproof/cases/feature"
)

// pageLab is a story of results that no case file states: a command made them up. It
// belongs to no profile of the registry, whatever features the policies under it need.
type pageLab struct {
	// story is the name that the command gives it, profile its part of the matrix.
	story   string
	profile feature.Profile
	about   string
}

var pageLabs = []pageLab{
	{"proof", "Proofs", "A request of each class that the policies tell apart, and those on its border."},
	{"diff", "Changes", "A request of each class that is decided otherwise than before, under the old policies and the new."},
	{"verify", "Sidecars", "The configuration of a live sidecar, held against the policies."},
}

// pageLabOf finds the lab of a story.
func pageLabOf(story string) (pageLab, bool) {
	i := slices.IndexFunc(pageLabs, func(l pageLab) bool { return l.story == story })
	if i < 0 {
		return pageLab{}, false
	}
	return pageLabs[i], true
}

// pageProfiles are the parts of the matrix, in order.
func pageProfiles() []feature.Profile {
	all := append(feature.Profiles(), "")
	for _, l := range pageLabs {
		all = append(all, l.profile)
	}
	return all
}

// head names the page and its matrix: a conformance report has user stories, the results
// of one command are called after it.
func (v *pageView) head() {
	v.Title, v.Heading = "conformance", "User stories"
	if len(v.Profiles) != 1 || len(v.Profiles[0].Stories) != 1 {
		return
	}
	if lab, ok := pageLabOf(v.Profiles[0].Stories[0].Name); ok {
		v.Title, v.Heading = lab.story, "Results"
	}
}
