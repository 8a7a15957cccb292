package diff

import (
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy/language"
)

// openedOutside says what other folders may have that the new policies let callers into. No inbound of the two folders
// shows it where other policies of theirs let the same callers in. Settled are the texts of the rest of it: nobody more gets in
// there.
func openedOutside(was, is verdict.Inbound) (opens, settled []string) {
	old, recent, known := bothAs[capability.Reacher](was.Reading().Set(), is.Reading().Set())
	if !known {
		return nil, nil
	}
	before, after := byText(old.Reaches()), byText(recent.Reaches())
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, text := range slices.Sorted(maps.Keys(all)) {
		of := all[text]
		former, had := before[text]
		latter, has := after[text]
		if of.Named && (!had || !has) || has && latter.Present && (!had || former.Present) {
			// What other folders name is compared where it stays, and what is of these two folders is compared anyway.
			continue
		}
		if has && latter.Present {
			opens = append(opens, "another folder had "+text+", and this one has it now: what it lets in is not compared with what it let in there")
			continue
		}
		was, with := old.WithOutside(of), recent.WithOutside(of)
		if letsMoreIn(is.Surface(), of.Inbound, of.Inbound, was, with) || !refersAlike(was, with, of) {
			opens = append(opens, "callers get in who did not, or may do so, where another folder has "+text)
		} else {
			settled = append(settled, text)
		}
	}
	return opens, settled
}

// byText has each document once: many policies may be about one.
func byText(documents []capability.OutsideDocument) map[string]capability.OutsideDocument {
	out := map[string]capability.OutsideDocument{}
	for _, of := range documents {
		out[of.Text] = of
	}
	return out
}

// refersAlike reports whether the same policies refer to what neither set has.
func refersAlike(was, is language.Policies, of capability.OutsideDocument) bool {
	old, recent, known := bothAs[capability.Referrer](was, is)
	return !known || slices.Equal(old.References(of.Inbound).Policies, recent.References(of.Inbound).Policies)
}

// compareOutside compares what other folders may have. A policy about nothing else is compared with it.
func (d *Difference) compareOutside(was, is verdict.Inbound, all bool) {
	opens, settled := openedOutside(was, is)
	d.Opens = append(d.Opens, opens...)
	if all {
		opens, _ = openedOutside(is, was)
		d.Opens = append(d.Opens, opens...)
		return
	}
	d.Unasked = slices.DeleteFunc(d.Unasked, func(u lab.Unasked) bool { return u.OutsideText != "" && slices.Contains(settled, u.OutsideText) })
}
