package certs

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"slices"
)

// Credential is a certificate chain with the private key of its leaf. It is immutable and safe for concurrent use.
// Pointers and byte slices that its methods return are shared: callers must only read them, unless the method says
// otherwise. [Authority.Mint] and [Authority.Forge] make Credentials.
type Credential struct {
	chain  [][]byte          // DER, leaf first, without the root
	leaf   *x509.Certificate // nil when crypto/x509 cannot read it
	key    key
	uris   []string
	serial string // hexadecimal
}

// TLSCertificate returns the chain and the key for crypto/tls. PrivateKey is a [crypto.Signer]: it signs, and no
// printer or encoder can show it. Leaf is the parsed leaf. It is nil for a forged certificate that crypto/x509 refuses
// to read, for example because a URI SAN is no URL; the credential itself is still usable.
//
// A TLS client must present the certificate through tls.Config.GetClientCertificate. With tls.Config.Certificates,
// crypto/tls sends no certificate to a server that does not name its issuer.
func (c *Credential) TLSCertificate() tls.Certificate {
	return tls.Certificate{Certificate: slices.Clone(c.chain), PrivateKey: c.key, Leaf: c.leaf}
}

// ChainPEM returns the certificates as PEM, leaf first, without the root. The caller owns the result.
func (c *Credential) ChainPEM() []byte {
	var out bytes.Buffer
	for _, der := range c.chain {
		out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	return out.Bytes()
}

// KeyPEM returns the private key as a PEM block with PKCS#8. It is the only way for a key to leave the package. The
// key may go into the memory of a TLS stack, onto an authenticated secret channel, or into a file that only its owner
// can read (mode 0600 in a private directory that is removed afterwards). It must never go into a log, a report, an
// error, or the arguments or environment of a process. The caller owns the result.
func (c *Credential) KeyPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: c.key.pkcs8()})
}

// URIs returns the URI SANs as written, in certificate order. The caller owns the result.
func (c *Credential) URIs() []string { return slices.Clone(c.uris) }

// String names the URI SANs, quoted, and the serial number in hexadecimal.
func (c *Credential) String() string {
	return fmt.Sprintf("credential %q serial %s", c.uris, c.serial)
}

// Format implements [fmt.Formatter]: every verb and flag applies to the text of String.
func (c *Credential) Format(s fmt.State, verb rune) {
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), c.String())
}

// MarshalJSON implements [json.Marshaler] with the members uris and serial. Bytes of a URI that are not UTF-8 are
// replaced, as encoding/json does.
func (c *Credential) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		URIs   []string `json:"uris"`
		Serial string   `json:"serial"`
	}{c.uris, c.serial})
}

// key is a P-256 private key behind a [crypto.Signer]. It holds a closure instead of the key: encoding/json cannot
// read what a closure captured, and neither can an assertion library that follows unexported pointers.
type key struct {
	reveal func() *ecdsa.PrivateKey
}

func newKey() (key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return key{}, fmt.Errorf("generate a P-256 key: %w", err)
	}
	return key{reveal: func() *ecdsa.PrivateKey { return private }}, nil
}

// pkcs8 returns the DER of the key. It is encoded on demand, since most keys never leave the process.
func (k key) pkcs8() []byte {
	der, err := x509.MarshalPKCS8PrivateKey(k.reveal())
	if err != nil {
		panic(fmt.Sprintf("certs: encode a generated P-256 key: %v", err)) // no input leads here
	}
	return der
}

// Public implements [crypto.Signer].
func (k key) Public() crypto.PublicKey { return k.reveal().Public() }

// Sign implements [crypto.Signer].
func (k key) Sign(random io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return k.reveal().Sign(random, digest, opts)
}

// Format implements [fmt.Formatter] and prints the same for every verb.
func (k key) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, "[private key]") }
