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

// session is one connection, and what is recorded of it. Records of a session have its
// source address. The records of its requests come in the order of the requests.
type session struct {
	source   netip.AddrPort
	conn     *connection.Connection
	logs     *logs
	arrivals *upstream.Account
	sent     []sentRequest
	// broken tells that the connection broke during a request, which was sent again over
	// another one. The broken connection may have left records too.
	broken bool
}

// sentRequest is a request of a session that has an answer.
type sentRequest struct {
	number int
	began  time.Time
}

// normalizedPath is the path as the filters of the inbound see it. It is empty for a target
// that is no path, that the listener refuses, or that versions of Envoy normalize in
// different ways.
func (in Inbound) normalizedPath(target string) string {
	if !strings.HasPrefix(target, "/") || strings.Contains(target, ";") {
		return ""
	}
	path, err := in.Normalization.Apply(target)
	if err != nil {
		return ""
	}
	return path
}

// openSession connects for a call, and sets the source of the call.
func (h *Harness) openSession(ctx context.Context, call *caller.Call, plays netip.Addr) (*session, error) {
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

// releaseSession frees the source port of the session, and its records.
func (h *Harness) releaseSession(s *session) {
	h.collector.unwatch(s.source)
	h.upstream.Take(s.source)
	h.sources.release(s.source.Port())
}

// wantedLogs are the access log entries that the session must leave: one for each request
// with an HTTP answer, and one for the connection if a request had no such answer or if a
// network filter judged the connection.
func (d *delivery) wantedLogs(l sequence, s *session) wanted {
	w := wanted{connection: len(l.inbound.Filters.Network) > 0}
	for _, a := range s.sent {
		if d.answeredHTTP(l, a) {
			w.requests++
		} else {
			w.connection = true
		}
	}
	return w
}

// answeredHTTP reports whether a request got an HTTP answer.
func (d *delivery) answeredHTTP(l sequence, a sentRequest) bool {
	return l.inbound.Protocol.Layer() == policy.L7 && d.evidence[a.number].Answer.Outcome == caller.Answered
}

// readLogs adds the access log entries to the evidence of the requests of a session.
func (d *delivery) readLogs(ctx context.Context, l sequence, s *session) error {
	if len(s.sent) == 0 {
		return nil
	}
	want := d.wantedLogs(l, s)
	if err := s.logs.wait(ctx, want); err != nil {
		return fmt.Errorf("call %s: the caller saw %s, but %w", l.inbound.Name, d.evidence[s.sent[0].number].Answer, err)
	}
	requests, connection := s.logs.entries()
	next := 0
	for _, a := range s.sent {
		e := &d.evidence[a.number]
		var log entry
		switch {
		case !d.answeredHTTP(l, a):
			log = *connection
		case want.connection:
			log = withConnectionFilters(requests[next], *connection)
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

// readRest reads what was recorded after the last answer: the bytes of a tcp connection, and
// records that must not exist. It runs when nothing more can come.
func (d *delivery) readRest(l sequence, s *session) error {
	if len(s.sent) == 0 || s.broken {
		return nil
	}
	e := &d.evidence[s.sent[len(s.sent)-1].number]
	e.Asked.Authorizer = s.logs.timesAsked()
	for _, a := range s.sent {
		for _, f := range d.evidence[a.number].Log.Filters {
			if f.Asked {
				e.Asked.Filters++
			}
		}
	}
	switch late := s.arrivals.Take(); {
	case late == nil:
	case e.Arrival == nil:
		e.Arrival = late
	default:
		e.Arrival.Requests += late.Requests
		e.Arrival.Bytes += late.Bytes
	}
	if surplus := s.logs.surplus(d.wantedLogs(l, s)); l.kept && surplus > 0 {
		return fmt.Errorf("call %s: %d requests of one connection left %d access log entries", l.inbound.Name, len(s.sent), len(s.sent)+surplus)
	}
	return nil
}
