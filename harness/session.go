package harness

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/connection"
	"github.com/meshproof/meshproof/internal/upstream"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// session is one connection, with all that watches it. Its played source address is
// what ties its traces together; between the requests of one session their order does.
type session struct {
	source   netip.AddrPort
	conn     *connection.Connection
	logs     *logs
	arrivals *upstream.Account
	asked    []asked
	// torn tells that the connection broke under a request that was then made again;
	// the broken one may have left traces too.
	torn bool
}

// asked is a request that the session got the answer of.
type asked struct {
	number int
	began  time.Time
}

// means is the path as the inbound's filters see it, empty where they may not: a target
// that is no path, one that is refused, or one that versions of Envoy read differently.
func (in Inbound) means(target string) string {
	if !strings.HasPrefix(target, "/") || strings.Contains(target, ";") {
		return ""
	}
	path, err := in.Normalization.Apply(target)
	if err != nil {
		return ""
	}
	return path
}

// open connects for a call; that of its source is filled in.
func (h *Harness) open(ctx context.Context, call *caller.Call, plays netip.Addr) (*session, error) {
	port, err := h.sources.take()
	if err != nil {
		return nil, err
	}
	s := &session{source: netip.AddrPortFrom(plays, port)}
	call.Source = s.source
	s.logs, s.arrivals = h.collector.watch(s.source), h.upstream.Watch(s.source)
	s.conn = connection.Open(ctx, *call, evidenceTimeout)
	return s, nil
}

// release gives back what the session occupied.
func (h *Harness) release(s *session) {
	h.collector.forget(s.source)
	h.upstream.Take(s.source)
	h.sources.release(s.source.Port())
}

// wants are the entries that the session has to leave in the access log: one for each
// request that was answered over HTTP; that of the connection where there was none, or
// where a network filter judged it.
func (d *delivery) wants(l line, s *session) wanted {
	w := wanted{connection: len(l.inbound.Filters.Network) > 0}
	for _, a := range s.asked {
		if d.spoken(l, a) {
			w.requests++
		} else {
			w.connection = true
		}
	}
	return w
}

// spoken tells of a request that got as far as an HTTP answer.
func (d *delivery) spoken(l line, a asked) bool {
	return l.inbound.Protocol.Layer() == policy.L7 && d.es[a.number].Answer.Outcome == caller.Answered
}

// readLogs completes the evidence of the session's requests with their entries.
func (d *delivery) readLogs(ctx context.Context, l line, s *session) error {
	if len(s.asked) == 0 {
		return nil
	}
	want := d.wants(l, s)
	if err := s.logs.wait(ctx, want); err != nil {
		return fmt.Errorf("call %s: the caller saw %s, but %w", l.inbound.Name, d.es[s.asked[0].number].Answer, err)
	}
	requests, connection := s.logs.came()
	next := 0
	for _, a := range s.asked {
		e := &d.es[a.number]
		var log entry
		switch {
		case !d.spoken(l, a):
			log = *connection
		case want.connection:
			log = completed(requests[next], *connection)
			next++
		default:
			log = requests[next]
			next++
		}
		e.Log = log.AccessLog
		l.inbound.nameShadows(e.Log.Filters)
		if took := log.came.Sub(a.began); took > e.Took {
			e.Took = took
		}
	}
	return nil
}

// nameShadows gives the shadows of the filters their names: Envoy reports them under the
// prefixes of the listener.
func (in Inbound) nameShadows(logs []xds.FilterLog) {
	for i := range logs {
		log := &logs[i]
		switch {
		case log.Layer == policy.L4 && log.Index < len(in.Filters.Network):
			log.ShadowName = in.Filters.Network[log.Index].ShadowRulesStatPrefix
		case log.Layer == policy.L7 && log.Index < len(in.Filters.HTTP):
			log.ShadowName = in.Filters.HTTP[log.Index].ShadowRulesStatPrefix
		}
	}
}

// readRest looks at what came behind the last answer, when nothing can follow any
// more: bytes of tcp, and what ought not to be there.
func (d *delivery) readRest(l line, s *session) error {
	if len(s.asked) == 0 || s.torn {
		return nil
	}
	e := &d.es[s.asked[len(s.asked)-1].number]
	switch late := s.arrivals.Take(); {
	case late == nil:
	case e.Arrival == nil:
		e.Arrival = late
	default:
		e.Arrival.Requests += late.Requests
		e.Arrival.Bytes += late.Bytes
	}
	if surplus := s.logs.surplus(d.wants(l, s)); l.kept && surplus > 0 {
		return fmt.Errorf("call %s: %d requests of one connection left %d access log entries", l.inbound.Name, len(s.asked), len(s.asked)+surplus)
	}
	return nil
}
