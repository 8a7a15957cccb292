// Package progress counts the requests of a long run, while it goes on, and says what it does
// before the first one.
//
// It guarantees that a count never goes back, and that a run without a counter costs
// nothing. It prints nothing; package terminal does.
package progress

import (
	"context"
	"sync/atomic"
)

// Counter counts requests. It is safe for concurrent use.
type Counter struct {
	asked, due atomic.Int64
	doing      atomic.Value // string
}

// Doing returns what is being done that takes long and asks no request, or "".
func (c *Counter) Doing() string {
	doing, _ := c.doing.Load().(string)
	return doing
}

// Asked returns how many requests were asked, and of how many; due is 0 where that is not
// known.
func (c *Counter) Asked() (asked, due int64) {
	asked, due = c.asked.Load(), c.due.Load()
	if asked > due {
		due = 0
	}
	return asked, due
}

type key struct{}

// WithCounter returns a context whose requests the counter counts.
func WithCounter(ctx context.Context, c *Counter) context.Context {
	return context.WithValue(ctx, key{}, c)
}

// Do tells the counter of the context what is being done; "" is the end of it.
func Do(ctx context.Context, what string) {
	if c, ok := ctx.Value(key{}).(*Counter); ok {
		c.doing.Store(what)
	}
}

// Expect tells the counter of the context that so many requests are due.
func Expect(ctx context.Context, requests int) {
	if c, ok := ctx.Value(key{}).(*Counter); ok {
		c.due.Add(int64(requests))
	}
}

// Ask tells the counter of the context that a request was asked.
func Ask(ctx context.Context) {
	if c, ok := ctx.Value(key{}).(*Counter); ok {
		c.asked.Add(1)
	}
}
