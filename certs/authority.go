package certs

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net/url"
	"time"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/svid/x509svid"
)

// Authority is the CA of one trust domain: an ECDSA P-256 root, on request with an intermediate below it. Two
// Authorities of the same trust domain share its name and nothing else; neither is trusted by the other's bundle.
// An Authority is immutable and safe for concurrent use. Make one with [NewAuthority].
type Authority struct {
	trustDomain spiffeid.TrustDomain
	bundle      *x509bundle.Bundle // the root; never handed out, only cloned
	issuer      *x509.Certificate  // signs leaves: the root or the intermediate
	key         key                // of issuer
	tail        [][]byte           // DER of what travels behind a leaf: the intermediate or nothing
}

// AuthorityOption changes how [NewAuthority] builds an Authority.
type AuthorityOption func(*authorityOptions)

type authorityOptions struct {
	intermediate bool
}

// WithIntermediate lets an intermediate CA sign the leaves. It travels in the chain of every credential; the bundle
// holds the root only.
func WithIntermediate() AuthorityOption {
	return func(o *authorityOptions) { o.intermediate = true }
}

// NewAuthority creates a CA for td with fresh keys. The CA certificates carry the SPIFFE ID of td as their URI SAN
// and are valid from one day before now to one year after. The errors wrap [ErrNoTrustDomain], or report a trust
// domain that crypto/x509 does not accept as the host of a URI SAN (a trailing dot, for example).
func NewAuthority(td spiffeid.TrustDomain, opts ...AuthorityOption) (*Authority, error) {
	if td.IsZero() {
		return nil, fmt.Errorf("certs: create a CA: %w", ErrNoTrustDomain)
	}
	var o authorityOptions
	for _, opt := range opts {
		opt(&o)
	}
	depth := 0
	if o.intermediate {
		depth = 1
	}
	root, rootKey, err := newCA(td, "meshproof root CA", depth, nil, key{})
	if err != nil {
		return nil, fmt.Errorf("certs: create the root CA of trust domain %q: %w", td, err)
	}
	a := &Authority{
		trustDomain: td,
		bundle:      x509bundle.FromX509Authorities(td, []*x509.Certificate{root}),
		issuer:      root,
		key:         rootKey,
	}
	if o.intermediate {
		a.issuer, a.key, err = newCA(td, "meshproof intermediate CA", 0, root, rootKey)
		if err != nil {
			return nil, fmt.Errorf("certs: create the intermediate CA of trust domain %q: %w", td, err)
		}
		a.tail = [][]byte{a.issuer.Raw}
	}
	return a, nil
}

// newCA issues a CA certificate that allows depth CAs below it, self-signed when parent is nil.
func newCA(td spiffeid.TrustDomain, name string, depth int, parent *x509.Certificate, parentKey key) (*x509.Certificate, key, error) {
	k, err := newKey()
	if err != nil {
		return nil, key{}, err
	}
	serial := newSerial()
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial,
		// The serial number makes the name unique, so that verifiers which look issuers up by name find one.
		Subject:               pkix.Name{CommonName: name, SerialNumber: serial.Text(16)},
		NotBefore:             now.Add(-day),
		NotAfter:              now.Add(365 * day),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLen:            depth,
		MaxPathLenZero:        depth == 0,
		URIs:                  []*url.URL{td.ID().URL()},
	}
	if parent == nil {
		parent, parentKey = template, k
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, k.Public(), parentKey)
	if err != nil {
		return nil, key{}, fmt.Errorf("sign: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, key{}, fmt.Errorf("read back: %w", err)
	}
	return cert, k, nil
}

// newSerial returns a random positive number of 16 octets, well below the 20 that RFC 5280, section 4.1.2.2, allows.
func newSerial() *big.Int {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never returns an error
	b[0] = b[0]&0x7f | 0x40
	return new(big.Int).SetBytes(b[:])
}

// TrustDomain returns the trust domain of the CA.
func (a *Authority) TrustDomain() spiffeid.TrustDomain { return a.trustDomain }

// Bundle returns a copy of the CA's bundle, which holds the root alone. The caller may change it.
func (a *Authority) Bundle() *x509bundle.Bundle { return a.bundle.Clone() }

// String names the CA.
func (a *Authority) String() string { return fmt.Sprintf("CA of trust domain %q", a.trustDomain) }

// Mint issues a sound SVID with a fresh key for a workload of the CA's own trust domain, and has go-spiffe verify it.
// The errors wrap [ErrForeignTrustDomain] or [ErrNoWorkloadPath]; what Mint refuses, [Authority.Forge] can issue.
func (a *Authority) Mint(id spiffeid.ID) (*Credential, error) {
	if !id.MemberOf(a.trustDomain) {
		return nil, fmt.Errorf("certs: mint %q with the %v: %w; use that trust domain's Authority, or Forge the name on purpose",
			id, a, ErrForeignTrustDomain)
	}
	if id.Path() == "" {
		return nil, fmt.Errorf("certs: mint %q: %w; add a path, or Forge the name on purpose", id, ErrNoWorkloadPath)
	}
	c, err := a.issue(Template{URIs: []string{id.String()}})
	if err != nil {
		return nil, fmt.Errorf("certs: mint %q: %w", id, err)
	}
	_, verified, err := x509svid.ParseAndVerify(c.chain, a.bundle)
	if err != nil {
		return nil, fmt.Errorf("certs: mint %q: the SVID fails its own verification: %w", id, err)
	}
	c.leaf = verified[0][0]
	return c, nil
}

// Forge issues whatever t describes with a fresh key, sound or not, and verifies nothing. A name of a foreign trust
// domain is a forgery that only a verifier with one bundle per trust domain detects. The error reports a Validity or
// a Usage that does not exist.
func (a *Authority) Forge(t Template) (*Credential, error) {
	c, err := a.issue(t)
	if err != nil {
		return nil, fmt.Errorf("certs: forge %q with the %v: %w", t.URIs, a, err)
	}
	// Names that crypto/x509 cannot read are legitimate here: other TLS stacks do read them.
	if leaf, err := x509.ParseCertificate(c.chain[0]); err == nil {
		c.leaf = leaf
	}
	return c, nil
}

// issue signs the leaf that t describes. The credential's leaf is left for the caller to parse.
func (a *Authority) issue(t Template) (*Credential, error) {
	cert, err := t.certificate(time.Now())
	if err != nil {
		return nil, err
	}
	k, err := newKey()
	if err != nil {
		return nil, err
	}
	cert.SerialNumber = newSerial()
	der, err := x509.CreateCertificate(rand.Reader, cert, a.issuer, k.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return &Credential{
		chain:  append([][]byte{der}, a.tail...),
		key:    k,
		uris:   append([]string{}, t.URIs...), // never nil: no names print as [], not as null
		serial: cert.SerialNumber.Text(16),
	}, nil
}
