package diff

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/verdict"
)

// unknownReferences says what the policies of an inbound refer to and neither side has, where other policies select the
// inbound now. What they let in depends on it. With both, neither side came first.
func unknownReferences(was, is verdict.Inbound, both bool) (out []string) {
	of := func(in verdict.Inbound) (found capability.References) {
		if referrer, ok := in.Reading().Set().(capability.Referrer); ok {
			found = referrer.References(in.Inbound.Inbound)
		}
		return found
	}
	before, after := of(was), of(is)
	if slices.Equal(before.Policies, after.Policies) {
		return nil
	}
	if areNarrower(was, is, before, after) && (!both || areNarrower(is, was, after, before)) {
		return nil
	}
	for _, reference := range slices.Concat(before.Dangling, after.Dangling) {
		out = append(out, fmt.Sprintf("the policies of %s have changed, and refer to what is not there: %s", is.Inbound, reference))
	}
	return out
}

// areNarrower reports whether the new policies of an inbound let in no caller that the old ones keep out. They have the unknown
// authorizers of the old ones, or more, and no other reference. An authorizer answers alike before and after, and a request
// needs the consent of each.
func areNarrower(was, is verdict.Inbound, before, after capability.References) bool {
	alone := func(r capability.References) bool { return len(r.Dangling) == len(r.Unknown) }
	if was.Port != is.Port || was.Protocol.Layer() != is.Protocol.Layer() || !alone(before) || !alone(after) || len(added(after.Unknown, before.Unknown)) > 0 {
		return false
	}
	old, recent, known := bothAs[capability.Referrer](was.Reading().Set(), is.Reading().Set())
	return known && !letsMoreIn(is.Surface(), was.Inbound.Inbound, is.Inbound.Inbound, old.WithoutUnknown(), recent.WithoutUnknown())
}
