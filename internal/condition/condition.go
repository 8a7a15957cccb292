// Package condition joins conditions to one.
//
// It guarantees that the result has no list of one and no list in a list of its kind, so that
// programs read well. It adds no meaning of its own.
package condition

import "github.com/meshproof/meshproof/policy"

// All returns the condition that all conditions hold. Without conditions it always holds.
func All(cs []policy.Condition) policy.Condition {
	var all policy.And
	for _, c := range cs {
		if and, ok := c.(policy.And); ok {
			all = append(all, and...)
		} else {
			all = append(all, c)
		}
	}
	switch len(all) {
	case 0:
		return policy.Always
	case 1:
		return all[0]
	default:
		return all
	}
}

// Both returns the condition that two conditions hold, without a part that always does. It never
// holds where one of them never does.
func Both(a, b policy.Condition) policy.Condition {
	switch {
	case IsNever(a) || IsNever(b):
		return policy.Never
	case a == policy.Condition(policy.Always):
		return b
	case b == policy.Condition(policy.Always):
		return a
	default:
		return All([]policy.Condition{a, b})
	}
}

// IsNever reports whether a condition is [policy.Never].
func IsNever(c policy.Condition) bool { return c == policy.Condition(policy.Never) }

// Any returns the condition that one of the conditions holds. Without conditions it never
// holds.
func Any(cs []policy.Condition) policy.Condition {
	var all policy.Or
	for _, c := range cs {
		if or, ok := c.(policy.Or); ok {
			all = append(all, or...)
		} else {
			all = append(all, c)
		}
	}
	switch len(all) {
	case 0:
		return policy.Never
	case 1:
		return all[0]
	default:
		return all
	}
}

// None returns the condition that none of the conditions holds. Without conditions it always
// holds.
func None(cs []policy.Condition) policy.Condition {
	if len(cs) == 0 {
		return policy.Always
	}
	return policy.Not{Condition: Any(cs)}
}
