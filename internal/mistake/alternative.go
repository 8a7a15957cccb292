package mistake

import (
	"iter"

	"github.com/meshproof/meshproof/policy"
)

// ends yields the first and the last indexes of a list. In a long one they show as much as all.
func ends(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if (i < kindLimit/2 || i >= n-kindLimit/2) && !yield(i) {
				return
			}
		}
	}
}

// value is what a rule compares an attribute with.
type value struct {
	rule int
	is   policy.Is
}

// values are those that rules compare each attribute with: two for each, of two rules where there are two.
type values map[*policy.Attribute][]value

// valuesAsked returns the values of a list of rules.
func valuesAsked(rules []policy.Rule) values {
	out := values{}
	for i, rule := range rules {
		if rule.When == nil {
			continue
		}
		for c := range policy.Walk(rule.When) {
			is, ok := c.(policy.Is)
			if !ok || is.Attribute == nil {
				continue
			}
			known := out[is.Attribute]
			if len(known) == 0 || len(known) == 1 && known[0].rule != i && known[0].is.Match != is.Match {
				out[is.Attribute] = append(known, value{i, is})
			}
		}
	}
	return out
}

// besides returns a function that gives a value which another rule than the one at the index compares an
// attribute with, and false where there is none.
func (v values) besides(rule int) func(policy.Is) (policy.Is, bool) {
	return func(is policy.Is) (policy.Is, bool) {
		for _, of := range v[is.Attribute] {
			if of.rule != rule && of.is.Match != is.Match {
				return of.is, true
			}
		}
		return policy.Is{}, false
	}
}
