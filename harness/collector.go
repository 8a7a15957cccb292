package harness

import (
	"context"
	"fmt"
	"net/netip"
	"sync"

	"github.com/meshproof/meshproof/xds"
)

// collector hands each access log entry to whoever waits for its caller. An
// entry of anybody else, say of a canary, is dropped.
type collector struct {
	mu      sync.Mutex
	watched map[netip.AddrPort]*logs
}

// logs are the two entries that one caller can leave.
type logs struct{ request, connection chan xds.AccessLog }

func newCollector() *collector { return &collector{watched: map[netip.AddrPort]*logs{}} }

func (c *collector) watch(caller netip.AddrPort) *logs {
	l := &logs{request: make(chan xds.AccessLog, 1), connection: make(chan xds.AccessLog, 1)}
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
	to := l.connection
	if e.Request {
		to = l.request
	}
	select {
	case to <- e:
	default:
		// A caller has one request on one connection; the first entry stands.
	}
}

// take waits for the entry of the request, or of the connection where there was
// no request.
func (l *logs) take(ctx context.Context, request bool) (xds.AccessLog, error) {
	from, what := l.connection, "connection"
	if request {
		from, what = l.request, "request"
	}
	select {
	case e := <-from:
		return e, nil
	case <-ctx.Done():
		return xds.AccessLog{}, fmt.Errorf("no access log entry of the %s arrived: %w", what, context.Cause(ctx))
	}
}

// addConnection completes the entry of a request with what a network filter said
// of its connection, as far as no HTTP filter spoke of the request itself: Envoy
// logs either on its own entry.
func (l *logs) addConnection(ctx context.Context, request *xds.AccessLog) error {
	connection, err := l.take(ctx, false)
	if err != nil {
		return err
	}
	if !request.Enforced.Ran {
		request.Enforced = connection.Enforced
	}
	if !request.Shadow.Ran {
		request.Shadow = connection.Shadow
	}
	return nil
}
