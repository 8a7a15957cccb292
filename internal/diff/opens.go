package diff

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy/language"
)

// newTrust says which trust domains only the new case trusts.
func newTrust(was, is cases.Case) (out []string) {
	for _, td := range is.TrustDomains {
		if !slices.Contains(was.TrustDomains, td) {
			out = append(out, is.Name+" trusts "+td.Name()+", and the other side does not: its callers are let in")
		}
	}
	return out
}

// newIdentities says which workloads of a case call as somebody else now.
func newIdentities(was, is cases.Case) (out []string) {
	identities := func(c cases.Case) map[string]string {
		of := map[string]string{}
		for _, peer := range c.Options.Peers {
			of[peer.Workload.Name] = peer.Identity.String()
		}
		for _, in := range c.Inbounds {
			of[in.Workload.Name] = in.Identity.String()
		}
		return of
	}
	before, after := identities(was), identities(is)
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if old, found := before[name]; found && old != after[name] {
			out = append(out, fmt.Sprintf("%s of %s has the identity %s now, and calls as somebody else", name, is.Name, after[name]))
		}
	}
	return out
}

// optionsAlone says that the options of a case differ where no policy says what dialect reads them.
// A mesh may let callers in by its options alone.
func optionsAlone(was, is cases.Case) []string {
	if len(was.Policies)+len(is.Policies) > 0 || was.Options.Document.Flow() == is.Options.Document.Flow() {
		return nil
	}
	return []string{"the options of " + is.Name + " differ, and it has no policy, so that nothing says which dialect reads them"}
}

// bothAs returns two sets of policies by what they can do, and whether both can.
func bothAs[C any](was, is language.Policies) (old, recent C, can bool) {
	old, canOld := was.(C)
	recent, canNew := is.(C)
	return old, recent, canOld && canNew
}

// lessProof says which rules let callers in now by a name that no certificate proves, where the
// old policies demand the proof.
func lessProof(was, is language.Policies) (out []string) {
	old, recent, known := bothAs[capability.Truster](was, is)
	if !known {
		return nil
	}
	before, demanded := old.Unproven()
	after, _ := recent.Unproven()
	for _, rule := range after {
		if demanded && !slices.Contains(before, rule) {
			out = append(out, rule+" demands no authentication, and the lab does not show what that lets in")
		}
	}
	return out
}

// newStrangers says what only the new policies let in that no caller of the lab plays.
func newStrangers(was, is language.Policies) (out []string) {
	if old, recent, known := bothAs[capability.Kindred](was, is); known {
		out = recent.Broader(old)
		out = append(out, added(old.Unplayed(), recent.Unplayed())...)
	} else {
		strangers := func(p language.Policies) []string {
			if some, ok := p.(capability.Stranger); ok {
				return some.Strangers()
			}
			return nil
		}
		out = added(strangers(was), strangers(is))
	}
	for i := range out {
		out[i] += ", and the lab does not show what that lets in"
	}
	return out
}

// added returns the texts that only the second list has.
func added(was, is []string) []string {
	return slices.DeleteFunc(slices.Clone(is), func(text string) bool { return slices.Contains(was, text) })
}

// unclosed says what the old policies shut out in every protocol, where the new ones are of a dialect that says nothing
// of other protocols than TCP.
func unclosed(was, is language.Policies) (out []string) {
	old, knowsOld := was.(capability.Kindred)
	if _, knowsNew := is.(capability.Kindred); !knowsOld || knowsNew {
		return nil
	}
	for _, text := range old.Closed() {
		out = append(out, "the policies are of another dialect, and no rule shuts out UDP, SCTP and ICMP any more, of "+text+": the lab does not show what that lets in")
	}
	return out
}

// overwritten says which policies state of themselves what a control plane says otherwise, where the policies or
// the workloads of a case are not the same on both sides: what they decide in the mesh is not compared. It also names new policies,
// and with all old ones too, by which a released control plane lets in more than they say.
func overwritten(was, is cases.Case, found []Comparison, all bool) (out []string) {
	for _, comparison := range found {
		for i, side := range []verdict.Inbound{comparison.old, comparison.recent} {
			set := side.Reading().Set()
			if stater, ok := set.(capability.Stater); ok {
				out = append(out, stater.Overwritten()...)
			}
			if departer, ok := set.(capability.Departer); ok && (all || i > 0) {
				out = append(out, departer.Departures(side.Inbound.Inbound)...)
			}
		}
	}
	same := func(c cases.Case) (texts []string) {
		for _, doc := range c.Policies {
			texts = append(texts, doc.Flow())
		}
		for _, in := range c.Inbounds {
			texts = append(texts, fmt.Sprint(in.Workload))
		}
		slices.Sort(texts)
		return append(texts, c.Options.Document.Flow())
	}
	if slices.Equal(same(was), same(is)) {
		return nil
	}
	return out
}

// unalike says what only the first of two sets of policies lets in that the lab does not show: the other
// functions of this file say it of the second one.
func unalike(was, is language.Policies) []string {
	return slices.Concat(lessProof(is, was), newStrangers(is, was), otherAuthorizers(is, was), newProtocols(is, was))
}

// firstExclusions returns the names of the parts of the new policies that no proof is about, and that only shut out. A part that was there before
// is none of them: what it was about may be open now.
func firstExclusions(was, is language.Policies) []string {
	old, recent, known := bothAs[capability.Excluder](was, is)
	if !known {
		return nil
	}
	before := old.Excluded()
	return slices.DeleteFunc(recent.FirstExcluded(old), func(part string) bool { return len(before[part]) > 0 })
}

// otherExclusions says which parts of the policies say something that the other side says nowhere, and that no proof is about, but for the
// first ones.
func otherExclusions(was, is language.Policies, first []string) (out []string) {
	of := func(p language.Policies) (parts map[string][]string, said map[string]bool) {
		said = map[string]bool{}
		if excluder, ok := p.(capability.Excluder); ok {
			parts = excluder.Excluded()
		}
		for _, texts := range parts {
			for _, text := range texts {
				said[text] = true
			}
		}
		return parts, said
	}
	before, saidBefore := of(was)
	after, saidAfter := of(is)
	parts := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(parts)
	isNew := func(text string) bool { return !saidBefore[text] }
	isGone := func(text string) bool { return !saidAfter[text] }
	for _, part := range slices.Compact(parts) {
		differs := slices.ContainsFunc(after[part], isNew) || slices.ContainsFunc(before[part], isGone)
		if differs && !slices.Contains(first, part) {
			out = append(out, part+" differs: it is no part of a proof, and no request shows what it lets in or out")
		}
	}
	return out
}
