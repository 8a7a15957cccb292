package automaton

// queue has numbers by their price, the cheapest first, the last one of the same price
// first. It is a heap.
type queue []entry

type entry struct {
	price, node int32
}

func (e entry) precedes(f entry) bool {
	return e.price < f.price || e.price == f.price && e.node > f.node
}

func (q *queue) push(price, at int32) {
	*q = append(*q, entry{price, at})
	h := *q
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].precedes(h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (q *queue) pop() (price, at int32) {
	h := *q
	top := h[0]
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		next := 2*i + 1
		if next >= last {
			break
		}
		if next+1 < last && h[next+1].precedes(h[next]) {
			next++
		}
		if !h[next].precedes(h[i]) {
			break
		}
		h[i], h[next] = h[next], h[i]
		i = next
	}
	*q = h
	return top.price, top.node
}
