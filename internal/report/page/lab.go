package page

import (
	"slices"

	"github.com/meshproof/meshproof/cases/feature"
)

// lab is a story of cases that a command made, and no case file. It belongs to no profile of
// the registry, whatever features the policies need.
type lab struct {
	// story is the name that the command gives, and profile the part of the matrix.
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

// head sets the titles of the page and of its matrix: the results of one command have the
// name of the command, everything else is a conformance report.
func (v *view) head() {
	v.Title, v.Heading = "conformance", "User stories"
	if len(v.Profiles) != 1 || len(v.Profiles[0].Stories) != 1 {
		return
	}
	if lab, ok := findLab(v.Profiles[0].Stories[0].Name); ok {
		v.Title, v.Heading = lab.story, "Results"
	}
}
