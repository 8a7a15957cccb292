package connection_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"

	"github.com/pires/go-proxyproto"
	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"go.uber.org/goleak"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/connection"
	"github.com/meshproof/meshproof/internal/testbed"
	"github.com/meshproof/meshproof/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	mesh     = spiffeid.RequireTrustDomainFromString("trust-domain.mesh")
	backend  = spiffeid.RequireFromPath(mesh, "/ns/default/sa/backend")
	frontend = spiffeid.RequireFromPath(mesh, "/ns/default/sa/frontend")
	source   = netip.MustParseAddrPort("10.0.0.9:4711")
	target   = netip.MustParseAddrPort("10.0.0.7:8080")
)

// inbound is a server on loopback that replaces Envoy. It demands a PROXY header and an
// SVID of the mesh.
type inbound struct {
	ca     *certs.Authority
	call   caller.Call
	mu     sync.Mutex
	played []*proxyproto.Header
	peers  []*x509.Certificate
}

// serve plays an inbound. It calls handle for each connection whose handshake succeeded.
func serve(t *testing.T, p policy.Protocol, handle func(net.Conn)) *inbound {
	t.Helper()
	ca, err := certs.NewAuthority(mesh)
	if err != nil {
		t.Fatal(err)
	}
	in := &inbound{ca: ca}
	server, client := in.mint(t, backend), in.mint(t, frontend)
	pool := x509.NewCertPool()
	for _, root := range ca.Bundle().X509Authorities() {
		pool.AddCert(root)
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{server.TLSCertificate()},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    pool,
		NextProtos:   []string{"h2", "http/1.1"},
	}
	if p == policy.TCP {
		config.NextProtos = nil
	}
	address := testbed.Serve(t, func(raw net.Conn) { in.admit(raw, config, handle) })
	in.call = caller.Call{
		Dial: address.String(), Source: source, Destination: target, Protocol: p,
		Credential: client, Server: backend, Bundles: x509bundle.NewSet(ca.Bundle()),
	}
	return in
}

func (in *inbound) admit(raw net.Conn, config *tls.Config, handle func(net.Conn)) {
	reader := bufio.NewReader(raw)
	header, err := proxyproto.Read(reader)
	if err != nil {
		return
	}
	conn := tls.Server(&buffered{raw, reader}, config)
	err = conn.Handshake()
	in.mu.Lock()
	in.played = append(in.played, header)
	in.peers = append(in.peers, conn.ConnectionState().PeerCertificates...)
	in.mu.Unlock()
	if err != nil {
		return
	}
	handle(conn)
	_ = conn.CloseWrite()
	drain(raw)
}

type buffered struct {
	net.Conn
	reader io.Reader
}

func (b *buffered) Read(p []byte) (int, error) { return b.reader.Read(p) }

// drain reads to the end. A socket that is closed with unread bytes sends a reset, and
// the reset may arrive before the bytes that were written earlier.
func drain(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

func (in *inbound) mint(t *testing.T, id spiffeid.ID) *certs.Credential {
	t.Helper()
	svid, err := in.ca.Mint(id)
	if err != nil {
		t.Fatal(err)
	}
	return svid
}

func (in *inbound) forge(t *testing.T, template certs.Template) *certs.Credential {
	t.Helper()
	c, err := in.ca.Forge(template)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// oneConnListener is a [net.Listener] with one connection, for net/http and grpc servers.
type oneConnListener struct {
	conn chan net.Conn
	done chan struct{}
	addr net.Addr
}

func newOneConnListener(conn net.Conn) *oneConnListener {
	l := &oneConnListener{conn: make(chan net.Conn, 1), done: make(chan struct{}), addr: conn.LocalAddr()}
	l.conn <- conn
	return l
}

func (l *oneConnListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conn:
		return conn, nil
	case <-l.done:
		return nil, errors.New("closed")
	}
}

func (l *oneConnListener) Close() error {
	close(l.done)
	return nil
}

func (l *oneConnListener) Addr() net.Addr { return l.addr }

// do sends one call over a connection of its own.
func do(ctx context.Context, c caller.Call) caller.Answer {
	conn := connection.Open(ctx, c, 0)
	defer conn.Close()
	return conn.Send(c)
}
