package diff

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/language"
)

// newNeighbours says which callers of other meshes only the new policies let in: no caller of the lab is one.
func newNeighbours(was, is verdict.Inbound) []string {
	old, recent, known := bothAs[capability.Neighbour](was.Reading().Set(), is.Reading().Set())
	if !known {
		return nil
	}
	var seen []capability.Foreigner
	for _, caller := range slices.Concat(recent.Foreigners(), old.Foreigners()) {
		if slices.Contains(seen, caller) {
			continue
		}
		seen = append(seen, caller)
		before, after := old.ForeignTo(caller).Program(was.Inbound.Inbound).Program, recent.ForeignTo(caller).Program(is.Inbound.Inbound).Program
		switch d, sampled := moreLetIn(is.Surface(), before, after); {
		case len(sampled) > 0:
			return []string{fmt.Sprintf("%s: callers of other meshes are compared by examples: %s", is.Inbound, sampled)}
		case d != policy.Decision{}:
			return []string{fmt.Sprintf("%s lets callers of other meshes into %s, with %s, and the lab does not show what that lets in", d.Origin, is.Inbound, caller)}
		}
	}
	return nil
}

// moreLetIn returns how the second program lets a request in that the first one keeps out, the zero value where it does not.
// Sampled says why examples alone are compared.
func moreLetIn(on classes.Surface, before, after policy.Program) (lets policy.Decision, sampled []string) {
	if before.Equal(after) {
		return policy.Decision{}, nil
	}
	cover := classes.Cut(on, before, after)
	if onlyNames := len(cover.Sampled) == 1 && cover.SampledNames != ""; !cover.Complete() && !onlyNames {
		return policy.Decision{}, cover.Sampled
	}
	for _, class := range cover.Classes {
		if d := policy.Decide(after, class.Witness); d.Effect == policy.Allow && policy.Decide(before, class.Witness).Effect != policy.Allow {
			return d, nil
		}
	}
	return policy.Decision{}, nil
}

// newProtocols says what takes connections of each protocol in the new policies alone, where the old ones have
// something that takes HTTP alone, and the new ones do not.
func newProtocols(was, is language.Policies) (out []string) {
	old, recent, known := bothAs[capability.Speaker](was, is)
	if !known {
		return nil
	}
	closed, open := old.Speaks()
	stillClosed, nowOpen := recent.Speaks()
	for key := range closed {
		if _, still := stillClosed[key]; still {
			delete(closed, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(nowOpen)) {
		if _, already := open[key]; !already && len(closed) > 0 {
			out = append(out, "the "+nowOpen[key]+" takes connections of each protocol, and the other side has one that takes HTTP alone: no route is asked about what is no HTTP or begins late, and the lab does not show what that lets in")
		}
	}
	return out
}
