package classes

import (
	"maps"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// Neighbours returns requests close to the border of a class, on either side of
// it: for each attribute that the class depends on, the witness with another value
// of it, as a sibling, a child, another case. Each can be sent. Those that the rules
// do not tell apart from the witness are in the class, too.
func (c *Cover) Neighbours(class int) []Neighbour {
	of := &c.Classes[class]
	var out []Neighbour
	seen := []policy.Request{of.Witness}
	add := func(r policy.Request, why string) {
		if slices.ContainsFunc(seen, func(s policy.Request) bool { return equal(r, s) }) {
			return
		}
		seen = append(seen, r)
		at, _ := c.Locate(r)
		out = append(out, Neighbour{r, at, why})
	}
	c.otherNames(of, add)
	for d, region := range of.regions {
		if !region.cut {
			continue
		}
		a := c.axes[d]
		if region.key > a.rest {
			for _, v := range a.around(a.patterns[region.key], a.read(&of.Witness)) {
				if a.sound(v.value) == nil {
					r := of.Witness
					a.put(&r, v.value)
					add(r, v.why)
				}
			}
		}
		if d == callers {
			c.otherCallers(of, add)
		}
	}
	for _, n := range c.hidden[int32(class)] {
		add(n.Request, n.Why)
	}
	return out
}

// otherCallers adds those who are no sound SVID: without a name, or with several.
func (c *Cover) otherCallers(of *Class, add func(policy.Request, string)) {
	key := of.regions[callers].key
	a, space := c.axes[callers], c.axes[callers].dimension.(*callerSpace)
	if key <= a.rest {
		r := of.Witness
		r.URIs = nil
		add(r, "no certificate")
	}
	if len(of.Witness.URIs) != 1 {
		return
	}
	for _, other := range []int32{a.rest, a.start} {
		if name := a.witnesses[other]; space.soundID(name) == nil && name != of.Witness.URIs[0] {
			for _, caller := range space.several(of.Witness, of.Witness.URIs[0], name) {
				add(caller, "several names")
			}
			return
		}
	}
}

// equal reports whether two requests are alike in all attributes.
func equal(r, s policy.Request) bool {
	return r.Method == s.Method && r.Path == s.Path && slices.Equal(r.URIs, s.URIs) && slices.Equal(r.DNS, s.DNS) &&
		maps.EqualFunc(r.Others, s.Others, slices.Equal)
}

// hide makes a neighbour of each cell that stands for no class, since the rules
// never come to ask for it: a matcher that others hide is still worth a request.
func (c *Cover) hide(used [dimensions][]bool) {
	for d, a := range c.axes {
		if d != callers && c.layer == policy.L4 {
			continue
		}
		for cell := range a.patterns {
			c.hideCell(d, int32(cell), used[d])
		}
	}
}

func (c *Cover) hideCell(d int, cell int32, used []bool) {
	a := c.axes[d]
	if !a.reachable(cell) || used[cell] {
		return
	}
	var r policy.Request
	for other := range c.axes {
		if other != d && (other == callers || c.layer == policy.L7) {
			c.put(&r, other, c.axes[other].start)
		}
	}
	c.put(&r, d, cell)
	if at, ok := c.Locate(r); ok {
		if c.hidden == nil {
			c.hidden = make(map[int32][]Neighbour)
		}
		c.hidden[int32(at)] = append(c.hidden[int32(at)], Neighbour{Request: r, Why: "a matcher that is never asked: " + c.cellText(d, cell)})
	}
}
