// Package upstream is the application behind every inbound. It echoes HTTP, gRPC and TCP,
// and records the requests of the callers that it watches. It answers a caller by script where
// its account has one.
//
// The package guarantees that a request is recorded before its answer is sent: a caller
// that has the answer can take the record. Requests of other callers are answered and not
// recorded. A request that does not show the secret of the upstream, which Envoy alone
// knows, is refused: other programs may reach the ports.
package upstream

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/script"
)

// Upstream is a pair of echo servers: one for HTTP/1.1, HTTP/2 and gRPC, one for
// TCP. It is safe for concurrent use.
type Upstream struct {
	http        *http.Server
	httpAddress net.Addr
	tcp         *tcpEcho
	secret      secret
	ledger      ledger
	unreachable unreachable
	served      sync.WaitGroup
}

// headerTimeout is the longest time that a connection may take to name its caller. It is
// long, because it must not end when the machine stands still for some seconds: the server
// would refuse a request that Envoy let pass.
const headerTimeout = time.Minute

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
	u := &Upstream{httpAddress: httpListener.Addr(), secret: secret(rand.Text()), ledger: ledger{accounts: map[netip.AddrPort]*Account{}}, unreachable: unreachable{address: address}}
	u.tcp = newTCPEcho(tcpListener, &u.ledger, u.secret)
	u.http = newHTTPEcho(&u.ledger, u.secret)
	u.served.Go(func() {
		// Close ends Serve with ErrServerClosed. No other error can be reported here.
		_ = u.http.Serve(httpListener)
	})
	u.served.Go(u.tcp.serve)
	return u, nil
}

// Secret is what a request has to show: over HTTP behind the address in the header
// [controlplane.CallerHeader], over TCP in the TLV [controlplane.SecretTLV] of the PROXY
// protocol header. It is random.
func (u *Upstream) Secret() string { return string(u.secret) }

type secret string

// is compares in a time that says nothing about the secret.
func (s secret) is(shown string) bool {
	return subtle.ConstantTimeCompare([]byte(s), []byte(shown)) == 1
}

// HTTPPort returns the port of the HTTP and gRPC server.
func (u *Upstream) HTTPPort() int { return port(u.httpAddress) }

// TCPPort returns the port of the TCP server. The server demands a PROXY protocol header.
func (u *Upstream) TCPPort() int { return port(u.tcp.listener.Addr()) }

func port(a net.Addr) int { return a.(*net.TCPAddr).Port }

// Watch starts to record the requests of a caller and returns its account. The source
// address that it plays identifies a caller.
func (u *Upstream) Watch(caller netip.AddrPort) *Account { return u.ledger.open(caller) }

// Take ends the watch. It returns the arrivals since the last [Account.Take], or nil when
// there are none.
func (u *Upstream) Take(caller netip.AddrPort) *arrival.Record {
	account := u.ledger.close(caller)
	if account == nil {
		return nil
	}
	return account.Take()
}

// Settle waits until every earlier TCP connection of the callers has been read to its
// end. After that the result of Take is final. The callers must have closed their
// connections, and Envoy must have logged them.
func (u *Upstream) Settle(ctx context.Context, callers ...netip.AddrPort) error {
	return u.tcp.settle(ctx, callers)
}

// Close ends all connections and waits for them.
func (u *Upstream) Close() error {
	err := errors.Join(u.http.Close(), u.tcp.close(), u.unreachable.close())
	u.served.Wait()
	return err
}

// Account collects the requests of one caller.
type Account struct {
	mu      sync.Mutex
	arrival *arrival.Record
	script  script.Answer
	// playing is the number of answers by script under way. Idle is closed when they have ended.
	playing int
	idle    chan struct{}
}

// scripted reports whether the account's requests are answered by script.
func (a *Account) scripted() bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.script != script.Answer{}
}

// Take returns the arrivals since the last call, or nil when there are none. A request is
// recorded before its answer: between two requests of one connection, Take returns the
// first and nothing of the second. A TCP connection without a byte is no arrival, because
// Envoy opens it before it judges.
func (a *Account) Take() *arrival.Record {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.arrival == nil {
		return nil
	}
	// The result is a copy: a body that is still read cannot change it.
	taken := *a.arrival
	a.arrival = nil
	return &taken
}

// addRequest records one more request and returns the record.
func (a *Account) addRequest(update func(*arrival.Record)) *arrival.Record {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.arrival == nil {
		a.arrival = &arrival.Record{}
	}
	a.arrival.Requests++
	update(a.arrival)
	return a.arrival
}

// addBytes adds the bytes of a body to the record of a request.
func (a *Account) addBytes(record *arrival.Record, bytes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	record.Bytes += bytes
}

// ledger holds an account for each watched caller.
type ledger struct {
	mu       sync.RWMutex
	accounts map[netip.AddrPort]*Account
}

func (l *ledger) open(caller netip.AddrPort) *Account {
	account := &Account{}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accounts[caller] = account
	return account
}

func (l *ledger) close(caller netip.AddrPort) *Account {
	l.mu.Lock()
	defer l.mu.Unlock()
	account := l.accounts[caller]
	delete(l.accounts, caller)
	return account
}

// account returns nil for a caller that is not watched.
func (l *ledger) account(caller netip.AddrPort) *Account {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.accounts[caller]
}
