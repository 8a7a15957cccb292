package legacy

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// maxNested bounds the number of runs that are nested in each other. Envoy refuses a
// message with more than 100 levels. A run takes four levels, each call of split takes
// four, and the filter around them takes some too.
const maxNested = 8

// run is a row of items that admit, and the row of items that refuse behind it. A
// client of refused is not admitted. Any other client of admitted is. The runs before
// decide about all other clients.
type run struct {
	admitted, refused policy.Or
}

// compact drops all items before an item for everybody: they decide about no client.
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

// runsOf returns the runs. It drops the refusals before the first admission: without
// them those clients are refused too.
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

// split halves the runs until they can be nested. A client is admitted by the later
// half, or by the earlier half where the later half does not refuse it. The depth
// grows with the logarithm of the number of runs.
func split(runs []run) policy.Condition {
	if len(runs) <= maxNested {
		return nest(runs)
	}
	earlier, later := runs[:len(runs)/2], runs[len(runs)/2:]
	var refused policy.Or
	for _, r := range later {
		refused = append(refused, r.refused...)
	}
	return policy.Or{split(later), dropRefused(split(earlier), refused)}
}

// nest nests the runs: each run contains the runs before it, and is asked first.
func nest(runs []run) policy.Condition {
	var before policy.Condition = policy.Never
	for _, r := range runs {
		anyOf := r.admitted
		if before != policy.Never {
			anyOf = append(slices.Clip(anyOf), before)
		}
		before = dropRefused(simple(anyOf), r.refused)
	}
	return before
}

func dropRefused(c policy.Condition, refused policy.Or) policy.Condition {
	switch {
	case len(refused) == 0:
		return c
	case c == policy.Always:
		return policy.Not{Condition: simple(refused)}
	default:
		return policy.And{policy.Not{Condition: simple(refused)}, c}
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
