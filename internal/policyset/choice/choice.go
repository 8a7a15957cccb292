// Package choice makes the choices of drawn sets, one of n at a time, by chance or by the bytes of a fuzzer.
//
// It guarantees that the same seed, or the same bytes, make the same choices on every machine. It does not guarantee that each
// choice is as frequent as the others.
package choice

import (
	"math/bits"
	"math/rand/v2"
	"net/netip"
	"slices"
)

// Chooser makes the choices of a set.
type Chooser struct {
	choose func(n int) int
}

// New returns a chooser whose choices a function makes, each one of n numbers from zero on.
func New(choose func(n int) int) *Chooser { return &Chooser{choose} }

// Random returns the chooser of the set of that number. The sets of neighbouring numbers
// have nothing in common.
func Random(seed, number uint64) *Chooser {
	return New(rand.New(rand.NewPCG(seed, number)).IntN)
}

// OfBytes returns a chooser that makes each choice by one byte, so that changing a byte
// changes one choice. Behind the last byte every choice is the first.
func OfBytes(data []byte) *Chooser {
	return New(func(n int) int {
		if len(data) == 0 {
			return 0
		}
		choice := int(data[0]) % n
		data = data[1:]
		return choice
	})
}

// Choose chooses one of n numbers from zero on.
func (c *Chooser) Choose(n int) int { return c.choose(n) }

// OneIn is true once in n times.
func (c *Chooser) OneIn(n int) bool { return c.choose(n) == n-1 }

// Number chooses a number, both ends included.
func (c *Chooser) Number(least, most int) int { return least + c.choose(most-least+1) }

// UpTo chooses a number from 1 to most. A number of each length in bits is as frequent.
func (c *Chooser) UpTo(most int) int {
	limit := min(1<<(1+c.choose(bits.Len(uint(most)))), most+1)
	return c.Number(limit/2, limit-1)
}

// Letters chooses so many small letters.
func (c *Chooser) Letters(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + c.choose(26))
	}
	return string(b)
}

// Address chooses an address of a workload.
func (c *Chooser) Address() netip.Addr {
	any := func(n int) byte { return byte(c.choose(n)) }
	blocks := [][2]byte{{10, any(256)}, {172, 16 + any(16)}, {192, 168}, {100, 64 + any(64)}, {20 + any(70), any(256)}}
	block := Pick(c, blocks...)
	return netip.AddrFrom4([4]byte{block[0], block[1], any(256), 1 + any(254)})
}

// Pick chooses one of the items.
func Pick[T any](c *Chooser, of ...T) T { return of[c.choose(len(of))] }

// Items makes a number of items, both ends included.
func Items[T any](c *Chooser, least, most int, item func() T) []T {
	out := make([]T, c.Number(least, most))
	for i := range out {
		out[i] = item()
	}
	return out
}

// Shuffled returns the items in another order.
func Shuffled[T any](c *Chooser, items []T) []T {
	out := slices.Clone(items)
	for i := len(out) - 1; i > 0; i-- {
		j := c.choose(i + 1)
		out[i], out[j] = out[j], out[i]
	}
	return out
}
