package mutation

import (
	"iter"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// mutations are a condition and what becomes of it by each mistake that one can make
// in it.
type mutations struct {
	original policy.Condition
	mutants  iter.Seq2[Kind, policy.Condition]
}

// mutatedConditions yields a condition with each mistake that one can make in it, the
// mistakes of a condition before those of its operands.
func mutatedConditions(c policy.Condition) iter.Seq2[Kind, policy.Condition] {
	return policy.Rewrite(c, policy.Shape[mutations]{
		And: func(of []mutations) mutations {
			whole := policy.And(originals(of))
			return mutations{whole, func(yield func(Kind, policy.Condition) bool) {
				if len(whole) > 1 && !yield(AndToOr, policy.Or(whole)) {
					return
				}
				for kind, changed := range mutatedOperands(of) {
					if !yield(kind, policy.And(changed)) {
						return
					}
				}
			}}
		},
		Or: func(of []mutations) mutations {
			return mutations{policy.Or(originals(of)), func(yield func(Kind, policy.Condition) bool) {
				for kind, changed := range mutatedOperands(of) {
					if !yield(kind, policy.Or(changed)) {
						return
					}
				}
			}}
		},
		Not: func(of mutations) mutations {
			return mutations{policy.Not{Of: of.original}, func(yield func(Kind, policy.Condition) bool) {
				for kind, changed := range of.mutants {
					if !yield(kind, policy.Not{Of: changed}) {
						return
					}
				}
			}}
		},
		Leaf: func(c policy.Condition) mutations {
			return mutations{c, func(yield func(Kind, policy.Condition) bool) {
				if is, ok := c.(policy.Is); ok && is.Match.Kind == policy.Exact {
					for _, kind := range is.Attribute.Kinds {
						if kind != policy.Exact && !yield(ExactToPrefix, policy.Is{Attribute: is.Attribute, Match: policy.Match{Kind: kind, Value: is.Match.Value}}) {
							return
						}
					}
				}
			}}
		},
	}).mutants
}

func originals(of []mutations) []policy.Condition {
	out := make([]policy.Condition, len(of))
	for i := range of {
		out[i] = of[i].original
	}
	return out
}

// mutatedOperands yields the operands with each mistake in one of them.
func mutatedOperands(of []mutations) iter.Seq2[Kind, []policy.Condition] {
	return func(yield func(Kind, []policy.Condition) bool) {
		whole := originals(of)
		for i := range of {
			for kind, operand := range of[i].mutants {
				changed := slices.Clone(whole)
				changed[i] = operand
				if !yield(kind, changed) {
					return
				}
			}
		}
	}
}
