package legacy

import (
	"errors"
	"slices"
)

// maxSteps bounds the search of [LostDeny].
const maxSteps = 2_000_000

// ErrUnsearched says that the search of [LostDeny] ended before it had looked at all items.
var ErrUnsearched = errors.New("the items are too many to search all")

// LostDeny finds a client that the items deny and that Kuma lets in since 2.7.21, 2.9.11, 2.10.10, 2.11.9, 2.12.6, 2.13.1 and
// 2.14.0. Those releases make one view of each largest group of items that can name one client together. They let a client in
// where one of the views does. A view asks for no tag but those of its own group, so that it lets in clients of an item of
// another group. The client has the tags of two items: denier denies it, and allower lets it in.
//
// A certificate with two values of one tag is left out: these releases let such a client in where any item does.
//
// The error is [ErrUnsearched]: then the denier is the first item that may be lost.
func LostDeny(items []Item) (denier, allower int, ok bool, err error) {
	s := lostSearch{items: items, steps: maxSteps}
	for d := range items {
		for a := range items[:d] {
			if !items[d].Action.Allows() && items[a].Action.Allows() && !s.conflict(a, d) && s.loses(a, d) {
				return d, a, true, nil
			}
			if s.steps < 0 {
				return d, a, false, ErrUnsearched
			}
		}
	}
	return 0, 0, false, nil
}

type lostSearch struct {
	items []Item
	steps int
}

// loses reports whether the client with the tags of both items is denied by the later one, d, and let in by a view in which the
// earlier one, a, is the last item that names it.
func (s *lostSearch) loses(a, d int) bool {
	var outside []int
	for i := len(s.items) - 1; i > a; i-- {
		if s.steps--; s.steps < 0 {
			return false
		}
		switch {
		case !hasAllTags(s.items[i], s.items[a], s.items[d]):
		case i > d, !s.items[i].Action.Allows() && hasAllTags(s.items[i], s.items[a]):
			return false
		case !s.items[i].Action.Allows():
			outside = append(outside, i)
		}
	}
	return s.keepsOut([]int{a}, outside)
}

// keepsOut reports whether there is a group with the items of inside and none of outside: each of those has to conflict with an
// item of the group.
func (s *lostSearch) keepsOut(inside, outside []int) bool {
	first := slices.IndexFunc(outside, func(o int) bool {
		return !slices.ContainsFunc(inside, func(i int) bool { return s.conflict(i, o) })
	})
	if first < 0 {
		return true
	}
	for k := range s.items {
		if s.steps--; s.steps < 0 {
			return false
		}
		fits := !slices.ContainsFunc(inside, func(i int) bool { return s.conflict(i, k) })
		if fits && s.conflict(k, outside[first]) && s.keepsOut(append(slices.Clip(inside), k), outside[first+1:]) {
			return true
		}
	}
	return false
}

// conflict reports whether no client with one value of each tag is named by both items.
func (s *lostSearch) conflict(i, k int) bool {
	return slices.ContainsFunc(s.items[i].Tags, func(t Tag) bool { return slices.ContainsFunc(s.items[k].Tags, t.excludes) })
}

// hasAllTags reports whether a client with the tags of the others has all tags of the item.
func hasAllTags(i Item, others ...Item) bool {
	return !slices.ContainsFunc(i.Tags, func(t Tag) bool {
		return !slices.ContainsFunc(others, func(o Item) bool { return slices.Contains(o.Tags, t) })
	})
}
