package diff

import (
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/verdict"
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
		if letsMoreIn(is.Surface(), of.Inbound, of.Inbound, old.WithOutside(of), recent.WithOutside(of)) {
			out = append(out, "callers get in who did not, or may do so, where another folder has "+of.Text)
		}
	}
	return out
}
