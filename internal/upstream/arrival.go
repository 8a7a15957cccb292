package upstream

import (
	"net/http"
	"net/netip"
	"sync"
)

// Arrival is the record of the requests of one caller.
type Arrival struct {
	// Method, Path, Authority and Header describe an HTTP request. Path is the request
	// target with its query, as Envoy forwarded it.
	Method, Path, Authority string
	Header                  http.Header
	// Bytes is the length of the body, or the number of bytes of a TCP connection.
	Bytes int
	// Requests counts the requests under the caller's address. More than one means
	// that something went wrong.
	Requests int
}

// XFCC returns the header with the caller's identity, as Envoy forwards it.
func (a *Arrival) XFCC() string { return a.Header.Get("x-forwarded-client-cert") }

// Account collects the requests of one caller.
type Account struct {
	mu      sync.Mutex
	arrival *Arrival
}

// Take returns the arrivals since the last call, or nil when there are none. A request is
// recorded before its answer: between two requests of one connection, Take returns the
// first and nothing of the second. A TCP connection without a byte is no arrival, because
// Envoy opens it before it judges.
func (a *Account) Take() *Arrival {
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
func (a *Account) addRequest(update func(*Arrival)) *Arrival {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.arrival == nil {
		a.arrival = &Arrival{}
	}
	a.arrival.Requests++
	update(a.arrival)
	return a.arrival
}

// addBytes adds the bytes of a body to the record of a request.
func (a *Account) addBytes(arrival *Arrival, bytes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	arrival.Bytes += bytes
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
