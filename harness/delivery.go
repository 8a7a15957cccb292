package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/progress"
	"github.com/meshproof/meshproof/policy"
)

const (
	// evidenceTimeout bounds the wait for an answer, and the wait for its records.
	evidenceTimeout = 10 * time.Second
	// faultRetries bounds how often a call is sent again after a failure of the transport.
	faultRetries = 2
)

// delivery is a batch of requests, and later their evidence.
type delivery struct {
	mesh     *Mesh
	targets  []int
	requests []Request
	evidence []evidence.Evidence
	fresh    []sequence
	kept     []sequence

	mu       sync.Mutex
	sessions []playedSession
}

// playedSession is a session, and the sequence that it carries.
type playedSession struct {
	sequence
	*session
}

func (m *Mesh) newDelivery(targets []int, requests []Request) *delivery {
	return &delivery{mesh: m, targets: targets, requests: requests, evidence: make([]evidence.Evidence, len(requests))}
}

// deliver sends all calls and reads their access log entries. The first error ends the
// other calls, because a batch that lacks a request proves nothing.
func (d *delivery) deliver(ctx context.Context) error {
	concurrency := d.mesh.harness.options.concurrency
	if err := d.sendAll(ctx, d.kept, cmp.Or(concurrency, keptConnections)); err != nil {
		return err
	}
	if err := d.sendAll(ctx, d.fresh, cmp.Or(concurrency, freshConnections)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, evidenceTimeout)
	defer cancel()
	for _, s := range d.sessions {
		if err := d.readLogs(ctx, s.sequence, s.session); err != nil {
			return err
		}
	}
	return d.checkUpstream()
}

// upstreamError says that Envoy let a request pass, and that the upstream of the lab did not
// serve it. No policy decides so, and it is no decision of Envoy.
type upstreamError struct {
	number int // of the request
	text   string
}

func (e *upstreamError) Error() string { return e.text }

// checkUpstream returns an [*upstreamError] for the first request that the upstream failed.
func (d *delivery) checkUpstream() error {
	for i, e := range d.evidence {
		if failedUpstream(e) {
			text := fmt.Sprintf("the upstream of the lab failed: Envoy let a request to %s pass (%s), the upstream did not serve it, and the caller saw %s",
				d.mesh.inbounds[d.targets[i]].Name, cmp.Or(e.Log.Details, e.Log.Enforced.Verdict.String()), e.Answer)
			if _, err := url.ParseRequestURI(e.Log.Path); e.Log.Path != "" && err != nil {
				text += fmt.Sprintf(": it cannot read the target %q", e.Log.Path)
			}
			return &upstreamError{i, text}
		}
	}
	return nil
}

// failedUpstream reports whether a request passed all filters and got no answer of the
// upstream's handler, which records each request before it answers. Envoy's reason is
// via_upstream for an answer of the server around the handler, and begins with upstream_ for a
// connection to the upstream that broke. On tcp the upstream echoes what Envoy lets pass.
func failedUpstream(e evidence.Evidence) bool {
	if e.Call.Protocol.Layer() == policy.L4 {
		return e.Answer.Outcome == caller.Closed && e.Log.Enforced.Ran && e.Log.Enforced.Verdict.Effect == policy.Allow
	}
	return e.Arrival == nil && e.Log.Details == "via_upstream" || strings.HasPrefix(e.Log.Details, "upstream_")
}

// sendAll sends sequences, several at once.
func (d *delivery) sendAll(ctx context.Context, lines []sequence, atOnce int) error {
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	next := make(chan sequence)
	var workers sync.WaitGroup
	for range min(atOnce, len(lines)) {
		workers.Go(func() {
			for l := range next {
				if err := d.sendSequence(ctx, l); err != nil {
					abort(err)
				}
			}
		})
	}
	for _, l := range lines {
		if ctx.Err() != nil {
			break
		}
		select {
		case next <- l:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

// sendSequence sends the calls of a sequence. After a failure of the transport a call is
// sent again over a fresh connection, and the retry is counted. A verdict is never retried.
func (d *delivery) sendSequence(ctx context.Context, l sequence) error {
	var s *session
	defer func() {
		if s != nil {
			s.conn.Close()
		}
	}()
	for _, number := range l.requests {
		r := d.requests[number]
		call := d.mesh.call(l.inbound, r, netip.AddrPort{})
		for retries := 0; ; retries++ {
			if s != nil && !s.conn.Reusable() {
				s.conn.Close()
				s = nil
			}
			if s == nil {
				var err error
				if s, err = d.mesh.harness.openSession(ctx, &call, r.sourceIP()); err != nil {
					return err
				}
				d.mu.Lock()
				d.sessions = append(d.sessions, playedSession{l, s})
				d.mu.Unlock()
			}
			call.Source = s.source
			e := &d.evidence[number]
			done, err := d.sendOne(s, number, call)
			if done {
				progress.Ask(ctx)
				e.Retries, e.Tokens = retries, l.inbound.Tokens
				e.TrustedHops, e.Headers = l.inbound.TrustedHops, l.inbound.Headers
				if e.Shared = l.kept; l.kept && !e.Tokens.InQuery(call.Path) {
					e.Path = l.inbound.normalizedPath(call.WithDefaults().Path)
				}
				break
			}
			if retries == faultRetries || ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("call %s: %w", l.inbound.Name, err)
			}
		}
	}
	return nil
}

// sendOne sends one call over a session. It is not done if the transport failed.
func (d *delivery) sendOne(s *session, number int, call caller.Call) (done bool, err error) {
	e := &d.evidence[number]
	began := time.Now()
	e.Call = call
	e.ReadsSNI = d.mesh.readsSNI()
	e.Answer = s.conn.Send(call)
	e.Took = time.Since(began)
	if e.Answer.Outcome != caller.Answered && len(s.sent) > 0 && e.Answer.Outcome != caller.Fault {
		// The connection has served a request before, so this is no refusal: the
		// connection ended.
		e.Answer = caller.Answer{Err: fmt.Errorf("a kept connection ended: %w", e.Answer.Err)}
	}
	if e.Answer.Outcome == caller.Fault {
		s.broken = true
		return false, e.Answer.Err
	}
	s.sent = append(s.sent, sentRequest{number, began})
	if call.Protocol.Layer() == policy.L7 {
		e.Arrival = s.arrivals.Take()
	}
	return true, nil
}

// readUpstream adds the arrivals at the upstream to the evidence, and looks for arrivals that
// belong to no request. It runs after the positive control, which runs after all requests.
// On tcp it waits until the upstream is finished with the connections, because Envoy opens
// its connection to the upstream before it judges.
func (d *delivery) readUpstream(ctx context.Context) error {
	var tcp []netip.AddrPort
	for _, s := range d.sessions {
		if s.inbound.Protocol == policy.TCP {
			tcp = append(tcp, s.source)
		}
	}
	if len(tcp) > 0 {
		ctx, cancel := context.WithTimeout(ctx, evidenceTimeout)
		defer cancel()
		if err := d.mesh.harness.upstream.Settle(ctx, tcp...); err != nil {
			return err
		}
	}
	for _, s := range d.sessions {
		if err := d.readRest(s.sequence, s.session); err != nil {
			return err
		}
	}
	return nil
}

// releaseSessions frees the source ports of the sessions.
func (d *delivery) releaseSessions() {
	for _, s := range d.sessions {
		d.mesh.harness.releaseSession(s.session)
	}
}
