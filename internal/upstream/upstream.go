package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Upstream is a pair of echo servers: one for HTTP/1.1, HTTP/2 and gRPC, one for
// TCP. It is safe for concurrent use.
type Upstream struct {
	http   *http.Server
	httpAt net.Addr
	tcp    *tcpEcho
	ledger ledger
	served sync.WaitGroup
}

// headerTimeout bounds how long a connection may take to say whose it is.
//
// A stranger who says nothing holds a batch up for as long.
const headerTimeout = 2 * time.Second

// Start binds both servers to ports of their own on the address.
func Start(ctx context.Context, address string) (*Upstream, error) {
	var lc net.ListenConfig
	httpListener, err := lc.Listen(ctx, "tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return nil, fmt.Errorf("upstream: listen for HTTP on %s: %w", address, err)
	}
	tcpListener, err := lc.Listen(ctx, "tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("upstream: listen for TCP on %s: %w", address, err), httpListener.Close())
	}
	u := &Upstream{httpAt: httpListener.Addr(), ledger: ledger{accounts: map[netip.AddrPort]*Account{}}}
	u.tcp = newTCPEcho(tcpListener, &u.ledger)
	u.http = newHTTPEcho(&u.ledger)
	u.served.Go(func() {
		// ErrServerClosed is how Close ends it; there is nobody to tell of another.
		_ = u.http.Serve(httpListener)
	})
	u.served.Go(u.tcp.serve)
	return u, nil
}

// HTTPPort is the port of the HTTP and gRPC server.
func (u *Upstream) HTTPPort() int { return port(u.httpAt) }

// TCPPort is the port of the TCP server; it demands a PROXY protocol header.
func (u *Upstream) TCPPort() int { return port(u.tcp.listener.Addr()) }

func port(a net.Addr) int { return a.(*net.TCPAddr).Port }

// Watch starts to record what arrives from the caller, who is known by the source
// address it plays, and returns the account of it.
func (u *Upstream) Watch(caller netip.AddrPort) *Account { return u.ledger.open(caller) }

// Take ends the watch and returns what arrived since the account was last asked, nil
// for nothing.
func (u *Upstream) Take(caller netip.AddrPort) *Arrival {
	account := u.ledger.close(caller)
	if account == nil {
		return nil
	}
	return account.Take()
}

// Settle returns once every TCP connection that reached the upstream before the
// call, and belongs to one of the callers, has been read to its end. The callers
// must be gone and their connections logged, so that nothing follows; what Take
// then returns is final.
func (u *Upstream) Settle(ctx context.Context, callers ...netip.AddrPort) error {
	return u.tcp.settle(ctx, callers)
}

// Close ends all connections and waits for them.
func (u *Upstream) Close() error {
	err := errors.Join(u.http.Close(), u.tcp.close())
	u.served.Wait()
	return err
}
