package automaton

import "slices"

// price is what a byte costs in a text.
func price(c byte) int32 {
	switch {
	case c >= 'a' && c <= 'z':
		return 4
	case c >= '0' && c <= '9', c == '/', c == '-':
		return 5
	case c == '.', c == ':', c == '_':
		return 7
	case c >= 'A' && c <= 'Z':
		return 8
	case c > ' ' && c < 0x7f:
		return 12
	default:
		return 20
	}
}

// byPrice are all bytes, the cheapest first.
var byPrice = func() (out [256]byte) {
	for c := range out {
		out[c] = byte(c)
	}
	slices.SortStableFunc(out[:], func(a, b byte) int { return int(price(a) - price(b)) })
	return out
}()

// unreachable is farther than the end of any text.
const unreachable = 1 << 30

// measure finds the cheapest way from each node to the end of a text.
func (l *Language) measure() {
	type way struct {
		source int32
		price  int32
	}
	back := make([][]way, len(l.nodes))
	l.bounds = make([]int32, len(l.nodes))
	var open queue
	for i := range l.nodes {
		l.bounds[i] = unreachable
		for _, e := range l.nodes[i].edges {
			cheapest := int32(unreachable)
			for c := int(e.low); c <= int(e.high); c++ {
				cheapest = min(cheapest, price(byte(c)))
			}
			back[e.target] = append(back[e.target], way{int32(i), cheapest})
		}
		if l.nodes[i].accepts {
			l.bounds[i] = 0
			open.push(0, int32(i))
		}
	}
	for len(open) > 0 {
		far, at := open.pop()
		if far > l.bounds[at] {
			continue
		}
		for _, w := range back[at] {
			if next := far + w.price; next < l.bounds[w.source] {
				l.bounds[w.source] = next
				open.push(next, w.source)
			}
		}
	}
}
