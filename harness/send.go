package harness

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"

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

// Send plays the requests, several at once, each over a fresh connection, and
// returns what they left behind. The requests may come from any caller and go to
// any inbound of the mesh.
//
// It returns an error where evidence could not be gathered, or where the positive
// control behind the batch failed (then it wraps [ErrNoControl]); it returns none
// for a request that was denied, however.
func (m *Mesh) Send(ctx context.Context, requests ...Request) (Batch, error) {
	if err := m.begin(ctx); err != nil {
		return Batch{}, err
	}
	defer m.end()
	if m.unsettled {
		return Batch{}, fmt.Errorf("harness: %s: send: a push was cut off, so that nobody knows which filters are live: call SetFilters again", m.name)
	}
	targets := make([]int, len(requests))
	for i, r := range requests {
		if targets[i] = m.index(r.To); targets[i] < 0 {
			return Batch{}, m.unknown(r.To)
		}
	}
	ctx, stop := m.harness.alive(ctx)
	defer stop()
	batch, err := m.send(ctx, targets, requests)
	if m.adrift = err != nil; m.adrift {
		return Batch{}, fmt.Errorf("harness: %s: send: %w", m.name, err)
	}
	return batch, nil
}

func (m *Mesh) send(ctx context.Context, targets []int, requests []Request) (Batch, error) {
	if m.adrift {
		if err := m.catchUp(ctx); err != nil {
			return Batch{}, err
		}
	}
	es, err := m.askAll(ctx, targets, requests)
	if err == nil {
		err = m.checkControl(ctx)
	}
	if err == nil {
		err = m.settle(ctx, es)
	}
	m.takeArrivals(es)
	if err != nil {
		return Batch{}, err
	}
	counters, err := m.readCounters(ctx, targets)
	return Batch{Evidence: es, Counters: counters}, err
}

// catchUp reads all counters behind a batch that failed. The control runs first:
// once Envoy answered it, it is done with what came before.
func (m *Mesh) catchUp(ctx context.Context) error {
	if err := m.checkControl(ctx); err != nil {
		return err
	}
	all := make([]int, len(m.owned()))
	for i := range all {
		all[i] = i
	}
	_, err := m.readCounters(ctx, all)
	return err
}

// askAll makes the calls, several at once. The first that fails ends the others,
// for without it they prove nothing; its evidence is the zero value.
func (m *Mesh) askAll(ctx context.Context, targets []int, requests []Request) ([]evidence.Evidence, error) {
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	es := make([]evidence.Evidence, len(requests))
	var callers sync.WaitGroup
	free := make(chan struct{}, m.harness.options.concurrency)
	for i, r := range requests {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		callers.Go(func() {
			defer func() { <-free }()
			var err error
			if es[i], err = m.ask(ctx, m.inbounds[targets[i]], r); err != nil {
				abort(err)
			}
		})
	}
	callers.Wait()
	return es, context.Cause(ctx)
}

// settle waits for the upstream's last word on the calls over TCP: Envoy opens
// that connection before it judges.
func (m *Mesh) settle(ctx context.Context, es []evidence.Evidence) error {
	var tcp []netip.AddrPort
	for _, e := range es {
		if e.Call.Protocol == policy.TCP {
			tcp = append(tcp, e.Call.Source)
		}
	}
	if len(tcp) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, evidenceTimeout)
	defer cancel()
	return m.harness.upstream.Settle(ctx, tcp...)
}

// takeArrivals completes the evidence with what the upstream saw, and gives back
// what its calls occupied; a call that was not made, or failed, has none.
func (m *Mesh) takeArrivals(es []evidence.Evidence) {
	for i := range es {
		if source := es[i].Call.Source; source.IsValid() {
			es[i].Arrival = m.harness.upstream.Take(source)
			m.harness.sources.release(source.Port())
		}
	}
}

// checkControl proves, behind each batch, that a caller who may pass does pass,
// with all its evidence.
func (m *Mesh) checkControl(ctx context.Context) error {
	e, err := m.ask(ctx, m.inbounds[len(m.inbounds)-1], Request{Credential: m.control})
	if err == nil {
		control := []evidence.Evidence{e}
		m.takeArrivals(control)
		var found evidence.Finding
		if found, err = control[0].Find(); err == nil && (found.Form != evidence.Served || found.Verdict.Origin != controlName) {
			err = fmt.Errorf("it was %s: %s", found.Form, found.Verdict)
		}
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return fmt.Errorf("%w: %w", ErrNoControl, err)
	}
}
