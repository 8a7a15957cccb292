package diff

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// populate makes inbounds for the policies of both sides that select no described inbound,
// and adds a case with them to each side.
func (d *Difference) populate(old, recent Side, olds, recents []lab.Case) ([]lab.Case, []lab.Case, error) {
	if !old.HasPolicySet() && !recent.HasPolicySet() {
		return olds, recents, nil
	}
	setOld, errOld := old.PolicySet(old.Surroundings)
	setNew, errNew := recent.PolicySet(recent.Surroundings)
	if err := errors.Join(errOld, errNew); err != nil {
		return nil, nil, err
	}
	if recent.HasDataplanes {
		d.madeByNew = lab.Populate(recent.Inbound, setNew).Made
	}
	// Dataplanes of one side say what inbounds there are on both.
	for _, sides := range [][2]*lab.PolicySet{{&setOld, &setNew}, {&setNew, &setOld}} {
		if len(sides[0].Described) == 0 {
			sides[0].Described = sides[1].Described
		}
	}
	setOld.Changed, setNew.Changed = changedPolicies(old, recent), changedPolicies(recent, old)
	like := recent.Inbound
	if !old.HasPolicySet() || !recent.HasPolicySet() {
		// Policy files and a case file are compared on the inbounds of the case, with their protocols.
		described := inboundsOf(slices.Concat(olds, recents))
		setOld.Described, setNew.Described, setOld.Chosen, setNew.Chosen = described, described, false, false
		if len(described) > 0 && !slices.ContainsFunc(described, func(in policy.Inbound) bool { return in.Protocol.Layer() == like.Protocol.Layer() }) {
			like.Protocol = described[0].Protocol
		}
	}
	population := lab.Populate(like, setOld, setNew)
	d.Assumed = population.Assumed
	d.Unasked, d.Truncated = population.Unasked, population.Truncated
	if hasChanged(old, setOld) || hasChanged(recent, setNew) || !reflect.DeepEqual(inboundsOf(olds), inboundsOf(recents)) {
		d.Unasked, d.Truncated = append(d.Unasked, d.callers.Unnamed...), d.Truncated || d.callers.Truncated
	}
	for _, of := range []Side{old, recent} {
		for _, set := range []lab.PolicySet{setOld, setNew} {
			for _, shared := range of.SharedListeners(set.Policies) {
				if !slices.Contains(d.Unasked, shared) {
					d.Unasked = append(d.Unasked, shared)
				}
			}
		}
	}
	if !old.HasPolicySet() || !recent.HasPolicySet() {
		for _, m := range population.Made {
			if m.Again {
				continue // its policies select an inbound of the cases, with the protocol that the case states
			}
			d.Unasked = append(d.Unasked, lab.Unasked{Policy: strings.Join(m.Policies, ", "), Place: recent.Name, Reason: "the cases lack an inbound that this can select: add one, or compare two folders"})
		}
		return olds, recents, nil
	}
	// Where no policy has changed, the programs are the same: there is nothing to compare.
	changed := slices.DeleteFunc(slices.Clone(population.Made), func(m lab.Made) bool { return !m.Changed })
	madeOld, errOld := old.MadeCases(old.Surroundings, changed)
	madeNew, errNew := recent.MadeCases(recent.Surroundings, changed)
	if first := slices.IndexFunc(recents, func(c lab.Case) bool { return c.Generated }); first >= 0 && len(setNew.Described) == 0 {
		recents[first].LintScope = slices.Clone(recents[first].LintScope)
		for _, m := range population.Made {
			if !m.Again {
				recents[first].LintScope = append(recents[first].LintScope, m.Inbound)
			}
		}
	}
	return append(olds, madeOld...), append(recents, madeNew...), errors.Join(errOld, errNew)
}

func inboundsOf(all []lab.Case) []policy.Inbound {
	var out []policy.Inbound
	for _, c := range all {
		for _, in := range c.Inbounds {
			out = append(out, in.Inbound)
		}
	}
	return out
}

// changedPolicies reports of a side's policy, by its place, whether the other side does not have it
// as it is.
func changedPolicies(side, other Side) func(place string) bool {
	same := map[string]bool{}
	if side.Options.Document.Flow() == other.Options.Document.Flow() {
		for _, doc := range other.Policies {
			same[doc.Flow()] = true
		}
	}
	changed := map[string]bool{}
	for _, doc := range side.Policies {
		place := doc.Place("")
		changed[place] = changed[place] || !same[doc.Flow()]
	}
	return func(place string) bool { return changed[place] }
}

// hasChanged reports whether the other side has not all policies of a side as they are. Where both have, and describe the same inbounds, each caller
// gets in where it did.
func hasChanged(side Side, set lab.PolicySet) bool {
	return slices.ContainsFunc(side.Policies, func(doc manifest.Document) bool { return set.Changed(doc.Place("")) })
}

// emptied returns the cases without policies.
func emptied(all []lab.Case, options language.Options) []lab.Case {
	out := slices.Clone(all)
	for i := range out {
		out[i].Policies = nil
		if out[i].Generated {
			out[i].Options.Document = options.Document
		}
	}
	return out
}
