package diff

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/podlint"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routediff"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Case is one case under the policies before and after, with the differences and the
// results of Envoy.
type Case struct {
	Old, New cases.Case
	// Inbounds are the changes of the inbounds themselves.
	Inbounds []InboundChange
	// Comparisons has an entry for each inbound of New.
	Comparisons []Comparison
	// Made says of each inbound why it was made; nil where the inbounds are described.
	Made []lab.Made
	// generated is true where New was made of policy files.
	generated bool
	// gone is true where NEW does not have the case.
	gone bool
	// find finds what an inbound of New was in Old; nil for [counterpart].
	find finder
	// lintScope are the inbounds that lint is about.
	lintScope []policy.Inbound
	// OldResult and NewResult are the results of [Difference.Confirm], nil before it.
	OldResult, NewResult *result.Case
}

// Diff compares two sides, on the inbounds of the given name, or on all where it is empty. It pairs cases of one name, policy files for one workload, or the
// only case of each side. The error is about a policy, or says that there is nothing to
// compare; it may be a [lab.NothingError] or a [lab.NoInboundError].
func Diff(old, recent Side, to string) (*Difference, error) {
	return compareSides(old, recent, to, false)
}

// compareSides is [Diff]. With all, the classes that both sides decide alike are among the changes.
func compareSides(old, recent Side, to string, all bool) (*Difference, error) {
	routes, err := routediff.Diff(routediff.Side(old), routediff.Side(recent))
	if err != nil {
		return nil, err
	}
	if to != "" {
		routes = nil // the inbounds of one name are asked for
	}
	beside, err := compareBeside(old, recent, all, routes != nil)
	if err != nil {
		return nil, err
	}
	if isRouting := func(f *lab.Files) bool { return f.OnlyRouting() || f.Empty() }; routes != nil && isRouting(old.Files) && isRouting(recent.Files) {
		return &Difference{Routes: routes, old: old.Files, recent: recent.Files, Unread: beside.Changes, Passed: beside.Passed, compared: beside.Compared}, nil
	}
	d := Difference{Routes: routes, old: old.Files, recent: recent.Files, Unread: beside.Changes, Passed: beside.Passed, compared: beside.Compared}
	if err := d.comparePolicies(old, recent, to, all); err != nil {
		return nil, err
	}
	d.Warnings = append(d.Warnings, podlint.Warn(recent.Files, recent.Surroundings)...)
	d.compareUnapplied(old, recent, to, beside.Doubts)
	d.compareInstallations(old, recent, to, beside.Installations)
	d.first, d.domain = d.firstRules(), unstatedDomain(old, recent)
	return &d, nil
}

// comparePolicies compares the policies of two sides.
func (d *Difference) comparePolicies(old, recent Side, to string, all bool) error {
	shareDialect(&old, &recent)
	callers, byBoth := shareCallers(&old, &recent)
	d.callers = callers
	olds, recents, err := casesOf(old, recent)
	if err != nil {
		return err
	}
	single := len(olds) == 1 && len(recents) == 1
	if single {
		adoptInbounds(&olds[0], &recents[0])
	}
	if olds, recents, err = d.populate(old, recent, olds, recents); err != nil {
		return err
	}
	if all && !old.HasPolicySet() && !recent.HasPolicySet() {
		d.Unasked = append(d.Unasked, idle(olds)...)
		d.Unasked = append(d.Unasked, idle(recents)...)
	}
	d.Unasked = append(d.Unasked, refused(old.Files, recent.Files)...)
	allOlds, allRecents := olds, recents
	// An inbound may be on one side only.
	olds, errOld := lab.Choose(olds, to)
	recents, errNew := lab.Choose(recents, to)
	if errOld != nil && errNew != nil {
		return errNew
	}
	if single && errOld != nil {
		// The only case of OLD lacks the inbound, which is new.
		only := allOlds[0]
		only.Inbounds = nil
		olds = []lab.Case{only}
	}
	paired := map[int]bool{}
	for _, c := range recents {
		was, i, ok := formerCase(c, olds, single)
		if !ok {
			d.OnlyNew = append(d.OnlyNew, title(c))
			continue
		}
		paired[i] = true
		if err := d.comparePair(was, c, to, all); err != nil {
			return err
		}
	}
	d.addRenamed(described(allOlds), described(allRecents), to)
	for i, c := range olds {
		if !paired[i] {
			d.OnlyOld = append(d.OnlyOld, title(c))
			d.addGone(c, recent.Options)
		}
	}
	if len(d.Cases) == 0 {
		return fmt.Errorf("%s and %s have no case in common: cases are compared by their names", old.Name, recent.Name)
	}
	for i := range d.Cases {
		c := &d.Cases[i]
		if err := d.compareInboundsOf(c, all); err != nil {
			return err
		}
		// An inbound that is made for tcp too is no reason to warn of what tcp does not show.
		if slices.ContainsFunc(c.Made, func(m lab.Made) bool { return !m.Again }) || c.Made == nil {
			d.addWarnings(c)
		}
	}
	if err := d.compareAccounts(byBoth, all); err != nil {
		return err
	}
	slices.Sort(d.Opens)
	d.Opens = slices.Compact(d.Opens)
	d.Cases = slices.DeleteFunc(d.Cases, func(c Case) bool { return c.gone && !c.widens() })
	return nil
}

// formerCase returns what a case was before, and its index among the old cases. A workload that only the new policy files
// describe was among those of the old ones, without an inbound and an index: they are one set, and may say who calls it.
// The only case of each side are one case.
func formerCase(c lab.Case, olds []lab.Case, single bool) (was lab.Case, index int, ok bool) {
	if single && c.Made == nil {
		return olds[0], 0, true
	}
	if i := slices.IndexFunc(olds, func(old lab.Case) bool { return areCounterparts(old, c) }); i >= 0 {
		return olds[i], i, true
	}
	if i := slices.IndexFunc(olds, func(old lab.Case) bool { return old.Generated }); i >= 0 && c.Generated {
		was = olds[i]
		was.Inbounds = nil
		return was, -1, true
	}
	return was, -1, false
}

// comparePair adds a case with what it was before. Its requests are compared by [Difference.compareInboundsOf].
func (d *Difference) comparePair(was, is lab.Case, to string, all bool) error {
	changes := inboundChanges(counterpart, was.Inbounds, is.Inbounds)
	useOneDialect(&was.Case, &is.Case)
	if was.Generated && is.Generated {
		shareTrustedHops(&was.Case, &is.Case)
	}
	if !was.Generated && !is.Generated {
		d.Opens = slices.Concat(d.Opens, newTrust(was.Case, is.Case), newIdentities(was.Case, is.Case), optionsAlone(was.Case, is.Case))
		if all {
			d.Opens = append(d.Opens, newTrust(is.Case, was.Case)...)
		}
		d.addRenamed([]lab.Case{was}, []lab.Case{is}, to)
	}
	if err := d.compareRoutes(was, is, to, all); err != nil {
		return err
	}
	d.Cases = append(d.Cases, Case{Old: was.Case, New: is.Case, generated: is.Generated, Inbounds: changes, Made: is.Made, lintScope: is.LintScope})
	d.addMoved(was, is)
	return nil
}

// compareInboundsOf compares each inbound of a case with what it was before, and adds what opens beside its requests.
func (d *Difference) compareInboundsOf(c *Case, all bool) (err error) {
	find := c.find
	if find == nil {
		find = counterpart
	}
	if c.Comparisons, err = compareBy(find, c.Old, c.New, all); err != nil {
		return err
	}
	if c.generated && len(c.Comparisons) > 0 {
		d.compareOutside(c.Comparisons[0].old, c.Comparisons[0].recent, all)
	}
	for _, comparison := range c.Comparisons {
		c.Inbounds = append(c.Inbounds, comparison.modeChange()...)
		d.Opens = append(d.Opens, comparison.opens(all)...)
	}
	if len(c.Comparisons) > 0 {
		// All inbounds of a case have the same two sets of policies.
		of := c.Comparisons[0]
		was, is := of.old.Reading().Set(), of.recent.Reading().Set()
		var first []string
		if !all {
			first = firstExclusions(was, is)
			d.addFirstExclusions(first)
		}
		d.Opens = append(d.Opens, openedBySets(was, is, first, all)...)
	}
	d.Opens = append(d.Opens, overwritten(c.Old, c.New, c.Comparisons, all)...)
	slices.SortStableFunc(c.Inbounds, func(a, b InboundChange) int { return cmp.Compare(a.Text, b.Text) })
	return nil
}

// opens says of an inbound what lets in more, or may, and is no class of requests.
func (c Comparison) opens(all bool) []string {
	out := slices.Concat(
		movedAuthorizers(c.old, c.recent), answeredByPolicies(c.old, c.recent), firstMode(c.old, c.recent),
		unknownReferences(c.old, c.recent, all), newNeighbours(c.old, c.recent), openedByAge(c.old, c.recent),
	)
	if all {
		out = slices.Concat(out, newNeighbours(c.recent, c.old), openedByAge(c.recent, c.old))
	}
	return out
}

// openedBySets says of two sets of policies what lets in more, or may, whatever the inbound is. The first parts only shut out, see [firstExclusions].
func openedBySets(was, is language.Policies, first []string, all bool) []string {
	out := slices.Concat(lessProof(was, is), newStrangers(was, is), otherExclusions(was, is, first), otherAuthorizers(was, is), newProtocols(was, is))
	if all {
		return append(out, unalike(was, is)...)
	}
	return append(out, unclosed(was, is)...)
}

// addWarnings adds the warnings of the new side of a case, each once: those of one set are told of each inbound.
func (d *Difference) addWarnings(c *Case) {
	if len(c.Comparisons) == 0 {
		return
	}
	reading := c.Comparisons[0].recent.Reading()
	reading.LintAmong(c.lintScope)
	for _, w := range reading.Warnings() {
		if !slices.Contains(d.Warnings, w) {
			d.Warnings = append(d.Warnings, w)
		}
	}
}

// compareRoutes compares the routes and timeouts that two cases state. Those of files outside of cases are
// compared once for all workloads.
func (d *Difference) compareRoutes(was, is lab.Case, to string, all bool) error {
	if all || was.Generated || is.Generated {
		if !sameDocuments(was.Routing, is.Routing) {
			d.Unasked = append(d.Unasked, lab.Unasked{
				Policy: "the routes, timeouts and services of the case " + is.Name, Place: is.Place, Reason: "they differ from those of the other side, and only diff compares them, between two cases or between two folders",
			})
		}
		return nil
	}
	if to != "" { // the inbounds of one name are asked for
		return nil
	}
	routes, err := routediff.OfCases(was.Case, is.Case)
	d.Routes = routediff.Join(d.Routes, routes)
	return err
}

// sameDocuments reports whether documents have the same fields.
func sameDocuments(a, b []manifest.Document) bool {
	return slices.EqualFunc(a, b, func(a, b manifest.Document) bool { return a.Flow() == b.Flow() })
}

// widens reports whether requests are let in now, or may be: a class of requests, or those that no
// class has.
func (c Case) widens() bool {
	return slices.ContainsFunc(c.Comparisons, func(found Comparison) bool {
		return len(found.Unsendable) > 0 || !found.Cover.Complete() || slices.ContainsFunc(found.Changes, func(change Change) bool { return change.Kind() == Widened })
	})
}

// addGone compares a case that only OLD has as if its workloads had stayed, without the policies
// that the case states. Without policies, a dialect may let every caller in.
func (d *Difference) addGone(was lab.Case, options language.Options) {
	if was.Generated {
		return
	}
	is := emptied([]lab.Case{was}, options)[0]
	is.Name += " (gone)"
	useOneDialect(&was.Case, &is.Case)
	d.Cases = append(d.Cases, Case{Old: was.Case, New: is.Case, gone: true, lintScope: is.LintScope})
}

// title names a case that has no counterpart: a generated case by its inbounds.
func title(c lab.Case) string {
	if !c.Generated {
		return c.Name
	}
	names := make([]string, len(c.Inbounds))
	for i, in := range c.Inbounds {
		names[i] = in.String()
	}
	return "inbound " + strings.Join(names, ", ")
}

// areCounterparts reports whether two cases are one case before and after.
func areCounterparts(old, recent lab.Case) bool {
	if old.Made != nil || recent.Made != nil {
		// Several made inbounds may have one name.
		return reflect.DeepEqual(old.Made, recent.Made)
	}
	if !old.Generated || !recent.Generated {
		return old.Generated == recent.Generated && old.Name == recent.Name
	}
	return workloadOf(old.Inbounds[0].Inbound) == workloadOf(recent.Inbounds[0].Inbound)
}

// useOneDialect gives a case without policies the dialect of the other case. The empty
// sets differ: no AuthorizationPolicy lets all callers in, and no MeshTrafficPermission
// lets none in.
func useOneDialect(old, recent *cases.Case) {
	switch {
	case len(old.Policies) == 0 && len(recent.Policies) == 0:
		// Both have the dialect that their options name.
	case len(old.Policies) == 0:
		old.Options.Dialect = ownerOf(recent.Policies)
	case len(recent.Policies) == 0:
		recent.Options.Dialect = ownerOf(old.Policies)
	}
}

// shareTrustedHops lets the inbounds of both sides trust the entries of x-forwarded-for that those of one side trust: a
// side trusts none where its policies do not ask for the address.
func shareTrustedHops(old, recent *cases.Case) {
	most := 0
	for _, c := range []*cases.Case{old, recent} {
		for _, in := range c.Inbounds {
			most = max(most, in.TrustedHops)
		}
	}
	for _, c := range []*cases.Case{old, recent} {
		c.Inbounds = slices.Clone(c.Inbounds)
		for i := range c.Inbounds {
			if c.Inbounds[i].Protocol.Layer() == policy.L7 {
				c.Inbounds[i].TrustedHops = most
			}
		}
	}
}

// shareDialect gives a side without policies the dialect of the other side, unless its options tell one. The
// dialect says what holds where no policy applies: the decision, and whether an inbound takes plaintext.
func shareDialect(old, recent *Side) {
	for _, sides := range [][2]*Side{{old, recent}, {recent, old}} {
		side, other := sides[0], sides[1]
		if !side.HasCases && len(side.Policies) == 0 && side.Options.Dialect == "" && dialects.OfOptions(side.Options.Document) == "" {
			side.Options.Dialect = ownerOf(other.Policies)
		}
	}
}

// ownerOf returns the dialect of the first document that has a dialect, "" without any.
func ownerOf(docs []manifest.Document) string {
	for _, doc := range docs {
		if d := dialects.OwnerOf(doc); d != nil {
			return d.Name()
		}
	}
	return ""
}
