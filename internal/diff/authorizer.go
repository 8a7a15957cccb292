package diff

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/language"
)

// otherAuthorizers says which authorizers only the new policies ask, where the old ones ask some: an
// authorizer may let in what another one refuses.
func otherAuthorizers(was, is language.Policies) (out []string) {
	old, recent, known := bothAs[capability.Delegator](was, is)
	if !known {
		return nil
	}
	before := old.Authorizers()
	for _, authorizer := range recent.Authorizers() {
		if len(before) > 0 && !slices.Contains(before, authorizer) {
			out = append(out, "another authorizer is asked, or in another way, and the lab does not show what it lets in: "+authorizer)
		}
	}
	return out
}

// movedAuthorizers says which authorizers the new policies of an inbound ask in the place of others that
// are asked elsewhere in the mesh.
func movedAuthorizers(was, is verdict.Inbound) (out []string) {
	before := was.Authorizers()
	for _, name := range slices.Sorted(maps.Keys(is.Authorizers())) {
		if _, ok := before[name]; len(before) > 0 && !ok {
			out = append(out, fmt.Sprintf("%s asks the authorizer %q now, in the place of another one, and the lab does not show what it lets in", is.Inbound, name))
		}
	}
	return out
}

// answeredByPolicies says that the policies of an inbound, which differ, ask for what the authorizer of the lab answers
// by. Yours does not answer by that: it may let in what such a rule keeps out, or ask for what the rule never has.
func answeredByPolicies(was, is verdict.Inbound) []string {
	if was.Program.Equal(is.Program.Program) || len(was.Authorizers())+len(is.Authorizers()) == 0 {
		return nil
	}
	by := attribute.Header(authorizer.Header)
	if is.Protocol.Layer() == policy.L4 {
		by = attribute.SNI
	}
	if !asksBeside(was.Program.Program, by) && !asksBeside(is.Program.Program, by) {
		return nil
	}
	return []string{fmt.Sprintf("the policies of %s ask for %s, by which the authorizer of the lab answers in the place of yours, and the lab does not show what they let in together", is.Inbound, by.Phrase)}
}

// asksBeside reports whether a rule asks for an attribute beside the answer of an authorizer.
func asksBeside(p policy.Program, by *policy.Attribute) bool {
	p.Gates = slices.Clone(p.Gates)
	for i := range p.Gates {
		gate := &p.Gates[i]
		if gate.Asks == nil {
			continue
		}
		gate.Rules = slices.Clone(gate.Rules)
		for j := range gate.Rules {
			if both, ok := gate.Rules[j].When.(policy.And); ok && len(both) == 2 && reflect.DeepEqual(both[1], gate.Refuses) {
				gate.Rules[j].When = both[0]
			}
		}
	}
	for c := range p.Conditions() {
		if asks, ok := c.(policy.Is); ok && asks.Attribute == by {
			return true
		}
	}
	return false
}
