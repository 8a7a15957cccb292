package harness

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
)

const (
	// evidenceTimeout bounds the wait for one request and its evidence.
	evidenceTimeout = 10 * time.Second
	// faultRetries is how often a call is made again after a transport fault.
	faultRetries = 2
)

// ask makes one call and waits for its access log entry. A call that failed in
// the transport is made again, and counted. Without an error, what the upstream
// saw is still to be taken.
func (m *Mesh) ask(ctx context.Context, in Inbound, r Request) (evidence.Evidence, error) {
	for retries := 0; ; retries++ {
		e, err := m.askOnce(ctx, in, r, retries)
		switch {
		case err == nil:
			return e, nil
		case e.Answer.Outcome != caller.Fault || retries == faultRetries || ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
			return evidence.Evidence{}, err
		}
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
		if e.Log, err = logs.take(ctx, request); err == nil && request && len(in.Filters.Network) > 0 {
			err = logs.addConnection(ctx, &e.Log)
		}
		if err != nil {
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
