package policyset

import (
	"math/rand/v2"
	"slices"
)

// chooser makes the choices of a set, one of n at a time.
type chooser struct {
	choose func(n int) int
}

// random returns the chooser of the set of that number. The sets of neighbouring numbers
// have nothing in common.
func random(seed, number uint64) *chooser {
	r := rand.New(rand.NewPCG(seed, number))
	return &chooser{r.IntN}
}

// ofBytes returns a chooser that makes each choice by one byte, so that changing a byte
// changes one choice. Behind the last byte every choice is the first.
func ofBytes(data []byte) *chooser {
	return &chooser{func(n int) int {
		if len(data) == 0 {
			return 0
		}
		choice := int(data[0]) % n
		data = data[1:]
		return choice
	}}
}

// oneIn is true once in n times.
func (c *chooser) oneIn(n int) bool { return c.choose(n) == n-1 }

// number chooses a number, both ends included.
func (c *chooser) number(least, most int) int { return least + c.choose(most-least+1) }

// pick chooses one of the items.
func pick[T any](c *chooser, of ...T) T { return of[c.choose(len(of))] }

// oddly chooses one of the usual items, seldom an odd one.
func oddly(c *chooser, usual, odd []string) string {
	if c.oneIn(8) {
		usual = odd
	}
	return pick(c, usual...)
}

// items makes a number of items, both ends included.
func items[T any](c *chooser, least, most int, item func() T) []T {
	out := make([]T, c.number(least, most))
	for i := range out {
		out[i] = item()
	}
	return out
}

// shuffled returns the items in another order.
func shuffled[T any](c *chooser, items []T) []T {
	out := slices.Clone(items)
	for i := len(out) - 1; i > 0; i-- {
		j := c.choose(i + 1)
		out[i], out[j] = out[j], out[i]
	}
	return out
}
