package mutation

import (
	"iter"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// mutations are a condition and its mutants, each with one mistake.
type mutations struct {
	original policy.Condition
	mutants  iter.Seq2[Kind, policy.Condition]
}

// mutatedConditions yields the mutants of a condition. Mutants of the condition itself come
// before mutants of its operands.
func mutatedConditions(c policy.Condition) iter.Seq2[Kind, policy.Condition] {
	return policy.Rewrite(c, policy.Shape[mutations]{
		And: func(operands []mutations) mutations {
			all := policy.And(originals(operands))
			return mutations{all, func(yield func(Kind, policy.Condition) bool) {
				if len(all) > 1 && !yield(AndToOr, policy.Or(all)) {
					return
				}
				for kind, changed := range mutatedOperands(operands) {
					if !yield(kind, policy.And(changed)) {
						return
					}
				}
			}}
		},
		Or: func(operands []mutations) mutations {
			return mutations{policy.Or(originals(operands)), func(yield func(Kind, policy.Condition) bool) {
				for kind, changed := range mutatedOperands(operands) {
					if !yield(kind, policy.Or(changed)) {
						return
					}
				}
			}}
		},
		Not: func(operand mutations) mutations {
			return mutations{policy.Not{Of: operand.original}, func(yield func(Kind, policy.Condition) bool) {
				for kind, changed := range operand.mutants {
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

func originals(operands []mutations) []policy.Condition {
	out := make([]policy.Condition, len(operands))
	for i := range operands {
		out[i] = operands[i].original
	}
	return out
}

// mutatedOperands yields the operands with one mistake in one of them.
func mutatedOperands(operands []mutations) iter.Seq2[Kind, []policy.Condition] {
	return func(yield func(Kind, []policy.Condition) bool) {
		all := originals(operands)
		for i := range operands {
			for kind, operand := range operands[i].mutants {
				changed := slices.Clone(all)
				changed[i] = operand
				if !yield(kind, changed) {
					return
				}
			}
		}
	}
}
