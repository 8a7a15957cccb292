package harness

import (
	"context"
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
		c.add(e)
	}
	all := wanted{requests: 2, connection: true}
	if err := l.wait(t.Context(), all); err != nil || l.requests[0].Path != "/first" || l.requests[1].Path != "/second" {
		t.Errorf("requests %+v, %v; want both in order", l.requests, err)
	}
	if l.connection == nil || l.connection.Termination != "first connection" {
		t.Errorf("connection %+v; want the first", l.connection)
	}
	if none, one := l.surplus(all), l.surplus(wanted{requests: 1}); none != 0 || one != 1 {
		t.Errorf("%d and %d entries too many, want 0 and 1", none, one)
	}
	c.unwatch(known)
	c.add(xds.AccessLog{Caller: known, Request: true})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.wait(ended, all); err != nil {
		t.Errorf("what is there is waited for: %v", err)
	}
	for what, w := range map[string]wanted{"request": {requests: 3}, "connection": {connection: true}} {
		l := c.watch(known)
		c.unwatch(known)
		if err := l.wait(ended, w); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "entry of the "+what) {
			t.Errorf("%s of a forgotten caller: %v", what, err)
		}
	}
}

// TestCollectorWakes shows that a wait ends with the last wanted entry, and not before.
func TestCollectorWakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCollector()
		caller := netip.MustParseAddrPort("10.0.0.1:1024")
		l := c.watch(caller)
		done := false
		go func() {
			if err := l.wait(t.Context(), wanted{requests: 2, connection: true}); err != nil {
				t.Error(err)
			}
			done = true
		}()
		for i, e := range []xds.AccessLog{{Request: true}, {}, {Request: true}} {
			synctest.Wait()
			if done {
				t.Fatalf("it went on with %d of 3 entries", i)
			}
			e.Caller = caller
			c.add(e)
		}
		synctest.Wait()
		if !done {
			t.Error("it still waits")
		}
	})
}

// TestCompleted shows that the results of the network filters complete the entry of the
// request. They never replace the results of the HTTP filters.
func TestCompleted(t *testing.T) {
	t.Parallel()
	of := func(origin string) xds.Engine {
		return xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: policy.Allow, Origin: origin}}
	}
	l4 := xds.FilterLog{Enforced: of("l4"), Shadow: of("l4 shadow")}
	l7 := xds.FilterLog{FilterPlace: xds.FilterPlace{Layer: policy.L7}, Enforced: of("l7")}
	shadowed := l7
	shadowed.Shadow = of("l7 shadow")
	early, late := time.Unix(1, 0), time.Unix(2, 0)
	for name, tt := range map[string]struct {
		request          []xds.FilterLog
		time, closedAt   time.Time
		enforced, shadow xds.Engine
		filters          []xds.FilterLog
		came             time.Time
	}{
		"the network alone": {nil, early, late, of("l4"), of("l4 shadow"), []xds.FilterLog{l4}, late},
		"both":              {[]xds.FilterLog{l7}, late, early, of("l7"), of("l4 shadow"), []xds.FilterLog{l4, l7}, late},
		"both with shadows": {[]xds.FilterLog{shadowed}, early, early, of("l7"), of("l7 shadow"), []xds.FilterLog{l4, shadowed}, early},
	} {
		request, connection := entry{xds.AccessLog{Path: "/"}, tt.time}, entry{xds.AccessLog{Termination: "closed"}, tt.closedAt}
		request.SetFilters(tt.request)
		connection.SetFilters([]xds.FilterLog{l4})
		want := entry{xds.AccessLog{Path: "/", Enforced: tt.enforced, Shadow: tt.shadow, Filters: tt.filters}, tt.came}
		if got := withConnectionFilters(request, connection); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v; want %+v", name, got, want)
		}
	}
}
