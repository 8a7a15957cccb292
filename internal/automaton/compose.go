package automaton

// Parted returns the texts that have a text of one language in front of the first mark, and a
// text of another language behind it. With optional, texts without a mark count too.
func Parted(front *Language, mark byte, behind *Language, optional bool) *Language {
	var d draft
	at := d.take(front)
	from := d.take(behind)
	for i := range front.nodes {
		n := &d.nodes[int(at)+i]
		n.edges = cut(n.edges, mark)
		if n.accepts {
			n.accepts = optional
			for _, start := range behind.starts {
				n.edges = append(n.edges, edge{mark, mark, from + start})
			}
		}
	}
	return d.finish(shifted(front.starts, at))
}

// Following returns the texts that are a text of one language with a text of another behind it.
func Following(front, behind *Language) *Language {
	var d draft
	at := d.take(front)
	from := d.take(behind)
	starts := shifted(front.starts, at)
	for i := range front.nodes {
		n := &d.nodes[int(at)+i]
		for _, e := range n.edges {
			if front.nodes[e.target-at].accepts {
				for _, start := range behind.starts {
					n.edges = append(n.edges, edge{e.low, e.high, from + start})
				}
			}
		}
		n.accepts = false
	}
	for _, start := range front.starts {
		if front.nodes[start].accepts {
			starts = append(starts, shifted(behind.starts, from)...)
			break
		}
	}
	return d.finish(starts)
}

// Lines returns texts of one line or more, each with the mark behind it: those whose lines,
// joined by the separator, are a text of the language. No line has the mark within it.
func Lines(of *Language, separator, mark byte) *Language {
	var d draft
	at := d.take(of)
	end := d.add(true)
	for i := range of.nodes {
		n := &d.nodes[int(at)+i]
		n.edges = cut(n.edges, mark)
		for _, e := range n.edges {
			if e.low <= separator && separator <= e.high {
				n.edges = append(n.edges, edge{mark, mark, e.target})
			}
		}
		if n.accepts {
			n.accepts = false
			n.edges = append(n.edges, edge{mark, mark, end})
		}
	}
	return d.finish(shifted(of.starts, at))
}

// AnyOf returns the texts of two languages.
func AnyOf(a, b *Language) *Language {
	var d draft
	return d.finish(append(shifted(a.starts, d.take(a)), shifted(b.starts, d.take(b))...))
}

// take copies the nodes of a language, and returns the number of the first.
func (d *draft) take(l *Language) int32 {
	first := int32(len(d.nodes))
	for _, n := range l.nodes {
		at := d.add(n.accepts)
		for _, e := range n.edges {
			d.join(at, first+e.target, e.low, e.high)
		}
	}
	return first
}

func shifted(nodes []int32, by int32) []int32 {
	out := make([]int32, len(nodes))
	for i, at := range nodes {
		out[i] = at + by
	}
	return out
}

// cut takes a byte off all edges.
func cut(edges []edge, c byte) (out []edge) {
	for _, e := range edges {
		if c < e.low || c > e.high {
			out = append(out, e)
			continue
		}
		if e.low < c {
			out = append(out, edge{e.low, c - 1, e.target})
		}
		if c < e.high {
			out = append(out, edge{c + 1, e.high, e.target})
		}
	}
	return out
}
