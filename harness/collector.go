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

// collector keeps the access log entries of the callers that are watched. It drops other
// entries, for instance those of a canary.
type collector struct {
	mu      sync.Mutex
	watched map[netip.AddrPort]*logs
	traces  map[netip.AddrPort]*trace
}

// logs are the access log entries of one connection: the entries of its requests, in Envoy's
// order, and the entry of the connection itself.
type logs struct {
	collector  *collector
	requests   []entry
	connection *entry
	// asked counts what the authorizer of the lab was asked about the connection.
	asked int
	// arrived is closed when all wanted entries are there. It is nil while nothing waits.
	arrived chan struct{}
	want    wanted
}

// wanted says which entries must come.
type wanted struct {
	requests   int
	connection bool
}

type entry struct {
	xds.AccessLog
	came time.Time
}

func newCollector() *collector {
	return &collector{watched: map[netip.AddrPort]*logs{}, traces: map[netip.AddrPort]*trace{}}
}

func (c *collector) watch(caller netip.AddrPort) *logs {
	l := &logs{collector: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watched[caller] = l
	return l
}

func (c *collector) unwatch(caller netip.AddrPort) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.watched, caller)
}

func (c *collector) add(e xds.AccessLog) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.traces[e.Caller]; t != nil {
		t.addInbound(e)
	}
	l := c.watched[e.Caller]
	if l == nil {
		return
	}
	switch {
	case e.Request:
		l.requests = append(l.requests, entry{e, time.Now()})
	case l.connection == nil:
		l.connection = &entry{e, time.Now()}
	}
	if l.arrived != nil && l.missing(l.want) == "" {
		close(l.arrived)
		l.arrived = nil
	}
}

// ask notes that the authorizer of the lab was asked about a caller.
func (c *collector) ask(caller netip.AddrPort) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.watched[caller]; l != nil {
		l.asked++
	}
}

// missing names the kind of entry that is wanted and not there, "" for none.
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

// wait returns when the wanted entries are there.
func (l *logs) wait(ctx context.Context, w wanted) error {
	l.collector.mu.Lock()
	missing := l.missing(w)
	if missing == "" {
		l.collector.mu.Unlock()
		return nil
	}
	met := make(chan struct{})
	l.arrived, l.want = met, w
	l.collector.mu.Unlock()
	select {
	case <-met:
		return nil
	case <-ctx.Done():
		l.collector.mu.Lock()
		defer l.collector.mu.Unlock()
		l.arrived = nil
		if missing = l.missing(w); missing == "" {
			return nil
		}
		return fmt.Errorf("no access log entry of the %s arrived: %w", missing, context.Cause(ctx))
	}
}

// entries returns the entries that are there.
func (l *logs) entries() (requests []entry, connection *entry) {
	l.collector.mu.Lock()
	defer l.collector.mu.Unlock()
	return l.requests, l.connection
}

// timesAsked returns what the authorizer of the lab was asked about the connection.
func (l *logs) timesAsked() int {
	l.collector.mu.Lock()
	defer l.collector.mu.Unlock()
	return l.asked
}

// surplus counts the entries of requests that are not wanted.
func (l *logs) surplus(w wanted) int {
	l.collector.mu.Lock()
	defer l.collector.mu.Unlock()
	return len(l.requests) - w.requests
}

// withConnectionFilters returns the entry of a request, with the decisions of the network
// filters on its connection: Envoy logs these in the entry of the connection.
func withConnectionFilters(request, connection entry) entry {
	request.SetFilters(slices.Concat(connection.Filters, request.Filters))
	if connection.came.After(request.came) {
		request.came = connection.came
	}
	return request
}
