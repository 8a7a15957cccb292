package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/connection"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/progress"
)

// Batch is the evidence of requests that were sent together.
type Batch struct {
	// Evidence has an entry for each request, in order.
	Evidence []evidence.Evidence
	// Counters are the changes of the counters of each called inbound, added up over its
	// filters.
	Counters map[string]evidence.Counters
	// Filters is the same for each filter of an inbound, in Envoy's order. Filters whose
	// counters did not move are left out.
	Filters map[string][]evidence.FilterCounters
}

// ErrNoControl is wrapped by the error of a batch whose positive control failed. Envoy, the
// control plane or the upstream is then out of order, and a deny would prove nothing.
var ErrNoControl = errors.New("the positive control failed")

// Send sends the requests, several at once, each over a fresh connection, and returns their
// evidence. The requests may come from any caller and go to any inbound of the mesh.
//
// It is an error if the evidence is not complete, or if the positive control behind the
// batch failed; then the error wraps [ErrNoControl]. A denied request is no error.
func (m *Mesh) Send(ctx context.Context, requests ...Request) (Batch, error) {
	return m.batch(ctx, (*delivery).useFreshConnections, requests)
}

// Stream is [Mesh.Send], many times faster where Envoy decides for each request: requests of
// one caller to one inbound share a connection, and go out one after the other, over
// HTTP/1.1, HTTP/2 and gRPC alike. The evidence is the same: each request has an answer, an
// arrival and an access log entry of its own. Their order on the connection tells them
// apart, and they are compared with what was sent.
//
// A request has a connection of its own on a tcp inbound, behind a network filter, and where
// the two sides may disagree about the end of the request. If a shared connection ends
// early, the next request goes over a new one.
func (m *Mesh) Stream(ctx context.Context, requests ...Request) (Batch, error) {
	return m.batch(ctx, (*delivery).shareConnections, requests)
}

// batch delivers requests. The arrangement says which of them share a connection.
func (m *Mesh) batch(ctx context.Context, arrange func(*delivery), requests []Request) (Batch, error) {
	if err := m.takeTurn(ctx); err != nil {
		return Batch{}, err
	}
	defer m.endTurn()
	if m.filtersUnknown {
		return Batch{}, fmt.Errorf("harness: %s: send: a push was cut off, and the live filters are unknown: call SetFilters again", m.name)
	}
	targets := make([]int, len(requests))
	for i, r := range requests {
		if targets[i] = m.index(r.To); targets[i] < 0 {
			return Batch{}, m.unknownInbound(r.To)
		}
	}
	ctx, stop := m.harness.untilEnvoyEnds(ctx)
	defer stop()
	batch, err := m.deliverOnce(ctx, arrange, targets, requests)
	if failed := (*upstreamError)(nil); errors.As(err, &failed) && ctx.Err() == nil {
		ofControl := errors.Is(err, ErrNoControl)
		// The counters have moved, so the whole batch is sent again.
		if batch, err = m.deliverOnce(ctx, arrange, targets, requests); err == nil && !ofControl {
			batch.Evidence[failed.number].Retries++
		}
	}
	if err != nil {
		return Batch{}, fmt.Errorf("harness: %s: send: %w", m.name, err)
	}
	return batch, nil
}

func (m *Mesh) deliverOnce(ctx context.Context, arrange func(*delivery), targets []int, requests []Request) (Batch, error) {
	d := m.newDelivery(targets, requests)
	arrange(d)
	batch, err := m.send(ctx, d)
	m.countersUnknown = err != nil
	switch {
	case err == nil:
		m.harness.heard()
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		err = cmp.Or(m.harness.noteSilence(ctx), err)
	}
	return batch, err
}

func (m *Mesh) send(ctx context.Context, d *delivery) (Batch, error) {
	if m.countersUnknown {
		if err := m.rereadCounters(ctx); err != nil {
			return Batch{}, err
		}
	}
	defer d.releaseSessions()
	err := d.deliver(ctx)
	if err == nil {
		err = m.checkControl(ctx)
	}
	if err == nil {
		err = d.readUpstream(ctx)
	}
	if err != nil {
		return Batch{}, err
	}
	filters, err := m.readCounters(ctx, d.targets)
	if err != nil {
		return Batch{}, err
	}
	batch := Batch{Evidence: d.evidence, Counters: make(map[string]evidence.Counters, len(filters)), Filters: filters}
	for name, of := range filters {
		batch.Counters[name] = evidence.Sum(of)
	}
	return batch, nil
}

// rereadCounters reads all counters before a batch, where they are unknown. The control runs first: when
// Envoy has answered it, it has finished all earlier requests.
func (m *Mesh) rereadCounters(ctx context.Context) error {
	if err := m.checkControl(ctx); err != nil {
		return err
	}
	_, err := m.readCounters(ctx, m.allInbounds())
	return err
}

func (m *Mesh) allInbounds() []int {
	all := make([]int, len(m.userInbounds()))
	for i := range all {
		all[i] = i
	}
	return all
}

// checkControl proves after each batch that an allowed caller passes, with all evidence.
func (m *Mesh) checkControl(ctx context.Context) error {
	d := m.newDelivery([]int{len(m.inbounds) - 1}, []Request{{Credential: m.control}})
	d.useFreshConnections()
	defer d.releaseSessions()
	// The control is none of the requests that are due.
	err := d.deliver(progress.WithCounter(ctx, &progress.Counter{}))
	if err == nil {
		err = d.readUpstream(ctx)
	}
	if err == nil {
		var found evidence.Finding
		if found, err = d.evidence[0].Find(); err == nil && (found.Form != evidence.Served || found.Verdict.Origin != controlName) {
			err = fmt.Errorf("it was %s: %s", found.Form, found.Verdict)
		}
	}
	return controlError(ctx, err)
}

// controlError is the error of a batch whose control ended with an error, or with none. A caller who gave
// up proves nothing about the control.
func controlError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return fmt.Errorf("%w: %w", ErrNoControl, err)
	}
}

// sequence is a list of requests that go out one after the other, over one connection as
// long as it lasts.
type sequence struct {
	inbound Inbound
	// requests are the indices of the requests in the batch.
	requests []int
	// kept tells that the connection is kept for several requests.
	kept bool
}

// connectionKey is the same for requests that can share a connection.
type connectionKey struct {
	inbound    int
	credential *certs.Credential
	plaintext  bool
	sni        string
	source     netip.Addr
	// A gRPC client has one authority.
	grpc      bool
	authority string
}

// leastShare is the number of requests from which a further connection of the same caller
// pays. A handshake costs as much as a dozen requests.
const leastShare = 64

// useFreshConnections gives each request a connection of its own.
func (d *delivery) useFreshConnections() {
	for i, target := range d.targets {
		d.fresh = append(d.fresh, sequence{inbound: d.mesh.inbounds[target], requests: []int{i}})
	}
}

// shareConnections gives the requests of one caller to one inbound one connection. It gives
// them several where they are so many that other connections would be idle.
//
// A network filter judges the connection, not the request. So behind a network filter each
// request has a connection of its own, as on tcp.
func (d *delivery) shareConnections() {
	runs := map[connectionKey]int{}
	shareable := 0
	for i, target := range d.targets {
		in, r := d.mesh.inbounds[target], d.requests[i]
		if len(in.Filters.Network) > 0 || connection.MustBeAlone(d.mesh.call(in, r, netip.AddrPort{})) {
			d.fresh = append(d.fresh, sequence{inbound: in, requests: []int{i}})
			continue
		}
		key := connectionKey{inbound: target, credential: r.Credential, plaintext: r.Plaintext, sni: r.SNI, source: r.SourceIP}
		if r.GRPC != "" {
			key.grpc, key.authority = true, r.Authority
		}
		run, ok := runs[key]
		if !ok {
			run = len(d.kept)
			runs[key] = run
			d.kept = append(d.kept, sequence{inbound: in, kept: true})
		}
		d.kept[run].requests = append(d.kept[run].requests, i)
		shareable++
	}
	connections := cmp.Or(d.mesh.harness.options.concurrency, keptConnections)
	share := max(leastShare, (shareable+connections-1)/connections)
	var shares []sequence
	for _, whole := range d.kept {
		for len(whole.requests) > share {
			part := whole
			part.requests, whole.requests = whole.requests[:share], whole.requests[share:]
			shares = append(shares, part)
		}
		shares = append(shares, whole)
	}
	d.kept = shares
}

// call is the call of a request to an inbound.
func (m *Mesh) call(in Inbound, r Request, source netip.AddrPort) caller.Call {
	return caller.Call{
		Dial:        m.slot.Dial,
		Source:      source,
		Destination: in.Address,
		Protocol:    in.Protocol,
		Credential:  r.Credential,
		Plaintext:   r.Plaintext,
		SNI:         r.SNI,
		Server:      in.Identity,
		Bundles:     m.trust,
		Method:      r.Method,
		Path:        r.Path,
		Authority:   r.Authority,
		Headers:     r.Headers,
		GRPC:        r.GRPC,
		Body:        r.Body,
	}
}

// sourceIP is the address that the caller of the request plays.
func (r Request) sourceIP() netip.Addr {
	if !r.SourceIP.IsValid() {
		return endpoint.Unnamed
	}
	return r.SourceIP
}
