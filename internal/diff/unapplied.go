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
	mostCombined = 6
	mostPaired   = 16
)

// compareUnapplied compares OLD with NEW once more, without policies that may not be applied: what another policy lets in now is
// hidden by none of them. Each combination of a few doubts is compared. Of many, those that only keep callers out never come, those that only
// let some in always come, and the others are combined.
func (d *Difference) compareUnapplied(old, recent Side, to string, doubts []manifestdiff.Doubt) {
	known := d.openings()
	openedWithout := func(missing ...manifestdiff.Doubt) []string {
		return added(known, openingsOf(old, recent.leavingOut(missing...), to))
	}
	all := combinations(doubts)
	if len(doubts) > mostCombined {
		closing, mixed := sortDoubts(recent, to, doubts[:min(len(doubts), mostDoubts)])
		if len(mixed) > mostPaired || len(doubts) > mostDoubts {
			d.Opens = append(d.Opens, fmt.Sprintf("%s may keep policies away, and what is left then is not compared: change fewer policies at once: such as %s", terminal.Count(len(doubts), "reason"), doubts[0]))
			return
		}
		all = nil
		if len(openedWithout(closing...)) > 0 {
			all = append(each(closing), closing)
		}
		for _, some := range combinations(mixed) {
			all = append(all, slices.Concat(closing, some))
		}
	}
	var told [][]manifestdiff.Doubt
	for _, missing := range all {
		if slices.ContainsFunc(told, func(fewer []manifestdiff.Doubt) bool { return includes(missing, fewer) }) {
			continue
		}
		opens := openedWithout(missing...)
		if len(opens) == 0 {
			continue
		}
		told = append(told, missing)
		text := opens[0]
		if more := len(opens) - 1; more > 0 {
			text += fmt.Sprintf(", and %d more", more)
		}
		d.Opens = append(d.Opens, list(missing)+": then access widens, or may widen: "+text)
	}
}

// list names the first of some doubts.
func list(doubts []manifestdiff.Doubt) string {
	const most = 4
	var out []string
	for _, doubt := range doubts[:min(len(doubts), most)] {
		out = append(out, doubt.String())
	}
	if more := len(doubts) - most; more > 0 {
		out = append(out, fmt.Sprintf("%d more such policies", more))
	}
	return strings.Join(out, ", and ")
}

// sortDoubts returns the doubts whose policies only keep callers out, and those that may do either. Each is held
// against all others of NEW, and against those that come for sure: what it lets in, another one may keep out. What does nothing there
// may do either beside some of the others.
func sortDoubts(recent Side, to string, doubts []manifestdiff.Doubt) (closing, mixed []manifestdiff.Doubt) {
	none := recent.leavingOut(doubts...)
	for i, doubt := range doubts {
		closes, opens := false, false
		for _, pair := range [][2]Side{
			{recent, recent.leavingOut(doubt)},
			{recent.leavingOut(slices.Delete(slices.Clone(doubts), i, i+1)...), none},
		} {
			difference, err := compareAlone(pair[0], pair[1], to)
			closes = closes || err != nil || len(difference.openings()) > 0
			opens = opens || err != nil || difference.counts()[Narrowed] > 0
		}
		switch {
		case closes == opens:
			mixed = append(mixed, doubt)
		case closes:
			closing = append(closing, doubt)
		}
	}
	return closing, mixed
}

// leavingOut returns a side as a cluster has it where the policies of the doubts do not come.
func (s Side) leavingOut(doubts ...manifestdiff.Doubt) Side {
	s.Files = s.ReplacingPolicies(func(policies []manifest.Document) []manifest.Document {
		return manifestdiff.LeaveOut(policies, doubts...)
	})
	return s
}

// openingsOf returns what opens from one side to another, by their policies alone.
func openingsOf(old, recent Side, to string) []string {
	d, err := compareAlone(old, recent, to)
	if err != nil {
		return []string{"what is left cannot be compared: " + err.Error()}
	}
	return d.openings()
}

// compareAlone compares the policies of two sides, and nothing beside them. Sides without any do not differ.
func compareAlone(old, recent Side, to string) (*Difference, error) {
	var d Difference
	err := d.comparePolicies(old, recent, to, false)
	if nothing := (*lab.NothingError)(nil); errors.As(err, &nothing) {
		return &Difference{}, nil
	}
	return &d, err
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

// each returns each doubt for itself.
func each(doubts []manifestdiff.Doubt) (out [][]manifestdiff.Doubt) {
	for i := range doubts {
		out = append(out, doubts[i:i+1])
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
	out = each(doubts)
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
