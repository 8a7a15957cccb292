package harness

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"

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
