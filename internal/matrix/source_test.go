package matrix

import (
	"testing"

	"github.com/meshproof/meshproof/internal/casetest"
)

// sourceOf returns what a run of the suite draws its policies from, where it is about the built-in cases.
func sourceOf(t *testing.T, s Suite) *source {
	t.Helper()
	s.Cases = casetest.Stories(t)
	covered, err := s.covered()
	if err != nil {
		t.Fatal(err)
	}
	return newSource(s, covered, s.freshForms(covered))
}
