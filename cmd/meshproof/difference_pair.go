package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/gateway"
	"github.com/meshproof/meshproof/policy/kuma"
	"github.com/meshproof/meshproof/policy/manifest"
)

// pair is one case under the policies before and after.
type pair struct {
	old, recent cases.Case
	// inbounds are how the inbounds change themselves.
	inbounds []inboundChange
}

// subject names what two sets of policies are compared for.
func (p pair) subject() string { return p.recent.Name }

// loose reports whether a case was made of policy files.
func loose(c cases.Case) bool { return c.Source == "" }

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
		i := slices.IndexFunc(olds, func(old cases.Case) bool { return counterparts(old, c) })
		if len(olds) == 1 && len(recents) == 1 {
			i = 0
		}
		var old cases.Case
		switch anyLoose := slices.IndexFunc(olds, loose); {
		case i >= 0:
			paired[i], old = true, olds[i]
		// Policy files are one set: they may say who calls a workload that is new.
		case loose(c) && anyLoose >= 0:
			old = olds[anyLoose]
			old.Inbounds = nil
		default:
			d.onlyNew = append(d.onlyNew, titleOf(c))
			continue
		}
		changes := inboundChanges(old.Inbounds, c.Inbounds)
		if loose(old) != loose(c) {
			// What policy files are compared on are the inbounds of the case.
			changes = nil
			old.Inbounds = c.Inbounds
		}
		if err := oneDialect(&old, &c); err != nil {
			return nil, err
		}
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
func titleOf(c cases.Case) string {
	if !loose(c) {
		return c.Name
	}
	names := make([]string, len(c.Inbounds))
	for i, in := range c.Inbounds {
		names[i] = in.String()
	}
	return "inbound " + strings.Join(names, ", ")
}

// counterparts reports whether two cases are one, before and after.
func counterparts(old, recent cases.Case) bool {
	if !loose(old) || !loose(recent) {
		return loose(old) == loose(recent) && old.Name == recent.Name
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
func (o *diffOptions) sides(before, after string) (olds, recents []cases.Case, err error) {
	old, err := o.side(before)
	if err != nil {
		return nil, nil, err
	}
	recent, err := o.side(after)
	if err != nil {
		return nil, nil, err
	}
	if err := o.source.checkLabFlags(old, recent); err != nil {
		return nil, nil, err
	}
	ofOld, ofNew := o.source, o.source
	ofOld.options.Kuma.Option, ofNew.options.Kuma.Option = o.oldOption, o.newOption
	switch {
	case old.empty() && recent.empty() && o.source.inboundFlag() == "":
		return nil, nil, fmt.Errorf("neither %s nor %s has a policy, a Dataplane or a case: there is nothing to compare", before, after)
	// Without a policy there is the empty set, wherever the others are.
	case recent.empty() && old.sawCase:
		olds, err = ofOld.casesOf(old, old.inbounds())
		return olds, emptied(olds, o.newOption), err
	case old.empty() && recent.sawCase:
		recents, err = ofNew.casesOf(recent, recent.inbounds())
		return emptied(recents, o.oldOption), recents, err
	}
	inOld, inNew := old.inbounds(), recent.inbounds()
	// Dataplanes of one side say what inbounds there are on either.
	switch {
	case len(inOld) == 0:
		inOld = inNew
	case len(inNew) == 0:
		inNew = inOld
	}
	if olds, err = ofOld.casesOf(old, inOld); err != nil {
		return nil, nil, err
	}
	recents, err = ofNew.casesOf(recent, inNew)
	return olds, recents, err
}

// emptied are the cases without policies.
func emptied(of []cases.Case, option kuma.Option) []cases.Case {
	out := slices.Clone(of)
	for i := range out {
		out[i].Policies = nil
		if loose(out[i]) {
			out[i].Options.Kuma.Option = option
		}
	}
	return out
}

// side reads one of the two; a folder without files is an empty set.
func (o *diffOptions) side(path string) (*lab, error) {
	files, err := labFiles(path)
	if err != nil {
		return nil, err
	}
	l, err := o.source.readLab(files, path)
	if err != nil {
		return nil, err
	}
	return l, l.unique()
}

// unique refuses two cases of one name, and two Dataplanes of one workload: which of them
// is the counterpart?
func (l *lab) unique() error {
	places := map[string]string{}
	for _, c := range l.cases {
		if first, ok := places[c.Name]; ok {
			return fmt.Errorf("%s: case %q stands already at %s: give it a name of its own", c.Place, c.Name, first)
		}
		places[c.Name] = c.Place
	}
	seen := map[workload]*dataplane.Dataplane{}
	for _, d := range l.dataplanes {
		key := workloadOf(d.Inbounds[0])
		if first, ok := seen[key]; ok {
			return fmt.Errorf("%s: Dataplane %q stands already at %s: give it a name of its own", d.Place, d.Workload.Name, first.Place)
		}
		seen[key] = d
	}
	return nil
}

// selectsNothing is an AuthorizationPolicy that applies to no workload.
const selectsNothing = `
apiVersion: gateway.networking.x-k8s.io/v1alpha1
kind: XAuthorizationPolicy
metadata: {name: none}
spec:
  targetRefs: [{kind: Pod, selector: {matchLabels: {meshproof/selects: nothing}}}]
  action: ALLOW
  enforcementLevel: Network
`

// oneDialect has a side without any policy read as the other side's dialect reads it: no
// AuthorizationPolicy lets everybody in, and no MeshTrafficPermission nobody.
func oneDialect(old, recent *cases.Case) error {
	nothing, err := manifest.Parse("none.yaml", []byte(selectsNothing))
	if err != nil {
		return err
	}
	switch {
	case len(old.Policies) == 0 && slices.ContainsFunc(recent.Policies, gateway.Owns):
		old.Policies = nothing
	case len(recent.Policies) == 0 && slices.ContainsFunc(old.Policies, gateway.Owns):
		recent.Policies = nothing
	}
	return nil
}
