package certs

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"time"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/svid/x509svid"
)

var (
	errForeignTrustDomain = errors.New("the SPIFFE ID is of another trust domain")
	// An ID without a path names the trust domain itself and belongs to a CA (X509-SVID, section 2: leaf certificates
	// have a non-root path).
	errNoWorkloadPath = errors.New("the SPIFFE ID has no path, so it names no workload")
	errNoTrustDomain  = errors.New("the trust domain is empty")
)

// Authority is the CA of one trust domain: an ECDSA P-256 root, with or without an intermediate CA below it. Two
// Authorities of the same trust domain share only its name: the bundle of one does not trust the other. An Authority
// is immutable and safe for concurrent use. [NewAuthority] and [NewAuthorityWithIntermediate] make Authorities.
type Authority struct {
	trustDomain spiffeid.TrustDomain
	bundle      *x509bundle.Bundle // the root; never handed out, only cloned
	issuer      *x509.Certificate  // signs leaves: the root or the intermediate
	key         key                // of issuer
	tail        [][]byte           // DER of the certificates behind a leaf: the intermediate or none
}

// NewAuthority creates a CA for td with a fresh key. The CA certificate carries the SPIFFE ID of td as its URI SAN and
// is valid from one day before now to one year after. The errors report the zero trust domain, or a trust domain
// that crypto/x509 does not accept as the host of a URI SAN (a trailing dot, for example).
func NewAuthority(td spiffeid.TrustDomain) (*Authority, error) { return newAuthority(td, 0) }

// NewAuthorityWithIntermediate is like [NewAuthority], and an intermediate CA signs the leaves. The intermediate is
// part of the chain of every credential; the bundle holds the root only.
func NewAuthorityWithIntermediate(td spiffeid.TrustDomain) (*Authority, error) {
	a, err := newAuthority(td, 1)
	if err != nil {
		return nil, err
	}
	a.issuer, a.key, err = newCA(td, "meshproof intermediate CA", 0, a.issuer, a.key)
	if err != nil {
		return nil, fmt.Errorf("certs: create the intermediate CA of trust domain %q: %w", td, err)
	}
	a.tail = [][]byte{a.issuer.Raw}
	return a, nil
}

// newAuthority creates a CA whose root allows depth CAs below it and signs the leaves itself.
func newAuthority(td spiffeid.TrustDomain, depth int) (*Authority, error) {
	if td.IsZero() {
		return nil, fmt.Errorf("certs: create a CA: %w", errNoTrustDomain)
	}
	root, k, err := newCA(td, "meshproof root CA", depth, nil, key{})
	if err != nil {
		return nil, fmt.Errorf("certs: create the root CA of trust domain %q: %w", td, err)
	}
	bundle := x509bundle.FromX509Authorities(td, []*x509.Certificate{root})
	return &Authority{trustDomain: td, bundle: bundle, issuer: root, key: k}, nil
}

// newCA issues a CA certificate that allows depth CAs below it. It is self-signed when parent is nil.
func newCA(td spiffeid.TrustDomain, name string, depth int, parent *x509.Certificate, parentKey key) (*x509.Certificate, key, error) {
	k, err := newKey()
	if err != nil {
		return nil, key{}, err
	}
	serial := newSerial()
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial,
		// The serial number makes the name unique: a verifier that looks up issuers by name finds exactly one.
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
		return nil, key{}, fmt.Errorf("sign the certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, key{}, fmt.Errorf("read the certificate back: %w", err)
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

// Mint issues a sound SVID with a fresh key for a workload of the CA's own trust domain, and lets go-spiffe verify it.
// The errors report an ID of another trust domain, or an ID without a path. [Authority.Forge] can issue a name that Mint refuses.
func (a *Authority) Mint(id spiffeid.ID) (*Credential, error) {
	if !id.MemberOf(a.trustDomain) {
		return nil, fmt.Errorf("certs: mint %q with the %v: %w; use that trust domain's Authority, or Forge the name on purpose",
			id, a, errForeignTrustDomain)
	}
	if id.Path() == "" {
		return nil, fmt.Errorf("certs: mint %q: %w; add a path, or Forge the name on purpose", id, errNoWorkloadPath)
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

// Forge issues the certificate that t describes with a fresh key, sound or not, and verifies nothing. Only a verifier
// with one bundle per trust domain detects the name of a foreign trust domain. The error reports a Validity or an
// extended key usage that does not exist.
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
		return nil, fmt.Errorf("sign the certificate: %w", err)
	}
	return &Credential{
		chain:  append([][]byte{der}, a.tail...),
		key:    k,
		uris:   append([]string{}, t.URIs...), // never nil: no names print as [], not as null
		serial: cert.SerialNumber.Text(16),
	}, nil
}
