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

// letsMoreIn reports whether the new policies of an inbound, as it is after a change, let in callers of the own mesh or of others that the old ones
// keep out, or whether that is not known.
func letsMoreIn(on classes.Surface, before, after policy.Inbound, was, is language.Policies) bool {
	more := func(was, is language.Policies) bool {
		d, sampled := moreLetIn(on, was.Program(before).Program, is.Program(after).Program)
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

// openedByAge says which documents let callers in now where they are older than the others that count for the same requests.
// The classes of requests are about one order of age.
func openedByAge(was, is verdict.Inbound) (out []string) {
	old, recent, known := bothAs[capability.Aging](was.Reading().Set(), is.Reading().Set())
	if !known {
		return nil
	}
	rivals := slices.Concat(recent.Rivals(is.Inbound.Inbound), old.Rivals(was.Inbound.Inbound))
	slices.Sort(rivals)
	for _, rival := range slices.Compact(rivals) {
		if letsMoreIn(is.Surface(), was.Inbound.Inbound, is.Inbound.Inbound, old.WithOldest(rival), recent.WithOldest(rival)) {
			out = append(out, fmt.Sprintf("callers get into %s who did not, or may do so, if %s is older than the other documents that count for the same requests", is.Inbound, rival))
		}
	}
	return out
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
