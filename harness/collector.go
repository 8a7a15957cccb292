package harness

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/meshproof/meshproof/xds"
)

// collector keeps the access log entries of the callers that are watched. An entry
// of anybody else, say of a canary, is dropped.
type collector struct {
	mu      sync.Mutex
	watched map[netip.AddrPort]*logs
}

// logs are the entries of one connection: of its requests, in the order in which
// Envoy was done with them, and of itself.
type logs struct {
	of         *collector
	requests   []entry
	connection *entry
	// met is closed when what somebody waits for is there; nil where nobody waits.
	met  chan struct{}
	want wanted
}

// wanted is what has to be there.
type wanted struct {
	requests   int
	connection bool
}

type entry struct {
	xds.AccessLog
	came time.Time
}

func newCollector() *collector { return &collector{watched: map[netip.AddrPort]*logs{}} }

func (c *collector) watch(caller netip.AddrPort) *logs {
	l := &logs{of: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watched[caller] = l
	return l
}

func (c *collector) forget(caller netip.AddrPort) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.watched, caller)
}

func (c *collector) entry(e xds.AccessLog) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.watched[e.Caller]
	if l == nil {
		return
	}
	came := entry{e, time.Now()}
	switch {
	case e.Request:
		l.requests = append(l.requests, came)
	case l.connection == nil:
		l.connection = &came
	}
	if l.met != nil && l.missing(l.want) == "" {
		close(l.met)
		l.met = nil
	}
}

// missing names what is wanted and not there.
func (l *logs) missing(w wanted) string {
	switch {
	case len(l.requests) < w.requests:
		return "request"
	case w.connection && l.connection == nil:
		return "connection"
	default:
		return ""
	}
}

// wait returns once what is wanted is there.
func (l *logs) wait(ctx context.Context, w wanted) error {
	l.of.mu.Lock()
	missing := l.missing(w)
	if missing == "" {
		l.of.mu.Unlock()
		return nil
	}
	met := make(chan struct{})
	l.met, l.want = met, w
	l.of.mu.Unlock()
	select {
	case <-met:
		return nil
	case <-ctx.Done():
		l.of.mu.Lock()
		defer l.of.mu.Unlock()
		l.met = nil
		if missing = l.missing(w); missing == "" {
			return nil
		}
		return fmt.Errorf("no access log entry of the %s arrived: %w", missing, context.Cause(ctx))
	}
}

// came returns what is there so far.
func (l *logs) came() (requests []entry, connection *entry) {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	return l.requests, l.connection
}

// surplus counts the entries of requests beyond those that are wanted.
func (l *logs) surplus(w wanted) int {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	return len(l.requests) - w.requests
}

// completed returns the entry of a request together with what the network filters said of
// its connection: Envoy logs each on its own entry.
func completed(request, connection entry) entry {
	request.SetFilters(slices.Concat(connection.Filters, request.Filters))
	if connection.came.After(request.came) {
		request.came = connection.came
	}
	return request
}
