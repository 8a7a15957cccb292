// Package rewrite turns conditions into other things: other conditions, messages of
// Envoy, counts.
//
// It guarantees that each part of a condition is turned once, the operands first. It adds
// no meaning of its own.
package rewrite

import "github.com/meshproof/meshproof/policy"

// Shape says what [Condition] makes of each kind of condition.
type Shape[T any] struct {
	// And and Or take what became of the operands.
	And, Or func(of []T) T
	// Not takes what became of its condition.
	Not func(of T) T
	// Leaf takes a [policy.Is] or a [policy.Constant]. A missing condition is [policy.Never].
	Leaf func(c policy.Condition) T
}

// Condition turns a condition into something else, the operands before what holds them.
func Condition[T any](c policy.Condition, to Shape[T]) T { return rewrite(c, &to) }

func rewrite[T any](c policy.Condition, to *Shape[T]) T {
	switch c := c.(type) {
	case nil:
		return to.Leaf(policy.Never)
	case policy.And:
		return to.And(rewriteAll(c, to))
	case policy.Or:
		return to.Or(rewriteAll(c, to))
	case policy.Not:
		return to.Not(rewrite(c.Condition, to))
	default:
		return to.Leaf(c)
	}
}

func rewriteAll[T any](cs []policy.Condition, to *Shape[T]) []T {
	out := make([]T, len(cs))
	for i, c := range cs {
		out[i] = rewrite(c, to)
	}
	return out
}

// Leaves is the shape of a condition whose leaves are changed one by one.
func Leaves(change func(leaf policy.Condition) policy.Condition) Shape[policy.Condition] {
	return Shape[policy.Condition]{
		And:  func(of []policy.Condition) policy.Condition { return policy.And(of) },
		Or:   func(of []policy.Condition) policy.Condition { return policy.Or(of) },
		Not:  func(of policy.Condition) policy.Condition { return policy.Not{Condition: of} },
		Leaf: change,
	}
}
