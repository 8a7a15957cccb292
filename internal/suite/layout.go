package suite

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/destination"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/xds"
)

// layout is compiled cases in one mesh. A single case keeps the names and addresses of its
// inbounds; of several cases, each gets names and addresses of its own.
type layout struct {
	runner Runner
	runs   []*run
}

// name returns the name of an inbound in the mesh.
func (l layout) name(run int, inbound string) string {
	if len(l.runs) == 1 {
		return inbound
	}
	return fmt.Sprintf("%d/%s", run, inbound)
}

// spec describes the mesh. It trusts the trust domains of all cases; see [run.isAlone].
func (l layout) spec() harness.MeshSpec {
	var spec harness.MeshSpec
	addresses := 0
	for i, one := range l.runs {
		for _, td := range one.reading.Case.TrustDomains {
			if !slices.Contains(spec.TrustDomains, td) {
				spec.TrustDomains = append(spec.TrustDomains, td)
			}
		}
		own := map[netip.Addr]netip.Addr{}
		for _, in := range one.inbounds {
			if len(l.runs) > 1 {
				ip := in.Address.Addr()
				if _, ok := own[ip]; !ok {
					addresses++
					own[ip] = netip.AddrFrom4([4]byte{10, byte(addresses >> 16), byte(addresses >> 8), byte(addresses)})
				}
				in.Address = netip.AddrPortFrom(own[ip], in.Address.Port())
			}
			in.Name = l.name(i, in.Name)
			spec.Inbounds = append(spec.Inbounds, in)
		}
		if one.routes != nil {
			// Such a case is alone, so that its names and addresses stand.
			for _, s := range one.routes.Sidecars {
				spec.Sidecars = append(spec.Sidecars, s.Sidecar)
			}
		}
	}
	return spec
}

// play brings up the mesh, asks for everything, and takes the mesh down.
func (l layout) play(ctx context.Context) {
	mesh, err := l.runner.Harness.NewMesh(ctx, l.spec())
	switch {
	case errors.Is(err, xds.ErrNACK) && len(l.runs) > 1:
		l.playAlone(ctx, err)
		return
	case errors.Is(err, xds.ErrNACK):
		l.runs[0].result.Err = l.runs[0].refused(ctx, err)
		return
	case err != nil:
		l.fault(err)
		return
	}
	if c := l.runs[0].result.Case; c.ExpectError != "" {
		l.runs[0].result.Err = fmt.Errorf("the policies were accepted; an error that contains %q was expected", c.ExpectError)
	} else {
		l.ask(ctx, mesh)
	}
	// The mesh is closed although the case was cut off: the next mesh needs its port.
	if err := mesh.Close(context.WithoutCancel(ctx)); err != nil {
		l.fault(err)
	}
}

// fault says that the machine failed all cases for which that is not known already.
func (l layout) fault(err error) {
	for _, one := range l.runs {
		if !one.result.Fault {
			one.result.Fault, one.result.Err = true, errors.Join(one.result.Err, err)
		}
	}
}

// playAlone plays each case in a mesh of its own, after Envoy refused all of them together:
// that tells whose filters Envoy refuses.
func (l layout) playAlone(ctx context.Context, together error) {
	refused := false
	for _, one := range l.runs {
		layout{l.runner, []*run{one}}.play(ctx)
		refused = refused || one.result.Fault || errors.Is(one.result.Err, xds.ErrNACK)
	}
	if !refused {
		l.fault(fmt.Errorf("suite: Envoy refuses %d cases in one push, and takes each alone: %w", len(l.runs), together))
	}
}

// ask sends the requests of all cases as one batch, and judges each case by its own.
func (l layout) ask(ctx context.Context, mesh *harness.Mesh) {
	minted := newCredentials(mesh, l.runner.Fault)
	var requests []harness.Request
	for i, one := range l.runs {
		own, err := one.requests(minted)
		if err != nil {
			one.result.Err = err
			continue
		}
		for _, q := range own {
			q.To = l.name(i, q.To)
			requests = append(requests, q)
		}
	}
	var batch harness.Batch
	if len(requests) > 0 {
		send := mesh.Send
		if l.runner.Kept {
			send = mesh.Stream
		}
		var err error
		if batch, err = send(ctx, requests...); err != nil {
			l.fault(err)
			return
		}
	}
	left := batch.Evidence
	for i, one := range l.runs {
		if one.result.Err != nil {
			continue
		}
		filters := map[string][]evidence.FilterCounters{}
		for _, in := range one.inbounds {
			if moved, ok := batch.Filters[l.name(i, in.Name)]; ok {
				filters[in.Name] = moved
			}
		}
		n := len(one.reading.Case.Requests)
		one.judge(left[:n], filters)
		left = left[n:]
	}
	for _, one := range l.runs {
		if len(one.reading.Case.RoutedRequests) > 0 {
			if err := one.sendRouted(ctx, mesh); err != nil {
				one.result.Fault, one.result.Err = true, errors.Join(one.result.Err, err)
				continue
			}
		}
		one.judgeCounters()
	}
}

// requests returns the requests of the case as the harness sends them.
func (r *run) requests(minted credentials) ([]harness.Request, error) {
	var out []harness.Request
	for _, q := range r.reading.Case.Requests {
		credential, err := minted.credential(q.From)
		if err != nil {
			return nil, fmt.Errorf("%s: mint %s: %w", q.Place, q.From.Name, err)
		}
		path, headers := q.Path, q.Headers
		if q.Token != nil {
			if path, headers, err = r.reading.Inbound(q.To).Program.Tokens.Send(q.Token, time.Now(), path, headers); err != nil {
				return nil, fmt.Errorf("%s: %w", q.Place, err)
			}
		}
		out = append(out, harness.Request{
			To: q.To, Credential: credential, Plaintext: q.From.Plaintext, SNI: q.SNI, SourceIP: q.SourceIP,
			Method: q.Method, Path: path, Authority: q.Authority, Headers: headers, GRPC: q.GRPC,
		})
	}
	return out, nil
}

// isAlone reports whether a case needs a mesh of its own: Envoy may have to refuse the case,
// or its inbounds do not trust one of its callers, and another case may trust that caller, or
// its policies ask for the address of an inbound, which is another one beside other cases.
func (r *run) isAlone() bool {
	c := r.reading.Case
	return c.ExpectError != "" || r.asksForAddress() || len(c.RoutedRequests) > 0 || slices.ContainsFunc(c.Requests, func(q cases.Request) bool {
		return !q.From.Plaintext && !q.From.Anonymous && !slices.Contains(c.TrustDomains, q.From.SignedBy)
	})
}

// asksForAddress reports whether the policies ask for the address of an inbound.
func (r *run) asksForAddress() bool {
	return slices.ContainsFunc(r.reading.Inbounds(), func(in verdict.Inbound) bool {
		return destination.IsAsked(in.Program.Program)
	})
}

// credentials mints each certificate once. Callers that differ in nothing but their name
// share one.
type credentials struct {
	authority func(spiffeid.TrustDomain) (*certs.Authority, error)
	minted    map[credentialKey]*certs.Credential
}

// credentialKey is what a certificate is: what it says, and the CA that signs it.
type credentialKey struct {
	template string
	signedBy spiffeid.TrustDomain
}

// newCredentials returns credentials that the mesh trusts, unless the fault is that it
// does not.
func newCredentials(mesh *harness.Mesh, f Fault) credentials {
	c := credentials{mesh.Authority, map[credentialKey]*certs.Credential{}}
	if f.StaleTrust {
		c.authority = new(certs.Federation).Authority
	}
	return c
}

// credential returns what a caller shows, nil for no certificate.
func (c credentials) credential(from cases.Caller) (*certs.Credential, error) {
	if from.Plaintext || from.Anonymous {
		return nil, nil
	}
	key := credentialKey{fmt.Sprintf("%#v", from.Template), from.SignedBy}
	if credential := c.minted[key]; credential != nil {
		return credential, nil
	}
	ca, err := c.authority(from.SignedBy)
	if err != nil {
		return nil, err
	}
	credential, err := ca.Forge(from.Template)
	c.minted[key] = credential
	return credential, err
}
