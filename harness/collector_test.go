package harness

import (
	"context"
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

func TestCollector(t *testing.T) {
	t.Parallel()
	c := newCollector()
	known, unknown := netip.MustParseAddrPort("10.0.0.1:1024"), netip.MustParseAddrPort("10.0.0.1:1025")
	l := c.watch(known)
	for _, e := range []xds.AccessLog{
		{Caller: unknown, Request: true, Path: "/unknown"},
		{Caller: known, Termination: "first connection"},
		{Caller: known, Request: true, Path: "/first"},
		{Caller: known, Request: true, Path: "/second"},
		{Caller: known, Termination: "second connection"},
	} {
		c.entry(e)
	}
	request, err := l.take(t.Context(), true)
	if err != nil || request.Path != "/first" {
		t.Errorf("request %+v, %v; want the first", request, err)
	}
	connection, err := l.take(t.Context(), false)
	if err != nil || connection.Termination != "first connection" {
		t.Errorf("connection %+v, %v; want the first", connection, err)
	}
	c.forget(known)
	c.entry(xds.AccessLog{Caller: known, Request: true})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for what, request := range map[string]bool{"request": true, "connection": false} {
		if e, err := l.take(ended, request); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "entry of the "+what) {
			t.Errorf("%s of a forgotten caller: %+v, %v", what, e, err)
		}
	}
}

// TestAddConnection: what a network filter said of the connection completes the
// entry of the request, and never replaces what an HTTP filter said of it.
func TestAddConnection(t *testing.T) {
	t.Parallel()
	of := func(origin string) xds.Engine {
		return xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: policy.Allow, Origin: origin}}
	}
	caller := netip.MustParseAddrPort("10.0.0.1:1024")
	for name, tt := range map[string]struct{ request, want xds.AccessLog }{
		"the network alone": {xds.AccessLog{Path: "/"}, xds.AccessLog{Path: "/", Enforced: of("l4"), Shadow: of("l4 shadow")}},
		"both":              {xds.AccessLog{Enforced: of("l7")}, xds.AccessLog{Enforced: of("l7"), Shadow: of("l4 shadow")}},
		"both with shadows": {xds.AccessLog{Enforced: of("l7"), Shadow: of("l7 shadow")}, xds.AccessLog{Enforced: of("l7"), Shadow: of("l7 shadow")}},
	} {
		c := newCollector()
		l := c.watch(caller)
		c.entry(xds.AccessLog{Caller: caller, Enforced: of("l4"), Shadow: of("l4 shadow"), Termination: "closed"})
		if err := l.addConnection(t.Context(), &tt.request); err != nil || !reflect.DeepEqual(tt.request, tt.want) {
			t.Errorf("%s: %+v, %v; want %+v", name, tt.request, err, tt.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newCollector().watch(caller).addConnection(ended, &xds.AccessLog{}); !errors.Is(err, context.Canceled) {
		t.Errorf("no entry of the connection: %v", err)
	}
}
