package certs

import (
	"encoding/pem"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
)

// BundleSet lists the CAs that a verifier trusts: one bundle for each of several trust domains. The bundles stay
// separate, so the CA of one trust domain cannot issue names of another. A BundleSet is a snapshot, immutable and safe
// for concurrent use. The zero value trusts no CA. BundleSet implements [x509bundle.Source].
type BundleSet struct {
	bundles []*x509bundle.Bundle // sorted by trust domain; never handed out, only cloned
}

var _ x509bundle.Source = (*BundleSet)(nil)

// NewBundleSet returns the bundles of the given Authorities. Authorities of the same trust domain share one bundle
// that holds the roots of all of them, in the order given, each once.
func NewBundleSet(as ...*Authority) *BundleSet {
	s := &BundleSet{}
	for _, a := range as {
		i, found := s.search(a.trustDomain)
		if !found {
			s.bundles = slices.Insert(s.bundles, i, a.Bundle())
			continue
		}
		for _, root := range a.bundle.X509Authorities() {
			s.bundles[i].AddX509Authority(root)
		}
	}
	return s
}

func (s *BundleSet) search(td spiffeid.TrustDomain) (int, bool) {
	return slices.BinarySearchFunc(s.bundles, td, func(b *x509bundle.Bundle, td spiffeid.TrustDomain) int {
		return b.TrustDomain().Compare(td)
	})
}

// trustDomains returns the trust domains of the set, sorted by name.
func (s *BundleSet) trustDomains() []spiffeid.TrustDomain {
	tds := make([]spiffeid.TrustDomain, 0, len(s.bundles))
	for _, b := range s.bundles {
		tds = append(tds, b.TrustDomain())
	}
	return tds
}

// All yields every trust domain, sorted by name, with its bundle as PEM.
func (s *BundleSet) All() iter.Seq2[spiffeid.TrustDomain, []byte] {
	return func(yield func(spiffeid.TrustDomain, []byte) bool) {
		for _, b := range s.bundles {
			if !yield(b.TrustDomain(), bundlePEM(b)) {
				return
			}
		}
	}
}

func bundlePEM(b *x509bundle.Bundle) []byte {
	var out []byte
	for _, root := range b.X509Authorities() {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Raw})...)
	}
	return out
}

// GetX509BundleForTrustDomain implements [x509bundle.Source]. The bundle is a copy; the caller owns it. The error wraps
// [ErrUnknownTrustDomain].
func (s *BundleSet) GetX509BundleForTrustDomain(td spiffeid.TrustDomain) (*x509bundle.Bundle, error) {
	i, found := s.search(td)
	if !found {
		return nil, fmt.Errorf("certs: get the bundle of trust domain %q: %w; it holds %q; add its Authority to the set",
			td, ErrUnknownTrustDomain, s.trustDomains())
	}
	return s.bundles[i].Clone(), nil
}

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

// BundleSet returns the bundles of the given trust domains. The errors are those of [NewAuthority].
func (f *Federation) BundleSet(tds ...spiffeid.TrustDomain) (*BundleSet, error) {
	as := make([]*Authority, 0, len(tds))
	for _, td := range tds {
		a, err := f.Authority(td)
		if err != nil {
			return nil, err
		}
		as = append(as, a)
	}
	return NewBundleSet(as...), nil
}
