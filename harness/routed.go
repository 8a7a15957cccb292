package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/connection"
	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/upstream"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// SendRouted sends requests of workloads through their own sidecars, all at once, each over a
// connection of its own, and returns their evidence, with what they moved the RBAC counters of
// all inbounds by.
//
// It is an error if the evidence is not complete, or if the positive control behind the
// batch, which passes two proxies too, failed; then the error wraps [ErrNoControl]. A request
// that a bound ends or an inbound refuses is no error.
func (m *Mesh) SendRouted(ctx context.Context, requests ...exchange.Request) (exchange.Batch, error) {
	if err := m.takeTurn(ctx); err != nil {
		return exchange.Batch{}, err
	}
	defer m.endTurn()
	if m.filtersUnknown {
		return exchange.Batch{}, fmt.Errorf("harness: %s: send through sidecars: a push was cut off, and what is live is unknown: set the filters or the sidecar again", m.name)
	}
	crossings := make([]*crossing, len(requests))
	for i, r := range requests {
		var err error
		if crossings[i], err = m.newCrossing(r); err != nil {
			return exchange.Batch{}, fmt.Errorf("harness: %s: send through sidecars: %w", m.name, err)
		}
	}
	ctx, stop := m.harness.untilEnvoyEnds(ctx)
	defer stop()
	batch, err := m.cross(ctx, crossings)
	m.countersUnknown = err != nil
	if err != nil {
		return exchange.Batch{}, fmt.Errorf("harness: %s: send through sidecars: %w", m.name, err)
	}
	m.harness.heard()
	return batch, nil
}

// cross sends the requests and the positive control behind them, and then reads the counters of all
// inbounds: a request that the log of no inbound has is counted too.
func (m *Mesh) cross(ctx context.Context, crossings []*crossing) (batch exchange.Batch, err error) {
	defer func() {
		for _, p := range crossings {
			p.release()
		}
	}()
	if m.countersUnknown {
		if err := m.rereadCounters(ctx); err != nil {
			return batch, err
		}
	}
	if err := m.sendAll(ctx, crossings); err != nil {
		return batch, err
	}
	if err := m.checkRouted(ctx); err != nil {
		return batch, err
	}
	for _, p := range crossings {
		if err := p.checkRest(ctx); err != nil {
			return batch, err
		}
		batch.Evidence = append(batch.Evidence, p.evidence)
	}
	batch.Filters, err = m.readCounters(ctx, m.allInbounds())
	return batch, err
}

// checkRouted proves behind each batch that a request passes both proxies. Behind it all entries of earlier requests
// are there.
func (m *Mesh) checkRouted(ctx context.Context) error {
	p, err := m.newCrossing(exchange.Request{From: controlName, To: controlName, Authority: "control"})
	if err != nil {
		return err
	}
	defer p.release()
	if err = p.run(ctx); err == nil {
		var found exchange.Finding
		if found, err = p.evidence.Find(); err == nil && (found.Cause != routing.Answered || found.Verdict.Origin != controlName) {
			err = fmt.Errorf("it was %s: %s", found.Cause, found.Verdict)
		}
	}
	if err == nil {
		waiting, cancel := context.WithTimeout(ctx, evidenceTimeout)
		defer cancel()
		err = m.harness.control.SettleOutbounds(waiting)
	}
	return controlError(ctx, err)
}

// sendAll first sends, at once, the requests that may have others beside them in their sidecar. Then
// it sends the requests that are alone, one after the other. Sidecars do not wait for each other.
func (m *Mesh) sendAll(ctx context.Context, crossings []*crossing) error {
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	bySidecar := map[int][]*crossing{}
	for _, p := range crossings {
		bySidecar[p.sidecar.number] = append(bySidecar[p.sidecar.number], p)
	}
	run := func(p *crossing) {
		if ctx.Err() == nil {
			if err := p.run(ctx); err != nil {
				abort(fmt.Errorf("%s to %s: %w", p.request.From, p.request.To, err))
			}
		}
	}
	places := make(chan struct{}, cmp.Or(m.harness.options.concurrency, atOnce))
	var all sync.WaitGroup
	for _, of := range bySidecar {
		all.Go(func() {
			var shared sync.WaitGroup
			for _, p := range of {
				if !p.request.Alone {
					shared.Go(func() {
						places <- struct{}{}
						defer func() { <-places }()
						run(p)
					})
				}
			}
			shared.Wait()
			for _, p := range of {
				if p.request.Alone {
					run(p)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// atOnce is the number of requests through outbounds that are under way at once. Most of them
// wait for a bound, so that there may be more than Envoy could answer at once.
const atOnce = 64

// crossing is one request through two proxies, and later its evidence.
type crossing struct {
	mesh    *Mesh
	request exchange.Request
	sidecar sidecar
	program routing.Outbound
	// source is the address that the caller plays; it has no port before run.
	source, destination netip.AddrPort
	trace               *trace
	arrivals            *upstream.Account
	evidence            exchange.Evidence
	inbound             *Inbound
	// lost counts the attempts that proved nothing.
	lost int
}

func (m *Mesh) newCrossing(r exchange.Request) (*crossing, error) {
	of := m.userSidecars()
	if r.From == controlName {
		of = m.sidecars
	}
	i := slices.IndexFunc(of, func(s sidecar) bool { return s.Name == r.From })
	if i < 0 {
		return nil, fmt.Errorf("the mesh has no sidecar %q", r.From)
	}
	p := &crossing{mesh: m, request: r, sidecar: of[i]}
	o := slices.IndexFunc(p.sidecar.Program.Outbounds, func(o routing.Outbound) bool { return o.Name == r.To })
	if o < 0 {
		return nil, fmt.Errorf("sidecar %s has no outbound %q", r.From, r.To)
	}
	p.program = p.sidecar.Program.Outbounds[o]
	p.destination = destination(o, p.program)
	return p, nil
}

// call is what the workload sends to its sidecar.
func (p *crossing) call() caller.Call {
	r := p.request
	return caller.Call{
		Dial: p.mesh.slot.Dial, Source: p.source, Destination: p.destination, Protocol: p.program.Protocol, Plaintext: true,
		Method: r.Method, Path: r.Path, Authority: cmp.Or(r.Authority, p.program.Name), Headers: r.Headers, GRPC: r.GRPC, Body: r.Body,
	}
}

// errLost is the error of a request that a proxy on its way never saw: a bound, or the caller,
// ended the connection before the proxy had read from it. Only a machine that stood still lets
// so much time go by.
var errLost = errors.New("it was cut before a proxy had read it, as on a machine under heavy load")

// run sends the request and waits for what it leaves behind. A request that was lost on its way
// proves nothing, and is sent again.
func (p *crossing) run(ctx context.Context) error {
	for {
		err := p.runOnce(ctx)
		if errors.Is(err, errLost) && p.arrivals.Take() != nil {
			return errors.New("a proxy on its way logged no request, but the application saw it: something leads past the proxy")
		}
		if !errors.Is(err, errLost) || p.lost == exchange.Tries || p.sidecar.Name == controlName {
			p.evidence.Retries = p.lost
			return err
		}
		p.release()
		p.lost++
	}
}

func (p *crossing) runOnce(ctx context.Context) error {
	port, err := p.mesh.harness.sources.take()
	if err != nil {
		return err
	}
	p.source = netip.AddrPortFrom(p.sidecar.Address, port)
	p.trace = p.mesh.harness.collector.trace(p.source, p.destination)
	p.arrivals = p.mesh.harness.upstream.Watch(p.source)
	p.arrivals.Play(p.request.Answer)
	before, err := p.counters(ctx)
	if err != nil {
		return err
	}
	answer, err := connection.SendRouted(ctx, p.call(), p.request, evidenceTimeout, p.trace.left)
	if err != nil {
		return fmt.Errorf("the lab could not send the request: %w", err)
	}
	p.evidence = exchange.Evidence{
		Request: p.request, Protocol: p.program.Protocol, Identity: p.sidecar.Identity.String(), Answer: answer,
	}
	waiting, cancel := context.WithTimeout(ctx, evidenceTimeout)
	defer cancel()
	if err := p.readLogs(waiting); err != nil {
		return fmt.Errorf("the caller saw %s, but %w", answer, err)
	}
	if err := p.readArrival(waiting); err != nil {
		return err
	}
	return p.readCounters(waiting, before)
}

// readLogs reads the entry of the outbound, and the entry of the inbound where there must be one.
func (p *crossing) readLogs(ctx context.Context) error {
	t := p.trace
	outboundRead := func() bool { return len(t.outbounds) > 0 }
	// On tcp a connection has an entry also where nothing was read from it, but no sooner than its outbound is done
	// with it: it still connects, or the application still answers.
	if p.evidence.Answer.End == exchange.GaveUp && p.program.Protocol.Layer() == policy.L7 {
		if err := p.checkLogged(ctx, outboundRead); err != nil {
			return err
		}
	}
	if err := t.wait(ctx, "outbound", outboundRead); err != nil {
		return err
	}
	log := t.outbounds[0]
	p.evidence.Outbound = log
	for _, e := range p.sidecar.Endpoints[log.Cluster] {
		if e.Inbound != "" {
			p.evidence.Endpoints = append(p.evidence.Endpoints, e.Inbound)
		}
	}
	i := slices.IndexFunc(p.mesh.inbounds, func(in Inbound) bool { return in.Name == log.Endpoint })
	if i < 0 || !log.ReachedEndpoint() {
		return nil
	}
	in := p.mesh.inbounds[i]
	p.inbound = &in
	// Where the inbound ended the connection before it answered, it saw no request: it refused
	// the handshake, or a network filter refused the connection.
	needsRequest := in.Protocol.Layer() == policy.L7 && !log.ResetByEndpoint()
	needsConnection := !needsRequest || len(in.Filters.Network) > 0
	err := t.wait(ctx, "inbound "+in.Name, func() bool {
		return (!needsRequest || len(t.requests) > 0 || len(t.connections) > 0) && (!needsConnection || len(t.connections) > 0)
	})
	if err != nil {
		return err
	}
	if needsRequest {
		// The entries of requests and of connections come on two streams.
		if err := p.checkLogged(ctx, func() bool { return len(t.requests) > 0 }); err != nil {
			return err
		}
	}
	found := &exchange.Inbound{Name: in.Name, Identity: in.Identity.String(), Address: in.Address, Plaintext: in.MTLS == xds.Disable}
	p.mesh.harness.collector.mu.Lock()
	defer p.mesh.harness.collector.mu.Unlock()
	switch {
	case !needsRequest:
		found.Log = t.connections[0]
	case needsConnection:
		found.Log = withConnectionFilters(entry{AccessLog: t.requests[0]}, entry{AccessLog: t.connections[0]}).AccessLog
	default:
		found.Log = t.requests[0]
	}
	in.nameShadows(found.Log.Filters)
	p.evidence.Inbound = found
	return nil
}

// checkLogged returns [errLost] where the request has no entry: there is none when the entries of a later
// request are there. Logged runs under the lock of the collector.
func (p *crossing) checkLogged(ctx context.Context, logged func() bool) error {
	if p.trace.has(logged) {
		return nil
	}
	if err := p.mesh.checkRouted(ctx); err != nil || p.trace.has(logged) {
		return err
	}
	return errLost
}

// readArrival takes what the upstream saw. Its scripts end when the request does.
func (p *crossing) readArrival(ctx context.Context) error {
	if err := p.arrivals.Wait(ctx); err != nil {
		return fmt.Errorf("the upstream is still at its script: %w", err)
	}
	if p.program.Protocol.Layer() == policy.L4 && p.inbound != nil {
		if err := p.mesh.harness.upstream.Settle(ctx, p.source); err != nil {
			return err
		}
	}
	p.evidence.Arrival = p.arrivals.Take()
	return nil
}

// checkRest looks for what must not exist, when nothing more can come: the positive control
// behind the batch has passed the same way. The application may have seen a request only after a
// bound had ended it. That is its arrival.
func (p *crossing) checkRest(ctx context.Context) error {
	if err := p.arrivals.Wait(ctx); err != nil {
		return fmt.Errorf("%s to %s: the upstream is still at its script: %w", p.request.From, p.request.To, err)
	}
	p.mesh.harness.collector.mu.Lock()
	defer p.mesh.harness.collector.mu.Unlock()
	t, want := p.trace, 0
	if p.evidence.Inbound != nil && p.evidence.Inbound.Log.Request {
		want = 1
	}
	if t.failure != nil {
		return t.failure
	}
	if len(t.outbounds) != 1 || len(t.requests) != want {
		return fmt.Errorf("%s to %s: one request left %d entries in the log of the outbound, and %d in those of inbounds", p.request.From, p.request.To, len(t.outbounds), len(t.requests))
	}
	switch more := p.arrivals.Take(); {
	case more == nil:
	case p.evidence.Arrival == nil:
		p.evidence.Arrival = more
	default:
		return fmt.Errorf("%s to %s: the upstream saw something after the request had ended", p.request.From, p.request.To)
	}
	return nil
}

func (p *crossing) release() {
	if p.trace == nil {
		return
	}
	p.mesh.harness.collector.untrace(p.source)
	p.mesh.harness.upstream.Take(p.source)
	p.mesh.harness.sources.release(p.source.Port())
}
