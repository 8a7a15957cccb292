package grpcplane

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	"github.com/spiffe/go-spiffe/v2/spiffetls/tlsconfig"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// ErrUnsupported is wrapped by the error of [Rules] for a program that grpc-go cannot
// run.
var ErrUnsupported = errors.New("grpc-go cannot run it")

// Rules returns the rules that package xds compiles from the program. They are nil for a
// program without a gate, which allows everything. The error wraps [ErrUnsupported], or is
// an error of [xds.Compile].
func Rules(p policy.Program) (*rbacv3.RBAC, error) {
	switch {
	case len(p.Routes) > 0:
		return nil, fmt.Errorf("grpcplane: the program has routes: %w", ErrUnsupported)
	case len(p.Gates) > 1:
		return nil, fmt.Errorf("grpcplane: the program has %d gates: %w", len(p.Gates), ErrUnsupported)
	case len(p.Gates) == 0:
		return nil, nil
	case p.Gates[0].Logs():
		return nil, fmt.Errorf("grpcplane: the gate of the program only logs: %w", ErrUnsupported)
	case p.Gates[0].Form != policy.Named:
		return nil, fmt.Errorf("grpcplane: the rules of the program are ordered: %w", ErrUnsupported)
	}
	for _, rule := range p.Gates[0].Rules {
		for c := range policy.Walk(rule.When) {
			if is, ok := c.(policy.Is); ok && is.Attribute != nil {
				if why := unaskable(is.Attribute); why != "" {
					return nil, fmt.Errorf("grpcplane: rule %s asks for %s: %w", rule.Verdict, why, ErrUnsupported)
				}
			}
		}
	}
	f, err := xds.Compile(policy.Program{Gates: p.Gates})
	if err != nil {
		return nil, err
	}
	if len(f.Network) > 0 {
		return f.Network[0].GetRules(), nil
	}
	return f.HTTP[0].GetRules(), nil
}

// unaskable returns why no rule can ask for the attribute, and "" where it can. Requests
// differ by the names of their callers alone.
func unaskable(a *policy.Attribute) string {
	switch {
	case a == attribute.URISAN:
		return ""
	case a == attribute.SNI:
		return "the server name of the handshake, which grpc-go always takes for empty"
	case a.Family == "claim":
		return "a claim of a token, which grpc-go does not verify"
	default:
		return "the attribute " + a.Name + ", by which the requests of this plane do not differ"
	}
}

// ErrNoConnection is wrapped by the error of a request without a connection: the server
// refused the caller's certificate, or has ended.
var ErrNoConnection = errors.New("there is no connection")

// Ask sends a request with the credential and returns the decision of the program with
// that index. The error reports that the two sides disagree: the caller was refused and
// the service saw the request, or the opposite.
func (p *Plane) Ask(ctx context.Context, program int, credential *certs.Credential) (policy.Effect, error) {
	if program < 0 || program >= p.programs {
		return policy.Deny, fmt.Errorf("grpcplane: there is no program %d: there are %d", program, p.programs)
	}
	client, err := p.client(credential)
	if err != nil {
		return policy.Deny, fmt.Errorf("grpcplane: %w", err)
	}
	number := p.arrivals.next()
	err = client.Invoke(metadata.AppendToOutgoingContext(ctx, numberHeader, number), "/"+serviceName(program)+"/Ask", &emptypb.Empty{}, &emptypb.Empty{})
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

// client returns the connection of a credential. Each credential has one.
func (p *Plane) client(credential *certs.Credential) (*grpc.ClientConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if client := p.clients[credential]; client != nil {
		return client, nil
	}
	client, err := grpc.NewClient("passthrough:///"+p.address, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS12,
		// Go would look for a DNS name. The name of the server is its SPIFFE ID, and the
		// next field verifies it.
		InsecureSkipVerify:    true,
		VerifyPeerCertificate: tlsconfig.VerifyPeerCertificate(p.bundles, tlsconfig.AuthorizeID(serverID)),
		// By default, Go sends no certificate when the server does not ask for its issuer.
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

// numberHeader carries the number of a request.
const numberHeader = "meshproof-request"

// arrivals holds the numbers of the requests that the service saw.
type arrivals struct {
	last atomic.Uint64
	seen sync.Map
}

func (a *arrivals) next() string { return strconv.FormatUint(a.last.Add(1), 10) }

func (a *arrivals) take(number string) bool {
	_, seen := a.seen.LoadAndDelete(number)
	return seen
}

// serve is the service. It answers every request.
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
