package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
)

// inboundChange is how an inbound is not what it was, whatever the policies say.
type inboundChange struct {
	text   string
	widens bool
}

// inboundChanges holds the inbounds of NEW against those of OLD.
func inboundChanges(olds, recents []cases.Inbound) []inboundChange {
	var out []inboundChange
	for _, in := range recents {
		i := indexOf(olds, in)
		if i < 0 {
			out = append(out, inboundChange{text: in.String() + ": only in NEW"})
			continue
		}
		was := olds[i]
		if was.Permissive != in.Permissive {
			out = append(out, inboundChange{fmt.Sprintf("%s: mtls %s → %s", in, mtls(was), mtls(in)), in.Permissive})
		}
		if was.Protocol != in.Protocol {
			out = append(out, inboundChange{text: fmt.Sprintf("%s: protocol %s → %s", in, was.Protocol, in.Protocol)})
		}
		if was.Port != in.Port {
			out = append(out, inboundChange{text: fmt.Sprintf("%s: port %d → %d", in, was.Port, in.Port)})
		}
	}
	for _, was := range olds {
		if indexOf(recents, was) < 0 {
			out = append(out, inboundChange{text: was.String() + ": only in OLD"})
		}
	}
	slices.SortStableFunc(out, func(a, b inboundChange) int { return cmp.Compare(a.text, b.text) })
	return out
}

func indexOf(all []cases.Inbound, in cases.Inbound) int {
	return slices.IndexFunc(all, func(other cases.Inbound) bool { return other.String() == in.String() })
}

func mtls(in cases.Inbound) string {
	if in.Permissive {
		return "permissive"
	}
	return "strict"
}
