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

// ledger holds an account for each watched caller.
type ledger struct {
	mu       sync.Mutex
	accounts map[netip.AddrPort]*Arrival
}

func (l *ledger) open(caller netip.AddrPort) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accounts[caller] = &Arrival{}
}

func (l *ledger) close(caller netip.AddrPort) *Arrival {
	l.mu.Lock()
	defer l.mu.Unlock()
	arrival := l.accounts[caller]
	delete(l.accounts, caller)
	if arrival == nil || arrival.Requests == 0 {
		return nil
	}
	return arrival
}

func (l *ledger) record(caller netip.AddrPort, update func(*Arrival)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if arrival := l.accounts[caller]; arrival != nil {
		update(arrival)
	}
}
