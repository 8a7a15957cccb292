package suite

import (
	"errors"
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/kinds"
	"github.com/meshproof/meshproof/internal/terminal"
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

// missed says which files with policies a pattern of the case misses; "" for none.
func missed(c cases.Case) string {
	switch more := len(c.Missed) - 1; {
	case more < 0:
		return ""
	case more == 0:
		return c.Missed[0] + " may have policies, and no pattern under policies takes it: name the folder"
	default:
		return fmt.Sprintf("%s and %s may have policies, and no pattern under policies takes them: name the folder", c.Missed[0], terminal.Count(more, "more file"))
	}
}

// draftNote says what of the policies that the case takes from files no release of their mesh has, or older ones take otherwise: the first such
// part, which is the gravest, and how many more there are. It is "" for policies that the case states itself: they may be those of a design.
func draftNote(c cases.Case) string {
	drafts := dialects.Drafts(slices.Concat(c.Policies, c.Routing))
	switch more := len(drafts) - 1; {
	case !c.Deployed || more < 0:
		return ""
	case more == 0:
		return drafts[0]
	default:
		return fmt.Sprintf("%s; and %s of that kind: ask meshproof lint about the files", drafts[0], terminal.Count(more, "more note"))
	}
}

// noteUnread notes what is not read, by the lab or by a released mesh, and what is deployed otherwise. A strict run fails where the lab does not read it.
func (r *run) noteUnread() {
	if text := draftNote(r.result.Case); text != "" {
		r.result.Notes = append(r.result.Notes, text)
	}
	r.result.Notes = append(r.result.Notes, otherwiseDeployed(r.result.Case)...)
	if text := missed(r.result.Case); text != "" {
		r.result.Notes = append(r.result.Notes, text)
		if r.runner.Strict {
			r.result.Err = errors.Join(r.result.Err, fmt.Errorf("%s: --strict refuses that", text))
		}
	}
	for _, text := range unread(r.result.Case) {
		r.result.Notes = append(r.result.Notes, text)
		if r.runner.Strict {
			r.result.Err = errors.Join(r.result.Err, fmt.Errorf("%s: --strict refuses that: leave it out of the case and of its files", text))
		}
	}
}
