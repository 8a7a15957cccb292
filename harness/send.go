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

// Batch is the evidence of requests that were sent together.
type Batch struct {
	// Evidence has an entry for each request, in order.
	Evidence []evidence.Evidence
	// Counters is what the counters of each inbound that was called moved by.
	Counters map[string]evidence.Counters
}

// ErrNoControl is wrapped by the error of a batch whose positive control failed:
// Envoy, the control plane or the upstream is out of order, and a deny would
// prove nothing.
var ErrNoControl = errors.New("the positive control failed")

const (
	// evidenceTimeout bounds the wait for one request and its evidence.
	evidenceTimeout = 10 * time.Second
	// faultRetries is how often a call is made again after a transport fault.
	faultRetries = 2
)

// Send plays the requests, several at once, each over a fresh connection, and
// returns what they left behind. The requests may come from any caller and go to
// any inbound of the mesh.
//
// It returns an error where evidence could not be gathered, or where the positive
// control behind the batch failed (then it wraps [ErrNoControl]); it returns none
// for a request that was denied, however.
func (m *Mesh) Send(ctx context.Context, requests ...Request) (Batch, error) {
	m.turn.Lock()
	defer m.turn.Unlock()
	ctx, stop := m.harness.alive(ctx)
	defer stop()
	targets := make([]int, len(requests))
	for i, r := range requests {
		if targets[i] = m.index(r.To); targets[i] < 0 {
			return Batch{}, m.unknown(r.To)
		}
	}
	batch := Batch{Evidence: make([]evidence.Evidence, len(requests))}
	failures := make([]error, len(requests))
	var callers sync.WaitGroup
	free := make(chan struct{}, m.harness.options.concurrency)
	for i, r := range requests {
		free <- struct{}{}
		callers.Go(func() {
			defer func() { <-free }()
			batch.Evidence[i], failures[i] = m.ask(ctx, m.inbounds[targets[i]], r)
		})
	}
	callers.Wait()
	if err := errors.Join(failures...); err != nil {
		return Batch{}, fmt.Errorf("harness: %s: %w", m.name, err)
	}
	if err := m.checkControl(ctx); err != nil {
		return Batch{}, fmt.Errorf("harness: %s: %w", m.name, err)
	}
	if err := m.takeArrivals(ctx, batch.Evidence); err != nil {
		return Batch{}, fmt.Errorf("harness: %s: %w", m.name, err)
	}
	var err error
	if batch.Counters, err = m.readCounters(ctx, targets); err != nil {
		return Batch{}, fmt.Errorf("harness: %s: %w", m.name, err)
	}
	return batch, nil
}

// ask makes one call and waits for its access log entry. A call that failed in
// the transport is made again, and counted.
func (m *Mesh) ask(ctx context.Context, in Inbound, r Request) (evidence.Evidence, error) {
	var e evidence.Evidence
	for {
		var err error
		e, err = m.askOnce(ctx, in, r, e.Retries)
		if err == nil || e.Answer.Outcome != caller.Fault || e.Retries == faultRetries || context.Cause(ctx) != nil {
			return e, err
		}
		e.Retries++
	}
}

func (m *Mesh) askOnce(ctx context.Context, in Inbound, r Request, retries int) (evidence.Evidence, error) {
	ctx, cancel := context.WithTimeout(ctx, evidenceTimeout)
	defer cancel()
	port, err := m.harness.sources.take()
	if err != nil {
		return evidence.Evidence{}, err
	}
	call := m.call(in, r, port)
	e := evidence.Evidence{Call: call, Retries: retries}
	logs := m.harness.collector.watch(call.Source)
	defer m.harness.collector.forget(call.Source)
	m.harness.upstream.Watch(call.Source)
	began := time.Now()
	e.Answer = caller.Do(ctx, call)
	if e.Answer.Outcome == caller.Fault {
		err = fmt.Errorf("call %s: %w", in.Name, e.Answer.Err)
	} else {
		request := e.Answer.Outcome == caller.Answered && in.Protocol.Layer() == policy.L7
		if e.Log, err = logs.take(ctx, request); err != nil {
			err = fmt.Errorf("call %s: the caller saw %s, but %w", in.Name, e.Answer, err)
		}
	}
	e.Took = time.Since(began)
	if err != nil {
		m.harness.upstream.Take(call.Source)
		m.harness.sources.release(port)
	}
	return e, err
}

func (m *Mesh) call(in Inbound, r Request, port uint16) caller.Call {
	source := r.SourceIP
	if !source.IsValid() {
		source = defaultSource
	}
	return caller.Call{
		Dial:        m.slot.Dial,
		Source:      netip.AddrPortFrom(source, port),
		Destination: in.Address,
		Protocol:    in.Protocol,
		Credential:  r.Credential,
		Plaintext:   r.Plaintext,
		Server:      in.Identity,
		Bundles:     m.bundles,
		Method:      r.Method,
		Path:        r.Path,
		Authority:   r.Authority,
		Headers:     r.Headers,
		GRPC:        r.GRPC,
		Body:        r.Body,
	}
}

// takeArrivals completes the evidence with what the upstream saw. Over TCP the
// upstream's last word is waited for: Envoy opens that connection before it
// judges.
func (m *Mesh) takeArrivals(ctx context.Context, es []evidence.Evidence) error {
	var tcp []netip.AddrPort
	for _, e := range es {
		if e.Call.Protocol == policy.TCP {
			tcp = append(tcp, e.Call.Source)
		}
	}
	var err error
	if len(tcp) > 0 {
		settling, cancel := context.WithTimeout(ctx, evidenceTimeout)
		defer cancel()
		err = m.harness.upstream.Settle(settling, tcp...)
	}
	for i := range es {
		es[i].Arrival = m.harness.upstream.Take(es[i].Call.Source)
		m.harness.sources.release(es[i].Call.Source.Port())
	}
	return err
}

// checkControl proves, behind each batch, that a caller who may pass does pass,
// with all its evidence.
func (m *Mesh) checkControl(ctx context.Context) error {
	e, err := m.ask(ctx, m.inbounds[m.index(controlName)], Request{Credential: m.control})
	if err == nil {
		control := []evidence.Evidence{e}
		if err = m.takeArrivals(ctx, control); err == nil {
			var found evidence.Finding
			if found, err = control[0].Find(); err == nil && (found.Form != evidence.Served || found.Verdict.Origin != controlName) {
				err = fmt.Errorf("it was %s: %s", found.Form, found.Verdict)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoControl, err)
	}
	return nil
}
