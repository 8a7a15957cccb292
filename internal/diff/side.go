package diff

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Side is one of the two sets of policies, or of the two sets of cases.
type Side struct {
	*lab.Files
	lab.Surroundings
}

// shareCallers gives both sides the callers that are made for the policies of both. Where one side names callers by labels
// and the other one does not, byBoth has them too, with those that share an account: [Difference.compareAccounts]
// gives them other accounts.
func shareCallers(old, recent *Side) (callers, byBoth lab.Callers) {
	var sets, changed []language.Policies
	inPart := reflect.DeepEqual(old.Inbounds(), recent.Inbounds())
	for _, sides := range [][2]*Side{{old, recent}, {recent, old}} {
		side := sides[0]
		// An error is told where the policies are read.
		if set, err := side.PolicySet(side.Surroundings); err == nil {
			sets = append(sets, set.Policies)
		}
		set, err := side.changedSet(*sides[1])
		changed, inPart = append(changed, set), inPart && err == nil
	}
	if inPart {
		callers = lab.MakeComparedCallers(recent.Options.TrustDomain, changed, sets...)
	} else {
		callers = lab.MakeCallers(recent.Options.TrustDomain, sets...)
	}
	if mixesLabelsAndAccounts(sets) {
		byBoth, callers = callers, callers.DropShared()
	}
	old.Surroundings, recent.Surroundings = old.WithCallers(callers), recent.WithCallers(callers)
	return callers, byBoth
}

// changedSet reads the policies that another side has not as they are.
func (s Side) changedSet(other Side) (language.Policies, error) {
	isChanged := changedPolicies(s, other)
	part := *s.Files
	part.Policies = slices.DeleteFunc(slices.Clone(part.Policies), func(doc manifest.Document) bool { return !isChanged(doc.Place("")) })
	set, err := part.PolicySet(s.Surroundings)
	return set.Policies, err
}

// Open reads the files of one side. A folder without files is an empty set. Two cases of
// one name and two Dataplanes of one workload are an error: both could be the
// counterpart of one on the other side.
func Open(choice lab.Choice, path string) (*lab.Files, error) {
	files, err := lab.OpenSet(choice, path)
	if err != nil {
		return nil, err
	}
	places := map[string]string{}
	for _, c := range files.Cases {
		if first, ok := places[c.Name]; ok {
			return nil, fmt.Errorf("%s: case %q is already defined at %s: give it another name", c.Place, c.Name, first)
		}
		places[c.Name] = c.Place
	}
	seen := map[workload]*dataplane.Dataplane{}
	for _, d := range files.Dataplanes {
		key := workloadOf(d.Inbounds[0])
		if first, ok := seen[key]; ok {
			return nil, fmt.Errorf("%s: Dataplane %q is already defined at %s: give it another name", d.Place, d.Workload.Name, first.Place)
		}
		seen[key] = d
	}
	return files, nil
}

// workload identifies a workload.
type workload struct{ mesh, zone, namespace, name string }

func workloadOf(in policy.Inbound) workload {
	w := in.Workload
	return workload{w.Mesh, w.Zone, w.Namespace, w.Name}
}

// casesOf returns the cases of both sides. An empty side has the cases of the other,
// without policies. Dataplanes of one side say what inbounds there are on both.
func casesOf(old, recent Side) (olds, recents []lab.Case, err error) {
	inOld, inNew := old.Inbounds(), recent.Inbounds()
	switch {
	case recent.Empty() && old.HasCases:
		olds, err = old.CasesFor(old.Surroundings, inOld)
		return olds, emptied(olds, recent.Options), err
	case old.Empty() && recent.HasCases:
		recents, err = recent.CasesFor(recent.Surroundings, inNew)
		return emptied(recents, old.Options), recents, err
	case len(inOld) == 0:
		inOld = inNew
	case len(inNew) == 0:
		inNew = inOld
	}
	if olds, err = old.CasesFor(old.Surroundings, inOld); err != nil {
		return nil, nil, err
	}
	recents, err = recent.CasesFor(recent.Surroundings, inNew)
	return olds, recents, err
}

// refused returns the cases that OLD asks, and whose policies NEW says to be refused: whether they are, a comparison does not ask.
func refused(old, recent *lab.Files) (out []lab.Unasked) {
	for _, c := range recent.Refused {
		if slices.ContainsFunc(old.Cases, func(was cases.Case) bool { return was.Name == c.Name }) {
			out = append(out, lab.Unasked{Policy: "case " + c.Name, Place: c.Place, Reason: "it expects an error in NEW (expectError), so that its policies are not compared: run shows whether they are refused"})
		}
	}
	return out
}

// adoptInbounds gives policy files that are compared with a case the inbounds of the case, and its callers.
func adoptInbounds(was, is *lab.Case) {
	switch {
	case was.Generated && !is.Generated:
		was.Inbounds, was.Options.Peers = is.Inbounds, is.Options.Peers
	case is.Generated && !was.Generated:
		is.Inbounds, is.Options.Peers, is.LintScope = was.Inbounds, was.Options.Peers, nil
	}
}
