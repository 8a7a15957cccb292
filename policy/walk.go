package policy

import "iter"

// Walk yields a condition and all conditions inside it, each before its operands. A
// missing condition yields nothing.
func Walk(c Condition) iter.Seq[Condition] {
	return func(yield func(Condition) bool) { walk(c, yield) }
}

func walk(c Condition, yield func(Condition) bool) bool {
	if c == nil {
		return true
	}
	if !yield(c) {
		return false
	}
	switch c := c.(type) {
	case And:
		return walkAll(c, yield)
	case Or:
		return walkAll(c, yield)
	case Not:
		return walk(c.Of, yield)
	default:
		return true
	}
}

func walkAll(cs []Condition, yield func(Condition) bool) bool {
	for _, c := range cs {
		if !walk(c, yield) {
			return false
		}
	}
	return true
}

// Shape says what [Rewrite] makes of each kind of condition.
type Shape[T any] struct {
	// And and Or take what became of the operands.
	And, Or func(of []T) T
	// Not takes what became of its condition.
	Not func(of T) T
	// Leaf takes an [Is] or a [Constant]. A missing condition is [Never].
	Leaf func(c Condition) T
}

// Rewrite turns a condition into something else, the operands before what holds them.
func Rewrite[T any](c Condition, to Shape[T]) T { return rewrite(c, &to) }

func rewrite[T any](c Condition, to *Shape[T]) T {
	switch c := c.(type) {
	case nil:
		return to.Leaf(Never)
	case And:
		return to.And(rewriteAll(c, to))
	case Or:
		return to.Or(rewriteAll(c, to))
	case Not:
		return to.Not(rewrite(c.Of, to))
	default:
		return to.Leaf(c)
	}
}

func rewriteAll[T any](cs []Condition, to *Shape[T]) []T {
	out := make([]T, len(cs))
	for i, c := range cs {
		out[i] = rewrite(c, to)
	}
	return out
}

// Leaves is the shape of a condition whose leaves are changed one by one.
func Leaves(change func(leaf Condition) Condition) Shape[Condition] {
	return Shape[Condition]{
		And:  func(of []Condition) Condition { return And(of) },
		Or:   func(of []Condition) Condition { return Or(of) },
		Not:  func(of Condition) Condition { return Not{Of: of} },
		Leaf: change,
	}
}
