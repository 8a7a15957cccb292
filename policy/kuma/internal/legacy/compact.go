package legacy

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// maxNested bounds how many runs are nested in each other. Envoy refuses a message
// with more than 100 levels; a run takes four, as does each halving before, and
// what stands around the runs has to fit too.
const maxNested = 8

// run is what a row of items with one verdict amounts to, and the row of refusing
// items behind it: who meets one of refused is not admitted, then who meets one of
// admitted is, and what came before decides about everybody else.
type run struct {
	admitted, refused policy.Or
}

// compact drops what an item for everybody hides: all items before it.
func compact(items []Item) program {
	for i, item := range slices.Backward(items) {
		if len(item.Tags) == 0 {
			items = items[i:]
			break
		}
	}
	whens := make([]policy.Condition, len(items))
	for i, item := range items {
		whens[i] = item.condition()
	}
	return func(admits func(Action) bool) []policy.Condition {
		runs := runsOf(items, whens, admits)
		if len(runs) == 0 {
			return nil
		}
		return []policy.Condition{split(runs)}
	}
}

// runsOf drops the refusals in front: before the first admission there is nothing
// to refuse.
func runsOf(items []Item, whens []policy.Condition, admits func(Action) bool) []run {
	var out []run
	for i, item := range items {
		admitted := admits(item.Action)
		if admitted && (len(out) == 0 || len(out[len(out)-1].refused) > 0) {
			out = append(out, run{})
		}
		if len(out) == 0 {
			continue
		}
		last := &out[len(out)-1]
		if admitted {
			last.admitted = append(last.admitted, whens[i])
		} else {
			last.refused = append(last.refused, whens[i])
		}
	}
	return out
}

// split halves the runs until they can be nested: the later half admits, or it
// refuses nobody of those whom the earlier half admits. The depth grows with the
// logarithm of the number of runs.
func split(runs []run) policy.Condition {
	if len(runs) <= maxNested {
		return nest(runs)
	}
	earlier, later := runs[:len(runs)/2], runs[len(runs)/2:]
	var refused policy.Or
	for _, r := range later {
		refused = append(refused, r.refused...)
	}
	return policy.Or{split(later), without(split(earlier), refused)}
}

// nest walks from the first run to the last: each is asked before those that it
// holds.
func nest(runs []run) policy.Condition {
	var before policy.Condition = policy.Never
	for _, r := range runs {
		anyOf := r.admitted
		if before != policy.Never {
			anyOf = append(slices.Clip(anyOf), before)
		}
		before = without(simple(anyOf), r.refused)
	}
	return before
}

func without(c policy.Condition, refused policy.Or) policy.Condition {
	switch {
	case len(refused) == 0:
		return c
	case c == policy.Always:
		return policy.Not{Of: simple(refused)}
	default:
		return policy.And{policy.Not{Of: simple(refused)}, c}
	}
}

func simple(anyOf policy.Or) policy.Condition {
	switch {
	case len(anyOf) == 1:
		return anyOf[0]
	case slices.Contains(anyOf, policy.Condition(policy.Always)):
		return policy.Always
	default:
		return anyOf
	}
}
