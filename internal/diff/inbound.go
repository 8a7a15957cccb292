package diff

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/verdict"
)

// InboundChange is a change of an inbound itself.
type InboundChange struct {
	Text string
	// Widens says what lets callers in now, or may let them in; "" for nothing.
	Widens string
}

// finder finds what an inbound of NEW was in OLD, -1 where there is none.
type finder func(olds, recents []cases.Inbound, in cases.Inbound) int

// inboundChanges compares the inbounds of NEW with the inbounds of OLD.
func inboundChanges(find finder, olds, recents []cases.Inbound) []InboundChange {
	var out []InboundChange
	// unguarded says that a port of OLD has no inbound in NEW: a mesh may pass such a port through.
	unguarded := func(was cases.Inbound) string {
		if slices.ContainsFunc(recents, func(in cases.Inbound) bool {
			i := find(olds, recents, in)
			return in.Port == was.Port && (workloadOf(in.Inbound) == workloadOf(was.Inbound) || i >= 0 && workloadOf(olds[i].Inbound) == workloadOf(was.Inbound))
		}) {
			return ""
		}
		return fmt.Sprintf("no policy guards port %d any more", was.Port)
	}
	for _, in := range recents {
		i := find(olds, recents, in)
		if i < 0 {
			out = append(out, InboundChange{Text: in.String() + ": only in NEW"})
			continue
		}
		was := olds[i]
		if was.String() != in.String() {
			out = append(out, InboundChange{Text: fmt.Sprintf("%s: was %s", in, was)})
		}
		if was.Protocol != in.Protocol {
			out = append(out, InboundChange{Text: fmt.Sprintf("%s: protocol %s → %s", in, was.Protocol, in.Protocol)})
		}
		if was.Port != in.Port {
			out = append(out, InboundChange{Text: fmt.Sprintf("%s: port %d → %d", in, was.Port, in.Port), Widens: unguarded(was)})
		}
	}
	for _, was := range olds {
		if !slices.ContainsFunc(recents, func(in cases.Inbound) bool {
			i := find(olds, recents, in)
			return i >= 0 && olds[i].String() == was.String()
		}) {
			out = append(out, InboundChange{Text: was.String() + ": only in OLD", Widens: unguarded(was)})
		}
	}
	return out
}

// counterpart finds what an inbound of NEW was in OLD: the inbound of the same name, or else an
// inbound of the same workload and port that has another name in NEW. It is -1 where there is
// none.
func counterpart(olds, recents []cases.Inbound, in cases.Inbound) int {
	if i := indexOf(olds, in); i >= 0 {
		return i
	}
	return slices.IndexFunc(olds, func(was cases.Inbound) bool {
		return was.Port == in.Port && workloadOf(was.Inbound) == workloadOf(in.Inbound) && indexOf(recents, was) < 0
	})
}

// indexOf finds the inbound of the same name, -1 where there is none.
func indexOf(all []cases.Inbound, in cases.Inbound) int {
	return slices.IndexFunc(all, func(other cases.Inbound) bool { return other.String() == in.String() })
}

// modeChange returns the change of the mTLS of an inbound, which the policies may say.
func (c Comparison) modeChange() []InboundChange {
	was, is := c.old.MTLS, c.recent.MTLS
	if was.String() == is.String() {
		return nil
	}
	change := InboundChange{Text: fmt.Sprintf("%s: mtls %s → %s", c.Inbound, was, is)}
	if is.TakesPlaintext() && !was.TakesPlaintext() {
		change.Widens = "plaintext is taken"
	}
	return []InboundChange{change}
}

// firstMode says that a policy of NEW lets an inbound take plaintext, where no policy of OLD states its mode. In the folder nobody more gets in by that, as
// plaintext is taken by default. But such a policy is mostly written where another folder demands mTLS: then NEW lets plaintext in.
func firstMode(was, is verdict.Inbound) []string {
	old, recent, known := bothAs[capability.Moder](was.Reading().Set(), is.Reading().Set())
	if !known || !is.MTLS.TakesPlaintext() || old.ModeBy(was.Inbound.Inbound) != "" {
		return nil
	}
	by := recent.ModeBy(is.Inbound.Inbound)
	if by == "" {
		return nil
	}
	return []string{"plaintext is taken by " + by + ", and no policy of OLD states the mode there: where a policy of another folder demands mTLS, NEW lets plaintext in"}
}
