package routeverdict_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/casetest"
)

// The table of docs/routes.md names, for each fact, a case with a request that shows it and a neighbour
// that ends otherwise.
func TestFacts(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/routes.md")
	if err != nil {
		t.Fatal(err)
	}
	all := casetest.Stories(t)
	facts := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		number := strings.TrimPrefix(cells[0], "| ")
		if len(cells) != 5 || strings.Trim(number, "0123456789") != "" {
			continue
		}
		facts[number] = true
		i := slices.IndexFunc(all, func(c cases.Case) bool { return c.Name == cells[2] })
		if i < 0 {
			t.Errorf("fact %s: there is no case %q", number, cells[2])
			continue
		}
		shows, neighbour := strings.Fields(cells[3]), strings.Fields(strings.TrimSuffix(cells[4], " |"))
		if slices.Equal(shows, neighbour) {
			t.Errorf("fact %s: its neighbour ends alike", number)
		}
		for _, words := range [][]string{shows, neighbour} {
			if !slices.ContainsFunc(all[i].RoutedRequests, func(r casefile.RoutedRequest) bool { return states(r, words) }) {
				t.Errorf("fact %s: no request of %q states %q", number, cells[2], words)
			}
		}
	}
	if len(facts) != 20 {
		t.Errorf("the table has %d facts of 20", len(facts))
	}
}

// states reports whether a request states each of the words.
func states(r casefile.RoutedRequest, words []string) bool {
	stated := slices.Clone(append(r.Backends, string(r.Want)))
	if r.Cause != nil {
		stated = append(stated, r.Cause.String())
	}
	if r.Route != nil {
		stated = append(stated, *r.Route)
	}
	return !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(stated, word) })
}
