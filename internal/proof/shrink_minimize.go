package proof

import "slices"

// minimize leaves items out as long as take accepts what is kept, none first, then a
// half of them, then ever smaller parts and what is left without one. It is delta
// debugging's ddmin: what is kept in the end cannot do without any single item. Take
// keeps the result.
func minimize[T any](items []T, take func(kept []T) bool) {
	if len(items) == 0 || take(nil) {
		return
	}
	for parts := 2; len(items) > 1; {
		kept, one := smaller(items, parts, take)
		switch {
		case one:
			items, parts = kept, 2
		case kept != nil:
			items, parts = kept, max(parts-1, 2)
		case parts >= len(items):
			return
		default:
			parts = min(2*parts, len(items))
		}
	}
}

// smaller returns one part of the items, or all but one, whatever is taken first, and
// nil where nothing is.
func smaller[T any](items []T, parts int, take func([]T) bool) (kept []T, one bool) {
	bound := func(part int) int { return part * len(items) / parts }
	for part := range parts {
		if some := items[bound(part):bound(part+1)]; take(some) {
			return some, true
		}
	}
	// Of two parts, all but one is the other.
	for part := 0; part < parts && parts > 2; part++ {
		if rest := slices.Concat(items[:bound(part)], items[bound(part+1):]); take(rest) {
			return rest, false
		}
	}
	return nil, false
}
