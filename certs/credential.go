package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"slices"
)

// Credential is a certificate chain with the private key of its leaf. It is immutable and safe for concurrent use;
// what its methods return by pointer or slice of bytes is shared and must only be read, unless they say otherwise.
// [Authority.Mint] and [Authority.Forge] make Credentials.
type Credential struct {
	chain  [][]byte          // DER, leaf first, without the root
	leaf   *x509.Certificate // nil when crypto/x509 cannot read it
	key    key
	uris   []string
	serial string // hexadecimal
}

// TLSCertificate returns the chain and the key for crypto/tls. Leaf is [Credential.Leaf]. PrivateKey is a
// [crypto.Signer] that signs but can be neither printed nor encoded.
//
// A TLS client has to present it through tls.Config.GetClientCertificate: with tls.Config.Certificates, crypto/tls
// sends no certificate to a server that does not name its issuer.
func (c *Credential) TLSCertificate() tls.Certificate {
	return tls.Certificate{Certificate: slices.Clone(c.chain), PrivateKey: c.key, Leaf: c.leaf}
}

// ChainPEM returns the certificates as PEM, leaf first, without the root. The result is the caller's.
func (c *Credential) ChainPEM() []byte {
	var out bytes.Buffer
	for _, der := range c.chain {
		out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	return out.Bytes()
}

// KeyPEM returns the private key as a PEM block with PKCS#8. It is the only way for a key to leave the package. It
// may go into the memory of a TLS stack, onto an authenticated secret channel, or into a file that only its owner can
// read (mode 0600 in a private directory that is removed afterwards); never into a log, a report, an error or the
// arguments or environment of a process. The result is the caller's.
func (c *Credential) KeyPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: c.key.pkcs8()})
}

// Leaf returns the parsed leaf. It is nil for a forged certificate that crypto/x509 refuses to read, for example
// because a URI SAN does not parse as a URL; the credential itself is still usable.
func (c *Credential) Leaf() *x509.Certificate { return c.leaf }

// URIs returns the URI SANs as written, in certificate order. The result is the caller's.
func (c *Credential) URIs() []string { return slices.Clone(c.uris) }
