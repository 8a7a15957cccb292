package mutation

import (
	"iter"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// mutatedConditions yields a condition with each mistake that one can make in it.
func mutatedConditions(c policy.Condition) iter.Seq2[Kind, policy.Condition] {
	return func(yield func(Kind, policy.Condition) bool) {
		switch c := c.(type) {
		case policy.Identity:
			if c.Kind == policy.Exact {
				yield(ExactToPrefix, policy.Identity{Kind: policy.Prefix, Value: c.Value})
			}
		case policy.URI:
			if c.Kind == policy.Exact {
				yield(ExactToPrefix, policy.URI{Kind: policy.Prefix, Value: c.Value})
			}
		case policy.Path:
			if c.Kind == policy.Exact {
				yield(ExactToPrefix, policy.Path{Kind: policy.Prefix, Value: c.Value})
			}
		case policy.And:
			if len(c) > 1 && !yield(AndToOr, policy.Or(c)) {
				return
			}
			for i := range c {
				for kind, of := range mutatedConditions(c[i]) {
					changed := slices.Clone(c)
					changed[i] = of
					if !yield(kind, changed) {
						return
					}
				}
			}
		case policy.Or:
			for i := range c {
				for kind, of := range mutatedConditions(c[i]) {
					changed := slices.Clone(c)
					changed[i] = of
					if !yield(kind, changed) {
						return
					}
				}
			}
		case policy.Not:
			for kind, of := range mutatedConditions(c.Of) {
				if !yield(kind, policy.Not{Of: of}) {
					return
				}
			}
		}
	}
}
