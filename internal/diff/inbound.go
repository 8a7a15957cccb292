package diff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
)

// InboundChange is how an inbound is not what it was, whatever the policies say.
type InboundChange struct {
	Text string
	// Widens is true where plaintext is let in now.
	Widens bool
}

// inboundChanges compares the inbounds of NEW with those of OLD.
func inboundChanges(olds, recents []cases.Inbound) []InboundChange {
	var out []InboundChange
	for _, in := range recents {
		i := indexOf(olds, in)
		if i < 0 {
			out = append(out, InboundChange{Text: in.String() + ": only in NEW"})
			continue
		}
		was := olds[i]
		if was.Permissive != in.Permissive {
			out = append(out, InboundChange{fmt.Sprintf("%s: mtls %s → %s", in, mtls(was), mtls(in)), in.Permissive})
		}
		if was.Protocol != in.Protocol {
			out = append(out, InboundChange{Text: fmt.Sprintf("%s: protocol %s → %s", in, was.Protocol, in.Protocol)})
		}
		if was.Port != in.Port {
			out = append(out, InboundChange{Text: fmt.Sprintf("%s: port %d → %d", in, was.Port, in.Port)})
		}
	}
	for _, was := range olds {
		if indexOf(recents, was) < 0 {
			out = append(out, InboundChange{Text: was.String() + ": only in OLD"})
		}
	}
	slices.SortStableFunc(out, func(a, b InboundChange) int { return cmp.Compare(a.Text, b.Text) })
	return out
}

// indexOf finds the inbound of the same name, -1 where there is none.
func indexOf(all []cases.Inbound, in cases.Inbound) int {
	return slices.IndexFunc(all, func(other cases.Inbound) bool { return other.String() == in.String() })
}

func mtls(in cases.Inbound) string {
	if in.Permissive {
		return "permissive"
	}
	return "strict"
}
