package grpcplane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	xdscredentials "google.golang.org/grpc/credentials/xds"
	grpcxds "google.golang.org/grpc/xds"

	"github.com/meshproof/meshproof/certs"
)

// serverID is the SVID of the server. No caller is of its trust domain.
var serverID = spiffeid.RequireFromString("spiffe://grpcplane.meshproof/server")

// Plane is an xDS-enabled gRPC server that judges programs. It is safe for concurrent
// use.
type Plane struct {
	programs int
	ca       *certs.Federation
	bundles  *x509bundle.Set
	address  string
	dir      string
	control  *controlPlane
	server   *grpcxds.GRPCServer
	served   chan struct{}
	arrivals arrivals

	mu      sync.Mutex
	clients map[*certs.Credential]*grpc.ClientConn
	closing sync.Once
	closed  error
}

// Start starts a server that trusts the trust domains, and returns when it serves. [Rules]
// makes the programs, and [Plane.Ask] names a program by its index. The error says why the
// server refused its listener. The context limits the start only. The caller must close
// the plane.
func Start(ctx context.Context, domains []spiffeid.TrustDomain, programs []*rbacv3.RBAC) (*Plane, error) {
	p := &Plane{programs: len(programs), ca: new(certs.Federation), clients: map[*certs.Credential]*grpc.ClientConn{}}
	if err := p.start(ctx, domains, programs); err != nil {
		return nil, errors.Join(fmt.Errorf("grpcplane: start: %w", err), p.Close())
	}
	return p, nil
}

func (p *Plane) start(ctx context.Context, domains []spiffeid.TrustDomain, programs []*rbacv3.RBAC) (err error) {
	if p.bundles, err = p.ca.BundleSet(serverID.TrustDomain()); err != nil {
		return err
	}
	if p.dir, err = os.MkdirTemp("", "grpcplane"); err != nil {
		return err
	}
	if err := p.writeCertificates(domains); err != nil {
		return err
	}
	var lc net.ListenConfig
	lis, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	// A server that serves closes the listener itself.
	defer func() {
		if p.served == nil {
			_ = lis.Close()
		}
	}()
	p.address = lis.Addr().String()
	resource, err := newListener(lis.Addr().(*net.TCPAddr), programs)
	if err != nil {
		return err
	}
	socket := filepath.Join(p.dir, "ads.sock")
	if p.control, err = serveListener(socket, resource); err != nil {
		return err
	}
	bootstrap, err := newBootstrap(socket, p.dir)
	if err != nil {
		return err
	}
	credentials, err := xdscredentials.NewServerCredentials(xdscredentials.ServerOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		return err
	}
	modes := make(chan grpcxds.ServingModeChangeArgs, 1)
	p.server, err = grpcxds.NewGRPCServer(
		grpc.Creds(credentials), grpcxds.BootstrapContentsForTesting(bootstrap), grpc.UnknownServiceHandler(p.arrivals.serve),
		grpcxds.ServingModeCallback(func(_ net.Addr, args grpcxds.ServingModeChangeArgs) {
			// Start waits for the first change only.
			select {
			case modes <- args:
			default:
			}
		}),
	)
	if err != nil {
		return err
	}
	p.served = make(chan struct{})
	go func() {
		defer close(p.served)
		// Serve returns when Close stops the server. After other failures, requests fail.
		_ = p.server.Serve(lis)
	}()
	select {
	case mode := <-modes:
		if mode.Mode != connectivity.ServingModeServing {
			return fmt.Errorf("the server does not serve: %w", mode.Err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the server to serve: %w", context.Cause(ctx))
	}
}

// Authority returns the CA of a trust domain. The server trusts the CAs of the domains
// that [Start] got.
func (p *Plane) Authority(td spiffeid.TrustDomain) (*certs.Authority, error) {
	return p.ca.Authority(td)
}

// Close ends the server, its control plane and the connections, and waits for them. It may
// be called more than once.
func (p *Plane) Close() error {
	p.closing.Do(func() {
		var errs []error
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, client := range p.clients {
			errs = append(errs, client.Close())
		}
		if p.server != nil {
			p.server.Stop()
		}
		if p.served != nil {
			<-p.served
		}
		if p.control != nil {
			p.control.close()
		}
		if p.dir != "" {
			errs = append(errs, os.RemoveAll(p.dir))
		}
		p.closed = errors.Join(errs...)
	})
	return p.closed
}
