package update

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// exchangeUpdate is the kind of update in which two parts change places.
const exchangeUpdate = 14

// A compiler that keeps its answers by the words of a question, in any order, gives the old answer after an exchange.
func TestExchangeKeepsAllWords(t *testing.T) {
	t.Parallel()
	words := func(c cases.Case) []string {
		policies, _, err := tree.Values(c)
		if err != nil {
			t.Fatal(err)
		}
		said := []any{c.Inbounds[0].Workload.Labels}
		for _, p := range policies {
			said = append(said, tree.Specs(p))
		}
		text, err := json.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		all := regexp.MustCompile(`\w+`).FindAllString(string(text), -1)
		slices.Sort(all)
		return all
	}
	made := 0
	for number := uint64(exchangeUpdate); number < 40*uint64(len(updates)); number += uint64(len(updates)) {
		before := policyset.Draw(7, number, policyset.Forms(feature.GEP3779)...)
		after, ok := Draw(before, 7, number)
		if !ok {
			continue
		}
		made++
		if was, is := words(before), words(after); !reflect.DeepEqual(was, is) {
			t.Errorf("set %d: the words are %q, and were %q", number, is, was)
		}
	}
	if made < 10 {
		t.Errorf("%d exchanges were made, want 10 or more", made)
	}
}
