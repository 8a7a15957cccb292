package harness

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/meshproof/meshproof/internal/outboundlog"
	"github.com/meshproof/meshproof/xds"
)

// trace has the access log entries of one request through two proxies: those of its outbound,
// and those of the inbounds.
type trace struct {
	collector *collector
	// outbound is the destination that the caller plays.
	outbound    netip.AddrPort
	outbounds   []outboundlog.Entry
	requests    []xds.AccessLog
	connections []xds.AccessLog
	// changed is closed at the next entry.
	changed chan struct{}
	// failure is the error of an entry that cannot be read.
	failure error
	// left is closed when a connection to an inbound has ended.
	left chan struct{}
}

func (c *collector) trace(caller, outbound netip.AddrPort) *trace {
	t := &trace{collector: c, outbound: outbound, changed: make(chan struct{}), left: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.traces[caller] = t
	return t
}

func (c *collector) untrace(caller netip.AddrPort) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.traces, caller)
}

// addOutbound takes an entry of an outbound. An entry that cannot be read may be of any
// request: all of them fail.
func (c *collector) addOutbound(e outboundlog.Entry, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		for _, t := range c.traces {
			t.failure = err
			t.change()
		}
		return
	}
	if t := c.traces[e.Caller]; t != nil {
		t.outbounds = append(t.outbounds, e)
		t.change()
	}
}

// addInbound takes an entry of the listener of the mesh. It runs under the lock of the collector.
func (t *trace) addInbound(e xds.AccessLog) {
	switch {
	case e.Request:
		t.requests = append(t.requests, e)
	case e.Destination == t.outbound:
		// The caller's own connection, which ends by itself.
	default:
		t.connections = append(t.connections, e)
		if len(t.connections) == 1 {
			close(t.left)
		}
	}
	t.change()
}

func (t *trace) change() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// wait returns when ready says so. Ready runs under the lock of the collector.
func (t *trace) wait(ctx context.Context, what string, ready func() bool) error {
	for {
		t.collector.mu.Lock()
		met, failure, changed := ready(), t.failure, t.changed
		t.collector.mu.Unlock()
		switch {
		case failure != nil:
			return failure
		case met:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("no access log entry of the %s arrived: %w", what, context.Cause(ctx))
		}
	}
}

// has asks what is there by now. Asked runs under the lock of the collector.
func (t *trace) has(asked func() bool) bool {
	t.collector.mu.Lock()
	defer t.collector.mu.Unlock()
	return asked()
}
