package classes

import (
	"fmt"
	"slices"
	"strings"
)

// String counts the classes, and the cells of each dimension. Where there is one dimension it says that
// several cells are one class, because a table has a row for each class.
func (c *Cover) String() string {
	text := fmt.Sprintf("%d classes of requests", len(c.Classes))
	if len(c.Classes) == 1 {
		text = "1 class of requests"
	}
	var cells []string
	for _, d := range c.Dimensions {
		cells = append(cells, fmt.Sprintf("%s: %d", d.Name, d.Cells))
	}
	if len(c.Dimensions) == 1 && c.Dimensions[0].Cells > len(c.Classes) {
		cells[0] += ", of which some are decided alike"
	}
	if len(cells) > 0 {
		text += " (cells by " + strings.Join(cells, ", by ") + ")"
	}
	if !c.Complete() {
		text += "; sampled: " + strings.Join(c.Sampled, "; ")
	}
	return text
}

// mostNamed is how many of the patterns inside a region its text names.
const mostNamed = 3

// String says which requests are of the class.
func (c Class) String() string {
	if c.cover.regular != nil {
		return c.cover.regular.describe(int(c.self))
	}
	var parts []string
	if text := c.callers(); text != "" {
		parts = append(parts, text)
	}
	for d, r := range c.regions() {
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
	inside := c.innerPatterns(d, key)
	if key == 0 && !slices.Contains(inside, a.rest) {
		key = a.rest
	}
	text := c.cover.cellText(d, key)
	if len(inside) == 0 || key <= a.rest {
		return text
	}
	return text + " but not " + describeSome(inside, func(cell int32) string {
		return strings.TrimPrefix(a.describe(a.patterns[cell]), strings.SplitAfter(text, " ")[0])
	})
}

// describeSome describes the first of the cells, and counts the others.
func describeSome(cells []int32, describe func(int32) string) string {
	var out []string
	for _, cell := range cells[:min(mostNamed, len(cells))] {
		out = append(out, describe(cell))
	}
	if len(cells) > mostNamed {
		out = append(out, fmt.Sprintf("%d more", len(cells)-mostNamed))
	}
	return strings.Join(out, ", ")
}

// callers says which callers are in a class, by what they were asked as sets of names.
func (c Class) callers() string {
	n := c.cover.names
	present, absent := c.asked()
	absent = slices.DeleteFunc(absent, func(cell int32) bool { return n.pick(cell) < 0 })
	if len(present)+len(absent) == 0 {
		return ""
	}
	describe := func(cell int32) string { return n.describe(n.patterns[cell]) }
	var with []string
	for _, cell := range n.innermost(present) {
		with = append(with, describe(cell))
	}
	absent = n.outermost(absent)
	switch {
	case len(with) == 0:
		return "callers without " + describeSome(absent, describe)
	case len(absent) == 0:
		return "callers with " + strings.Join(with, " and ")
	default:
		return "callers with " + strings.Join(with, " and ") + " but not " + describeSome(absent, describe)
	}
}

// innerPatterns returns the patterns inside a key whose requests are in other classes: the
// outermost of the patterns that the class was compared with.
func (c Class) innerPatterns(d int, key int32) []int32 {
	a := c.cover.axes[d]
	var inside []int32
	for at := c.parent; at != noRef; at = c.cover.nodes[^at].parent {
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
	case d == callers && c.names != nil:
		if cell == 0 {
			return "any other name"
		}
		return "name " + a.describe(a.patterns[cell])
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
