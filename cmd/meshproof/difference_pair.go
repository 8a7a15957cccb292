package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
)

// pair is one case under the policies before and after.
type pair struct {
	old, recent lab.Case
	// inbounds are how the inbounds change themselves.
	inbounds []inboundChange
}

// subject names what two sets of policies are compared for.
func (p pair) subject() string { return p.recent.Name }

// pairs puts together what is to be compared: cases of one name, policy files on one
// workload, or two cases that are the only ones.
func (o *diffOptions) pairs(before, after string) (*difference, error) {
	olds, recents, err := o.sides(before, after)
	if err != nil {
		return nil, err
	}
	var d difference
	paired := map[int]bool{}
	for _, c := range recents {
		i := slices.IndexFunc(olds, func(old lab.Case) bool { return counterparts(old, c) })
		if len(olds) == 1 && len(recents) == 1 {
			i = 0
		}
		var old lab.Case
		switch anyGenerated := slices.IndexFunc(olds, func(old lab.Case) bool { return old.Generated }); {
		case i >= 0:
			paired[i], old = true, olds[i]
		// Policy files are one set: they may say who calls a workload that is new.
		case c.Generated && anyGenerated >= 0:
			old = olds[anyGenerated]
			old.Inbounds = nil
		default:
			d.onlyNew = append(d.onlyNew, titleOf(c))
			continue
		}
		changes := inboundChanges(old.Inbounds, c.Inbounds)
		if old.Generated != c.Generated {
			// What policy files are compared on are the inbounds of the case.
			changes = nil
			old.Inbounds = c.Inbounds
		}
		oneDialect(&old, &c)
		d.all = append(d.all, compared{pair: pair{old, c, changes}})
	}
	for i, c := range olds {
		if !paired[i] {
			d.onlyOld = append(d.onlyOld, titleOf(c))
		}
	}
	if len(d.all) == 0 {
		return nil, fmt.Errorf("%s and %s have no case in common: cases are compared by their names", before, after)
	}
	return &d, nil
}

// titleOf names a case that has no counterpart: of policy files, by its inbounds.
func titleOf(c lab.Case) string {
	if !c.Generated {
		return c.Name
	}
	names := make([]string, len(c.Inbounds))
	for i, in := range c.Inbounds {
		names[i] = in.String()
	}
	return "inbound " + strings.Join(names, ", ")
}

// counterparts reports whether two cases are one, before and after.
func counterparts(old, recent lab.Case) bool {
	if !old.Generated || !recent.Generated {
		return old.Generated == recent.Generated && old.Name == recent.Name
	}
	return workloadOf(old.Inbounds[0].Inbound) == workloadOf(recent.Inbounds[0].Inbound)
}

// workload is what names one.
type workload struct{ mesh, zone, namespace, name string }

func workloadOf(in policy.Inbound) workload {
	w := in.Workload
	return workload{w.Mesh, w.Zone, w.Namespace, w.Name}
}

// sides are the cases before and after.
func (o *diffOptions) sides(before, after string) (olds, recents []lab.Case, err error) {
	old, err := o.side(before)
	if err != nil {
		return nil, nil, err
	}
	recent, err := o.side(after)
	if err != nil {
		return nil, nil, err
	}
	if err := o.source.checkFilesFlags(old, recent); err != nil {
		return nil, nil, err
	}
	s, err := o.source.surroundings()
	if err != nil {
		return nil, nil, err
	}
	ofOld, ofNew := s, s
	ofOld.Options.Document, ofNew.Options.Document = o.oldFlags.over(o.source.options).document(), o.newFlags.over(o.source.options).document()
	inOld, inNew := old.Inbounds(), recent.Inbounds()
	switch {
	case old.Empty() && recent.Empty() && o.source.inboundFlag() == "":
		return nil, nil, fmt.Errorf("neither %s nor %s has a policy, a Dataplane or a case: there is nothing to compare", before, after)
	// Without a policy there is the empty set, wherever the others are.
	case recent.Empty() && old.HasCases:
		olds, err = old.CasesFor(ofOld, inOld)
		return olds, emptied(olds, ofNew.Options), o.source.chosen(before, err)
	case old.Empty() && recent.HasCases:
		recents, err = recent.CasesFor(ofNew, inNew)
		return emptied(recents, ofOld.Options), recents, o.source.chosen(after, err)
	}
	// Dataplanes of one side say what inbounds there are on either.
	switch {
	case len(inOld) == 0:
		inOld = inNew
	case len(inNew) == 0:
		inNew = inOld
	}
	if olds, err = old.CasesFor(ofOld, inOld); err != nil {
		return nil, nil, o.source.chosen(before, err)
	}
	recents, err = recent.CasesFor(ofNew, inNew)
	return olds, recents, o.source.chosen(after, err)
}

// emptied are the cases without policies.
func emptied(of []lab.Case, options dialect.Options) []lab.Case {
	out := slices.Clone(of)
	for i := range out {
		out[i].Policies = nil
		if out[i].Generated {
			out[i].Options.Document = options.Document
		}
	}
	return out
}

// side reads one of the two; a folder without files is an empty set.
func (o *diffOptions) side(path string) (*lab.Files, error) {
	files, err := lab.OpenSet(o.source.choice(), path)
	if err != nil {
		return nil, err
	}
	return files, unique(files)
}

// unique refuses two cases of one name, and two Dataplanes of one workload: which of them
// is the counterpart?
func unique(files *lab.Files) error {
	places := map[string]string{}
	for _, c := range files.Cases {
		if first, ok := places[c.Name]; ok {
			return fmt.Errorf("%s: case %q stands already at %s: give it a name of its own", c.Place, c.Name, first)
		}
		places[c.Name] = c.Place
	}
	seen := map[workload]*dataplane.Dataplane{}
	for _, d := range files.Dataplanes {
		key := workloadOf(d.Inbounds[0])
		if first, ok := seen[key]; ok {
			return fmt.Errorf("%s: Dataplane %q stands already at %s: give it a name of its own", d.Place, d.Workload.Name, first.Place)
		}
		seen[key] = d
	}
	return nil
}

// oneDialect has a side without any policy read as the other side's dialect reads it: no
// AuthorizationPolicy lets everybody in, and no MeshTrafficPermission nobody.
func oneDialect(old, recent *lab.Case) {
	switch {
	case len(old.Policies) == 0:
		old.Options.Dialect = dialect.Owner(recent.Policies)
	case len(recent.Policies) == 0:
		recent.Options.Dialect = dialect.Owner(old.Policies)
	}
}
