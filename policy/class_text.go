package policy

import (
	"fmt"
	"slices"
	"strings"
)

// named is how many of the patterns inside a region its text names.
const named = 3

// String says which requests are of the class.
func (c Class) String() string {
	var parts []string
	for d, r := range c.regions {
		if r.cut {
			parts = append(parts, c.region(d, r.key))
		}
	}
	if len(parts) == 0 {
		return "every request"
	}
	return strings.Join(parts, ", ")
}

func (c Class) region(d int, key int32) string {
	a := c.cover.axes[d]
	inside := c.inside(d, key)
	if key == 0 && !slices.Contains(inside, a.rest) {
		key = a.rest
	}
	text := c.cover.cellText(d, key)
	if len(inside) == 0 || key <= a.rest {
		return text
	}
	var less []string
	for _, cell := range inside[:min(named, len(inside))] {
		less = append(less, strings.TrimPrefix(a.describe(a.patterns[cell]), strings.SplitAfter(text, " ")[0]))
	}
	if len(inside) > named {
		less = append(less, fmt.Sprintf("%d more", len(inside)-named))
	}
	return text + " but not " + strings.Join(less, ", ")
}

// inside returns the patterns inside a key whose requests are of other classes: the
// outermost of those that the class was held against.
func (c Class) inside(d int, key int32) []int32 {
	a := c.cover.axes[d]
	var inside []int32
	for at := c.parent; at != nobody; at = c.cover.nodes[^at].parent {
		n := &c.cover.nodes[^at]
		if n.dimension != d {
			continue
		}
		for _, cell := range n.keys {
			if cell != key && a.covers(key, cell) {
				inside = append(inside, cell)
			}
		}
	}
	slices.Sort(inside)
	out := inside[:0]
	for _, cell := range inside {
		if len(out) == 0 || !a.covers(out[len(out)-1], cell) {
			out = append(out, cell)
		}
	}
	return out
}

func (c *Cover) cellText(d int, cell int32) string {
	switch a := c.axes[d]; {
	case d != callers && cell == 0:
		return "any other " + a.name()
	case cell == a.rest:
		return "any other identity"
	case cell == 0:
		return "no URI SAN"
	default:
		return a.describe(a.patterns[cell])
	}
}
