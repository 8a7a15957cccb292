package diff

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/manifestdiff"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy/manifest"
)

// The most doubts that are looked at, the most of which each combination is, and the most of which each two are.
const (
	mostDoubts   = 64
	mostCombined = 4
	mostPaired   = 16
)

// compareUnapplied compares OLD with NEW once more, without policies that may not be applied: what another policy lets in now is
// hidden by none of them. Each combination of a few doubts is compared. Of many, those that close nothing are left out, and each two
// and all of the others are compared.
func (d *Difference) compareUnapplied(old, recent Side, to string, doubts []manifestdiff.Doubt) {
	if len(doubts) > mostCombined && len(doubts) <= mostDoubts {
		doubts = closing(recent, to, doubts)
	}
	if len(doubts) > mostPaired {
		d.Opens = append(d.Opens, fmt.Sprintf("%s may keep policies away, and what is left then is not compared: change fewer policies at once: such as %s", terminal.Count(len(doubts), "reason"), doubts[0]))
		return
	}
	known := d.openings()
	var told [][]manifestdiff.Doubt
	for _, missing := range combinations(doubts) {
		if slices.ContainsFunc(told, func(fewer []manifestdiff.Doubt) bool { return includes(missing, fewer) }) {
			continue
		}
		opens := added(known, openedBy(old, recent.leavingOut(missing...), to))
		if len(opens) == 0 {
			continue
		}
		told = append(told, missing)
		reasons := make([]string, len(missing))
		for i, doubt := range missing {
			reasons[i] = doubt.String()
		}
		text := opens[0]
		if more := len(opens) - 1; more > 0 {
			text += fmt.Sprintf(", and %d more", more)
		}
		d.Opens = append(d.Opens, strings.Join(reasons, ", and ")+": then access widens, or may widen: "+text)
	}
}

// closing returns the doubts whose policies keep somebody out, beside all others of NEW, or beside those that come for sure: another
// one may keep the same callers out.
func closing(recent Side, to string, doubts []manifestdiff.Doubt) (out []manifestdiff.Doubt) {
	none := recent.leavingOut(doubts...)
	for i, doubt := range doubts {
		alone := recent.leavingOut(slices.Delete(slices.Clone(doubts), i, i+1)...)
		if len(openedBy(recent, recent.leavingOut(doubt), to)) > 0 || len(openedBy(alone, none, to)) > 0 {
			out = append(out, doubt)
		}
	}
	return out
}

// leavingOut returns a side as a cluster has it where the policies of the doubts do not come.
func (s Side) leavingOut(doubts ...manifestdiff.Doubt) Side {
	s.Files = s.ReplacingPolicies(func(policies []manifest.Document) []manifest.Document {
		return manifestdiff.LeaveOut(policies, doubts...)
	})
	return s
}

// openedBy returns what opens from one side to another, by their policies alone.
func openedBy(old, recent Side, to string) []string {
	var d Difference
	if err := d.comparePolicies(old, recent, to, false); err != nil {
		if nothing := (*lab.NothingError)(nil); errors.As(err, &nothing) {
			return nil
		}
		return []string{"what is left cannot be compared: " + err.Error()}
	}
	return d.openings()
}

// openings returns a text for each thing that lets callers in now, or may.
func (d *Difference) openings() []string {
	out := slices.Concat(d.Opens, d.sampled(), d.notAsked(), d.OnlyNew)
	for _, c := range d.Cases {
		for _, found := range c.Comparisons {
			out = append(out, found.Unsendable...)
			for _, change := range found.Changes {
				if change.Kind() == Widened {
					out = append(out, found.Inbound.String()+": "+change.Text)
				}
			}
		}
		for _, in := range c.Inbounds {
			if in.Widens != "" {
				out = append(out, in.Widens+" at "+in.Text)
			}
		}
	}
	return out
}

// combinations returns each combination of a few doubts, the smaller ones first. Of many it returns each one, each two, and all of
// them.
func combinations(doubts []manifestdiff.Doubt) (out [][]manifestdiff.Doubt) {
	if len(doubts) <= mostCombined {
		for chosen := 1; chosen < 1<<len(doubts); chosen++ {
			var some []manifestdiff.Doubt
			for i, doubt := range doubts {
				if chosen>>i&1 == 1 {
					some = append(some, doubt)
				}
			}
			out = append(out, some)
		}
		slices.SortStableFunc(out, func(a, b []manifestdiff.Doubt) int { return len(a) - len(b) })
		return out
	}
	for i := range doubts {
		out = append(out, doubts[i:i+1])
	}
	for i := range doubts {
		for k := range i {
			out = append(out, []manifestdiff.Doubt{doubts[k], doubts[i]})
		}
	}
	return append(out, doubts)
}

// includes reports whether the first combination has all doubts of the second one.
func includes(all, some []manifestdiff.Doubt) bool {
	return !slices.ContainsFunc(some, func(of manifestdiff.Doubt) bool {
		return !slices.ContainsFunc(all, func(one manifestdiff.Doubt) bool { return one.String() == of.String() })
	})
}
