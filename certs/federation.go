package certs

import (
	"fmt"
	"sync"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
)

// Federation holds one [Authority] per trust domain and creates it on the first use. It is safe for concurrent use.
// The zero value is ready.
type Federation struct {
	mu          sync.Mutex
	authorities map[spiffeid.TrustDomain]*Authority
}

// Authority returns the Authority of td, the same on every call. The errors are those of [NewAuthority].
func (f *Federation) Authority(td spiffeid.TrustDomain) (*Authority, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a, ok := f.authorities[td]; ok {
		return a, nil
	}
	a, err := NewAuthority(td)
	if err != nil {
		return nil, err
	}
	if f.authorities == nil {
		f.authorities = make(map[spiffeid.TrustDomain]*Authority)
	}
	f.authorities[td] = a
	return a, nil
}

// Mint issues a sound SVID with the Authority of the ID's own trust domain. The errors are those of [NewAuthority]
// and [Authority.Mint].
func (f *Federation) Mint(id spiffeid.ID) (*Credential, error) {
	a, err := f.Authority(id.TrustDomain())
	if err != nil {
		return nil, fmt.Errorf("certs: mint %q: %w", id, err)
	}
	return a.Mint(id)
}

// BundleSet returns the bundles of the given trust domains, as go-spiffe takes them. The bundles stay separate, so the
// CA of one trust domain cannot issue names of another. The errors are those of [NewAuthority].
func (f *Federation) BundleSet(tds ...spiffeid.TrustDomain) (*x509bundle.Set, error) {
	set := x509bundle.NewSet()
	for _, td := range tds {
		a, err := f.Authority(td)
		if err != nil {
			return nil, err
		}
		set.Add(a.Bundle())
	}
	return set, nil
}
