package diff

import (
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
	before, after := old.Reaches(), recent.Reaches()
	find := func(all []capability.OutsideDocument, of capability.OutsideDocument) (found capability.OutsideDocument, ok bool) {
		i := slices.IndexFunc(all, func(one capability.OutsideDocument) bool { return one.Text == of.Text })
		if i < 0 {
			return found, false
		}
		return all[i], true
	}
	for _, of := range slices.Concat(after, before) {
		former, had := find(before, of)
		latter, has := find(after, of)
		switch {
		case of.Named && (!had || !has):
			// What other folders name is compared where it stays.
		case has && latter.Present && (!had || former.Present):
			// It is of these two folders.
		case has && latter.Present:
			opens = append(opens, "another folder had "+of.Text+", and this one has it now: what it lets in is not compared with what it let in there")
		case letsMoreIn(is.Surface(), of.Inbound, of.Inbound, old.WithOutside(of), recent.WithOutside(of)) || !refersAlike(old.WithOutside(of), recent.WithOutside(of), of):
			opens = append(opens, "callers get in who did not, or may do so, where another folder has "+of.Text)
		default:
			settled = append(settled, of.Text)
		}
	}
	return opens, settled
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
