package page

import (
	"slices"

	"github.com/meshproof/meshproof/cases/feature"
)

// lab is a story of results that no case file states: a command made them up. It
// belongs to no profile of the registry, whatever features the policies under it need.
type lab struct {
	// story is the name that the command gives it, profile its part of the matrix.
	story   string
	profile feature.Profile
	about   string
}

var labs = []lab{
	{"proof", "Proofs", "A request of each class that the policies tell apart, and those on its border."},
	{"diff", "Changes", "A request of each class that is decided otherwise than before, under the old policies and the new."},
	{"verify", "Sidecars", "The configuration of a live sidecar, held against the policies."},
}

// findLab finds the lab of a story.
func findLab(story string) (lab, bool) {
	i := slices.IndexFunc(labs, func(l lab) bool { return l.story == story })
	if i < 0 {
		return lab{}, false
	}
	return labs[i], true
}

// profileOrder are the parts of the matrix, in order.
func profileOrder() []feature.Profile {
	all := append(feature.Profiles(), "")
	for _, l := range labs {
		all = append(all, l.profile)
	}
	return all
}

// head names the page and its matrix: a conformance report has user stories, the results
// of one command are called after it.
func (v *view) head() {
	v.Title, v.Heading = "conformance", "User stories"
	if len(v.Profiles) != 1 || len(v.Profiles[0].Stories) != 1 {
		return
	}
	if lab, ok := findLab(v.Profiles[0].Stories[0].Name); ok {
		v.Title, v.Heading = lab.story, "Results"
	}
}
