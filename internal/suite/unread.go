package suite

import (
	"errors"
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/kinds"
)

// unread says what a case states that decides nothing: options of a dialect of which there is no policy, and documents
// of other kinds in the files that it names.
func unread(c cases.Case) (out []string) {
	for _, key := range dialects.UnusedOptions(c.Options.Document, slices.Concat(c.Policies, c.Routing)) {
		out = append(out, fmt.Sprintf("the option %s changes nothing: there is no policy of its dialect", key))
	}
	if len(c.LeftOut) > 0 {
		out = append(out, "left out of the named files, not read: "+kinds.Others(c.LeftOut).String())
	}
	return out
}

// noteUnread notes what is not read. A strict run fails with it.
func (r *run) noteUnread() {
	for _, text := range unread(r.result.Case) {
		r.result.Notes = append(r.result.Notes, text)
		if r.runner.Strict {
			r.result.Err = errors.Join(r.result.Err, fmt.Errorf("%s: --strict refuses that: leave it out of the case and of its files", text))
		}
	}
}
