package upstream

import (
	"net/http"
	"net/netip"
	"sync"
)

// Arrival is what reached the upstream of one caller.
type Arrival struct {
	// Method, Path, Authority and Header are those of an HTTP request; Path is the
	// request target with its query, as Envoy forwarded it.
	Method, Path, Authority string
	Header                  http.Header
	// Bytes is the length of the body, or what a TCP connection carried.
	Bytes int
	// Requests counts what arrived under the caller's address: one, unless
	// something went wrong.
	Requests int
}

// XFCC returns the header in which Envoy forwards the caller's identity.
func (a *Arrival) XFCC() string { return a.Header.Get("x-forwarded-client-cert") }

// Account collects what arrives from one caller.
type Account struct {
	mu      sync.Mutex
	arrival *Arrival
}

// Take returns what arrived since the last call, nil for nothing. A request is
// recorded before it is answered, so that between two requests of one connection the
// first is there, and nothing of the second. A TCP connection that carried no byte is
// nothing: Envoy opens it before it judges.
func (a *Account) Take() *Arrival {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.arrival == nil {
		return nil
	}
	// Whoever is still reading its body adds to what nobody sees any more.
	taken := *a.arrival
	a.arrival = nil
	return &taken
}

// request opens the record of one more request and returns it.
func (a *Account) request(update func(*Arrival)) *Arrival {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.arrival == nil {
		a.arrival = &Arrival{}
	}
	a.arrival.Requests++
	update(a.arrival)
	return a.arrival
}

// read adds to the record of a request.
func (a *Account) read(of *Arrival, bytes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	of.Bytes += bytes
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

// of returns nil for a caller that nobody watches.
func (l *ledger) of(caller netip.AddrPort) *Account {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.accounts[caller]
}
