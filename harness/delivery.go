package harness

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
)

const (
	// evidenceTimeout bounds the wait for an answer, and the wait for what it leaves.
	evidenceTimeout = 10 * time.Second
	// faultRetries is how often a call is made again after a transport fault.
	faultRetries = 2
)

// delivery is a batch of requests under way, and then their evidence.
type delivery struct {
	mesh     *Mesh
	targets  []int
	requests []Request
	es       []evidence.Evidence
	lines    []line
	kept     []line

	mu       sync.Mutex
	sessions []played
}

// played is a session of a line.
type played struct {
	line
	*session
}

func (m *Mesh) newDelivery(targets []int, requests []Request) *delivery {
	return &delivery{mesh: m, targets: targets, requests: requests, es: make([]evidence.Evidence, len(requests))}
}

// deliver makes all calls and reads their access log entries. The first that fails
// ends the others, for without it they prove nothing.
func (d *delivery) deliver(ctx context.Context) error {
	concurrency := d.mesh.harness.options.concurrency
	if err := d.playAll(ctx, d.kept, concurrency.kept()); err != nil {
		return err
	}
	if err := d.playAll(ctx, d.lines, concurrency.fresh()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, evidenceTimeout)
	defer cancel()
	for _, s := range d.sessions {
		if err := d.readLogs(ctx, s.line, s.session); err != nil {
			return err
		}
	}
	return nil
}

// playAll plays lines, several at once.
func (d *delivery) playAll(ctx context.Context, lines []line, atOnce int) error {
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	next := make(chan line)
	var workers sync.WaitGroup
	for range min(atOnce, len(lines)) {
		workers.Go(func() {
			for l := range next {
				if err := d.play(ctx, l); err != nil {
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

// play makes the calls of a line. A call that failed in the transport is made again
// over a fresh connection, and counted; a verdict never is.
func (d *delivery) play(ctx context.Context, l line) error {
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
				if s, err = d.mesh.harness.open(ctx, &call, r.plays()); err != nil {
					return err
				}
				d.mu.Lock()
				d.sessions = append(d.sessions, played{l, s})
				d.mu.Unlock()
			}
			call.Source = s.source
			e := &d.es[number]
			done, err := d.ask(s, number, call)
			if done {
				e.Retries = retries
				if e.Shared = l.kept; l.kept {
					e.Path = l.inbound.means(call.WithDefaults().Path)
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

// ask makes one call over a session. It is not done where the transport failed.
func (d *delivery) ask(s *session, number int, call caller.Call) (done bool, err error) {
	e := &d.es[number]
	began := time.Now()
	e.Call = call
	e.Answer = s.conn.Send(call)
	e.Took = time.Since(began)
	if e.Answer.Outcome != caller.Answered && len(s.asked) > 0 && e.Answer.Outcome != caller.Fault {
		// A connection that served a request before was not refused now: it came to its
		// end, for whatever reason.
		e.Answer = caller.Answer{Err: fmt.Errorf("a kept connection ended: %w", e.Answer.Err)}
	}
	if e.Answer.Outcome == caller.Fault {
		s.torn = true
		return false, e.Answer.Err
	}
	s.asked = append(s.asked, asked{number, began})
	if call.Protocol.Layer() == policy.L7 {
		e.Arrival = s.arrivals.Take()
	}
	return true, nil
}

// settle completes the evidence with what the upstream saw, and looks for traces that
// belong to no request. It comes behind the positive control, which is behind all
// else. Over TCP it waits for the upstream's last word: Envoy opens that connection
// before it judges.
func (d *delivery) settle(ctx context.Context) error {
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
		if err := d.readRest(s.line, s.session); err != nil {
			return err
		}
	}
	return nil
}

// end gives back what the sessions occupied.
func (d *delivery) end() {
	for _, s := range d.sessions {
		d.mesh.harness.release(s.session)
	}
}
