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
