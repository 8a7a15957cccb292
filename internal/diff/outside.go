package diff

import (
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/language"
)

// openedOutside says what other folders may have that the new policies let callers into. No inbound of the two folders
// shows it where other policies of theirs let the same callers in.
func openedOutside(was, is verdict.Inbound) (out []string) {
	old, recent, known := bothAs[capability.Reacher](was.Reading().Set(), is.Reading().Set())
	if !known {
		return nil
	}
	before := old.Reaches()
	for _, of := range recent.Reaches() {
		// What other folders name is compared where it was there.
		if of.Kind != "" && !slices.ContainsFunc(before, func(one capability.OutsideDocument) bool { return one.Text == of.Text }) {
			continue
		}
		if letsMoreIn(is.Surface(), of.Inbound, old.WithOutside(of), recent.WithOutside(of)) {
			out = append(out, "callers get in who did not, or may do so, where another folder has "+of.Text)
		}
	}
	return out
}

// letsMoreIn reports whether the new policies of an inbound let in callers of the own mesh or of others that the old ones
// keep out, or whether that is not known.
func letsMoreIn(on classes.Surface, in policy.Inbound, was, is language.Policies) bool {
	more := func(was, is language.Policies) bool {
		d, sampled := moreLetIn(on, was.Program(in).Program, is.Program(in).Program)
		return d.Effect == policy.Allow || len(sampled) > 0
	}
	if more(was, is) {
		return true
	}
	old, recent, known := bothAs[capability.Neighbour](was, is)
	return known && slices.ContainsFunc(slices.Concat(recent.Foreigners(), old.Foreigners()), func(caller capability.Foreigner) bool {
		return more(old.ForeignTo(caller), recent.ForeignTo(caller))
	})
}
