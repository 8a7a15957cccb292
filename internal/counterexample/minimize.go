package counterexample

import "slices"

// minimize leaves out items while take accepts the rest. It tries no item at all, then
// halves, then smaller parts and all without one part (ddmin of delta debugging). In the
// end no single item can be left out. The function take keeps what it accepts.
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

// smaller returns the first that take accepts: one part of the items, or all items
// without one part. It returns nil where take accepts nothing.
func smaller[T any](items []T, parts int, take func([]T) bool) (kept []T, one bool) {
	bound := func(part int) int { return part * len(items) / parts }
	for part := range parts {
		if some := items[bound(part):bound(part+1)]; take(some) {
			return some, true
		}
	}
	// Of two parts, all without one is the other part: it was tried.
	for part := 0; part < parts && parts > 2; part++ {
		if rest := slices.Concat(items[:bound(part)], items[bound(part+1):]); take(rest) {
			return rest, false
		}
	}
	return nil, false
}
