package grpcplane

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/spiffe/go-spiffe/v2/spiffetls/tlsconfig"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/policy"
)

// ErrNoConnection is wrapped by the error of a request that found no connection: the
// server refused the caller's certificate, or is gone.
var ErrNoConnection = errors.New("no connection came about")

// Ask sends a request, as the holder of the credential, that the program of that index
// judges. It returns an error where the sides disagree: the caller was refused and the
// service saw the request, or the other way round.
func (p *Plane) Ask(ctx context.Context, program int, credential *certs.Credential) (policy.Effect, error) {
	if program < 0 || program >= p.programs {
		return policy.Deny, fmt.Errorf("grpcplane: there is no program %d: there are %d", program, p.programs)
	}
	client, err := p.client(credential)
	if err != nil {
		return policy.Deny, fmt.Errorf("grpcplane: %w", err)
	}
	number := p.arrivals.next()
	err = client.Invoke(metadata.AppendToOutgoingContext(ctx, numberHeader, number), "/"+service(program)+"/Ask", &emptypb.Empty{}, &emptypb.Empty{})
	arrived := p.arrivals.take(number)
	switch code := status.Code(err); {
	case code == codes.OK && arrived:
		return policy.Allow, nil
	case code == codes.PermissionDenied && !arrived:
		return policy.Deny, nil
	case code == codes.Unavailable && !arrived:
		return policy.Deny, fmt.Errorf("grpcplane: ask as %s: %w: %w", credential, ErrNoConnection, err)
	default:
		return policy.Deny, fmt.Errorf("grpcplane: ask as %s: the caller got %v, the service saw the request: %t", credential, err, arrived)
	}
}

// client is the one connection of a credential.
func (p *Plane) client(credential *certs.Credential) (*grpc.ClientConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if client := p.clients[credential]; client != nil {
		return client, nil
	}
	client, err := grpc.NewClient("passthrough:///"+p.address, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS12,
		// The server's name is its SPIFFE ID, verified below; Go would look for a DNS name.
		InsecureSkipVerify:    true,
		VerifyPeerCertificate: tlsconfig.VerifyPeerCertificate(p.bundles, tlsconfig.AuthorizeID(serverID)),
		// Go withholds by itself a certificate whose issuer the server does not ask for.
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			cert := credential.TLSCertificate()
			return &cert, nil
		},
	})))
	if err == nil {
		p.clients[credential] = client
	}
	return client, err
}

// numberHeader tells requests apart.
const numberHeader = "meshproof-request"

// arrivals are the requests that the service saw.
type arrivals struct {
	last atomic.Uint64
	seen sync.Map
}

func (a *arrivals) next() string { return strconv.FormatUint(a.last.Add(1), 10) }

func (a *arrivals) take(number string) bool {
	_, seen := a.seen.LoadAndDelete(number)
	return seen
}

// serve is the service: it answers whatever reaches it.
func (a *arrivals) serve(_ any, stream grpc.ServerStream) error {
	if md, ok := metadata.FromIncomingContext(stream.Context()); ok {
		for _, number := range md.Get(numberHeader) {
			a.seen.Store(number, struct{}{})
		}
	}
	if err := stream.RecvMsg(&emptypb.Empty{}); err != nil {
		return err
	}
	return stream.SendMsg(&emptypb.Empty{})
}
