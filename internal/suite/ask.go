package suite

import (
	"context"
	"errors"
	"fmt"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/harness/evidence"
)

// ask sends all requests of the case as one batch and judges what came of it.
func (r *run) ask(ctx context.Context, mesh *harness.Mesh) error {
	c := r.result.Case
	wallet := newWallet(mesh, r.runner.Fault)
	requests := make([]harness.Request, len(c.Requests))
	for i, q := range c.Requests {
		credential, err := wallet.credential(q.From)
		if err != nil {
			return fmt.Errorf("%s: mint %s: %w", q.Place, q.From.Name, err)
		}
		requests[i] = harness.Request{
			To: q.To, Credential: credential, Plaintext: q.From.Plaintext, SourceIP: q.SourceIP,
			Method: q.Method, Path: q.Path, Authority: q.Authority, GRPC: q.GRPC,
		}
		for _, h := range q.Headers {
			requests[i].Headers = append(requests[i].Headers, caller.Header(h))
		}
	}
	send := mesh.Send
	if r.runner.Kept {
		send = mesh.Stream
	}
	batch, err := send(ctx, requests...)
	if err != nil {
		r.result.Fault = true
		return err
	}
	r.result.Counters = batch.Counters
	findings := map[string][]evidence.Finding{}
	for i, q := range c.Requests {
		judged := r.judge(q, batch.Evidence[i])
		r.result.Requests = append(r.result.Requests, judged)
		findings[q.To] = append(findings[q.To], judged.Finding)
	}
	r.noteOption()
	r.note()
	return errors.Join(r.checkConservation(findings), r.checkCounters())
}

// wallet mints each caller's credential once.
type wallet struct {
	mesh  *harness.Mesh
	known map[string]*certs.Credential
	// rotated has CAs that the mesh does not know; nil for the mesh's own.
	rotated *certs.Federation
}

func (w wallet) credential(c cases.Caller) (*certs.Credential, error) {
	if c.Plaintext || c.Anonymous {
		return nil, nil
	}
	if credential := w.known[c.Name]; credential != nil {
		return credential, nil
	}
	ca, err := w.authority(c.SignedBy)
	if err != nil {
		return nil, err
	}
	credential, err := ca.Forge(c.Template)
	w.known[c.Name] = credential
	return credential, err
}
