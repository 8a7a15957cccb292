package mutation

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
)

// A score is never rounded up to all mistakes, and a case without a score is no success.
func TestScores(t *testing.T) {
	t.Parallel()
	mutants := make([]Verdict, 3000)
	for i := range mutants {
		mutants[i].Killed = i > 0
	}
	for name, tt := range map[string]struct {
		scores   Scores
		sentence string
		holds    bool
	}{
		"nothing":      {Scores{}, "there is no mistake to make", false},
		"all":          {Scores{Cases: []Score{{Mutants: mutants[1:]}}}, "2999 of 2999 mistakes killed on Envoy , 0 equivalent, 0 invalid: score 100.0 %", true},
		"one survived": {Scores{Cases: []Score{{Mutants: mutants, Exclusions: Exclusions{Equivalent: 2}}}}, "2999 of 3000 mistakes killed on Envoy , 2 equivalent, 0 invalid: score 99.9 %", false},
		"no score":     {Scores{Cases: []Score{{Mutants: mutants[1:2]}}, Failed: []cases.Case{{Name: "c", Place: "a.yaml:1"}}}, "1 of 1", false},
	} {
		if got := tt.scores.Sentence(); !strings.HasPrefix(got, tt.sentence) || tt.scores.Holds() != tt.holds {
			t.Errorf("%s: %q, holds: %t", name, got, tt.scores.Holds())
		}
		if text, err := json.Marshal(tt.scores); err != nil || !strings.Contains(string(text), `"mutants":[`) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
}
