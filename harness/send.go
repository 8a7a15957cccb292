package harness

import (
	"context"
	"errors"
	"fmt"

	"github.com/meshproof/meshproof/harness/evidence"
)

// Batch is the evidence of requests that were sent together.
type Batch struct {
	// Evidence has an entry for each request, in order.
	Evidence []evidence.Evidence
	// Counters is what the counters of each inbound that was called moved by, all filters
	// together.
	Counters map[string]evidence.Counters
	// Filters is the same for each filter of an inbound, in Envoy's order. Filters whose
	// counters did not move are left out.
	Filters map[string][]evidence.FilterCounters
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
	return m.batch(ctx, (*delivery).apart, requests)
}

// Stream is [Mesh.Send], many times as fast where decisions are per request: requests
// of one caller to one inbound share a connection and go out one after the other, over
// HTTP/1.1, HTTP/2 and gRPC alike. The evidence is the same and as complete: a request
// has an answer, an arrival and an access log entry of its own, told apart by their
// order on the connection and compared with what was sent.
//
// A request gets a connection of its own on a tcp inbound, behind a network filter,
// which judges connections, and where [caller.Call.Alone] demands it. Of requests
// that share one a connection that ends early, with an answer or without, is followed
// by another.
func (m *Mesh) Stream(ctx context.Context, requests ...Request) (Batch, error) {
	return m.batch(ctx, (*delivery).together, requests)
}

// batch delivers requests over connections as the arrangement says.
func (m *Mesh) batch(ctx context.Context, arrange func(*delivery), requests []Request) (Batch, error) {
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
	d := m.newDelivery(targets, requests)
	arrange(d)
	batch, err := m.send(ctx, d)
	if m.adrift = err != nil; m.adrift {
		return Batch{}, fmt.Errorf("harness: %s: send: %w", m.name, err)
	}
	return batch, nil
}

func (m *Mesh) send(ctx context.Context, d *delivery) (Batch, error) {
	if m.adrift {
		if err := m.catchUp(ctx); err != nil {
			return Batch{}, err
		}
	}
	defer d.end()
	err := d.deliver(ctx)
	if err == nil {
		err = m.checkControl(ctx)
	}
	if err == nil {
		err = d.settle(ctx)
	}
	if err != nil {
		return Batch{}, err
	}
	filters, err := m.readCounters(ctx, d.targets)
	if err != nil {
		return Batch{}, err
	}
	batch := Batch{Evidence: d.es, Counters: make(map[string]evidence.Counters, len(filters)), Filters: filters}
	for name, of := range filters {
		batch.Counters[name] = evidence.Sum(of)
	}
	return batch, nil
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

// checkControl proves, behind each batch, that a caller who may pass does pass,
// with all its evidence.
func (m *Mesh) checkControl(ctx context.Context) error {
	d := m.newDelivery([]int{len(m.inbounds) - 1}, []Request{{Credential: m.control}})
	d.apart()
	defer d.end()
	err := d.deliver(ctx)
	if err == nil {
		err = d.settle(ctx)
	}
	if err == nil {
		var found evidence.Finding
		if found, err = d.es[0].Find(); err == nil && (found.Form != evidence.Served || found.Verdict.Origin != controlName) {
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
