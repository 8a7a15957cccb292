package mutation

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

// Scores has the results of the mutants of several cases.
type Scores struct {
	// Envoy is the version of Envoy, and Runtime the way it ran.
	Envoy, Runtime string
	Cases          []Score
	// Failed are the cases without a score, because they fail without a mistake.
	Failed []cases.Case
}

// Cases scores several cases, one after the other, and calls done after each. A case that
// fails without a mistake is no error. The error says that the machine failed.
func (t Tester) Cases(ctx context.Context, all []cases.Case, done func(cases.Case)) (Scores, error) {
	s := Scores{Envoy: t.Runner.Harness.Version(), Runtime: t.Runner.Harness.Runtime().String()}
	for _, c := range all {
		score, err := t.Case(ctx, c)
		switch {
		case errors.Is(err, ErrBaseline):
			s.Failed = append(s.Failed, c)
		case err != nil:
			return Scores{}, err
		}
		s.Cases = append(s.Cases, score)
		done(c)
	}
	return s, nil
}

// Counts returns the number of killed mistakes and the number of all mistakes.
func (s Scores) Counts() report.Score {
	var out report.Score
	for _, score := range s.Cases {
		out.Killed += score.Killed()
		out.Of += len(score.Mutants)
	}
	return out
}

// ownCounts is [Scores.Counts] for the requests that people wrote, without those of the
// proofs.
func (s Scores) ownCounts() report.Score {
	var out report.Score
	for _, score := range s.Cases {
		for _, v := range score.Mutants {
			out.Of++
			if v.KilledByOwn {
				out.Killed++
			}
		}
	}
	return out
}

// Baselines returns the results of the cases without a mistake.
func (s Scores) Baselines() []result.Case {
	var out []result.Case
	for _, score := range s.Cases {
		if score.Baseline.Case.Name != "" {
			out = append(out, score.Baseline)
		}
	}
	return out
}

// Holds reports whether there was a mistake to make, none survived, and every case has a score.
func (s Scores) Holds() bool { return len(s.Lacks()) == 0 }

// Lacks says why the scores do not hold: the cases without a score, and the mistakes that survive; or that there is no mistake to make.
func (s Scores) Lacks() []string {
	out := s.failures()
	for _, score := range s.Cases {
		for _, v := range score.Mutants {
			if !v.Killed {
				out = append(out, fmt.Sprintf("%s: %s: %s at %s survives: %s", score.Case.Name, v.Inbound, v.Kind, v.Where, v.Reason))
			}
		}
	}
	if len(out) == 0 && s.Counts().Of == 0 {
		out = append(out, s.Sentence())
	}
	return out
}

// exclusions counts the changes that were no mistakes.
func (s Scores) exclusions() Exclusions {
	var out Exclusions
	for _, score := range s.Cases {
		out.Equivalent += score.Equivalent
		out.Invalid += score.Invalid
	}
	return out
}

// unshowable has the mistakes that no request can show.
func (s Scores) unshowable() (out []string) {
	for _, score := range s.Cases {
		out = append(out, score.Unshowable...)
	}
	return out
}

// failures returns, for each failed case, the reason why it has no score.
func (s Scores) failures() []string {
	var out []string
	for _, c := range s.Failed {
		out = append(out, fmt.Sprintf("%s: %s: %v", c.Place, c.Name, ErrBaseline))
	}
	return out
}

// Sentence returns a sentence with the number of killed mistakes.
func (s Scores) Sentence() string {
	counts, excluded := s.Counts(), s.exclusions()
	if counts.Of == 0 {
		return "there is no mistake to make: no case states a request that is decided by a policy"
	}
	left := fmt.Sprintf("%d equivalent, %d invalid", excluded.Equivalent, excluded.Invalid)
	if n := len(s.unshowable()); n > 0 {
		left += fmt.Sprintf(", %d that no request can show", n)
	}
	return fmt.Sprintf("%d of %d mistakes killed on Envoy %s, %s: score %s", counts.Killed, counts.Of, s.Envoy, left, percent(counts))
}

// ownSentence is the score of the requests that people wrote, and "" where there is no
// mistake to make.
func (s Scores) ownSentence() string {
	counts := s.ownCounts()
	if counts.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d killed by the requests that the cases state: score %s", counts.Killed, counts.Of, percent(counts))
}

// percent is a score as text.
func percent(s report.Score) string {
	text := fmt.Sprintf("%.1f %%", 100*float64(s.Killed)/float64(s.Of))
	// A score is never rounded up to all mistakes.
	if s.Killed < s.Of && text == "100.0 %" {
		return "99.9 %"
	}
	return text
}

// WriteText prints the survivors, a table of the kinds of mistakes, and a sentence.
func (s Scores) WriteText(w io.Writer, p terminal.Paint) {
	killed, survived, own := map[mistake.Kind]int{}, map[mistake.Kind]int{}, map[mistake.Kind]int{}
	for _, score := range s.Cases {
		for _, v := range score.Mutants {
			if v.KilledByOwn {
				own[v.Kind]++
			}
			if v.Killed {
				killed[v.Kind]++
				continue
			}
			survived[v.Kind]++
			fmt.Fprintf(w, "%s %s: %s\n  %s: %s at %s\n  %s\n", p.Mark(false), score.Case.Place, terminal.Printable(score.Case.Name),
				v.Inbound, v.Kind, terminal.Printable(terminal.Abridge(v.Where)), v.Reason)
		}
	}
	for _, score := range s.Cases {
		for _, text := range score.Unshowable {
			fmt.Fprintf(w, "– %s: %s\n  no request can show %s\n", score.Case.Place, terminal.Printable(score.Case.Name), terminal.Printable(text))
		}
	}
	table := terminal.Table{{"mistake", "killed", "survived", "killed by own requests"}}
	for _, k := range mistake.Kinds() {
		if killed[k]+survived[k] > 0 {
			table = append(table, []string{k.String(), fmt.Sprint(killed[k]), fmt.Sprint(survived[k]), fmt.Sprint(own[k])})
		}
	}
	table.Write(w, "")
	for _, line := range s.failures() {
		fmt.Fprintf(w, "%s %s\n", p.Mark(false), terminal.Printable(line))
	}
	fmt.Fprintln(w)
	if own := s.ownSentence(); own != "" {
		mark := " "
		if counts := s.ownCounts(); counts.Killed == counts.Of {
			mark = p.Mark(true)
		}
		fmt.Fprintf(w, "%s %s\n", mark, own)
	}
	fmt.Fprintf(w, "%s %s (%s)\n", p.Mark(s.Holds()), s.Sentence(), s.Runtime)
}

// The JSON form of scores.
type scoresJSON struct {
	Envoy   string `json:"envoy"`
	Runtime string `json:"runtime"`
	Killed  int    `json:"killed"`
	Of      int    `json:"of"`
	// Own is the score of the requests that the cases state.
	Own        report.Score `json:"own"`
	Equivalent int          `json:"equivalent"`
	Invalid    int          `json:"invalid"`
	Unshowable []string     `json:"unshowable,omitempty"`
	Failed     []string     `json:"failed,omitempty"`
	Mutants    []mutantJSON `json:"mutants"`
}

type mutantJSON struct {
	Case        string `json:"case"`
	Inbound     string `json:"inbound"`
	Mistake     string `json:"mistake"`
	Where       string `json:"where"`
	Killed      bool   `json:"killed"`
	KilledByOwn bool   `json:"killedByOwn"`
	Reason      string `json:"reason"`
}

// MarshalJSON implements [json.Marshaler].
func (s Scores) MarshalJSON() ([]byte, error) {
	counts, excluded := s.Counts(), s.exclusions()
	out := scoresJSON{
		Envoy: s.Envoy, Runtime: s.Runtime, Killed: counts.Killed, Of: counts.Of, Own: s.ownCounts(),
		Equivalent: excluded.Equivalent, Invalid: excluded.Invalid, Unshowable: s.unshowable(), Failed: s.failures(), Mutants: []mutantJSON{},
	}
	for _, score := range s.Cases {
		for _, v := range score.Mutants {
			out.Mutants = append(out.Mutants, mutantJSON{score.Case.Name, v.Inbound, v.Kind.String(), v.Where, v.Killed, v.KilledByOwn, v.Reason})
		}
	}
	return terminal.MarshalJSON(out)
}
