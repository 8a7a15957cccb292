package certs

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"slices"
	"time"
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

// Template describes a leaf certificate as data, sound or not. The zero value describes a leaf that is valid now and
// has no name.
type Template struct {
	// URIs are the URI SANs in certificate order. They are written verbatim and never parsed, escaped or normalized.
	// A comma, a name of a foreign trust domain, bytes that are no URI and the empty string all stay as they are.
	URIs []string
	// DNS are the DNS SANs, written verbatim after the URIs.
	DNS []string
	// Validity places the validity period relative to the time of issue.
	Validity Validity
	// Usages are the extended key usages. Without any, the leaf carries serverAuth and clientAuth, as X509-SVID,
	// section 4.4, asks of an SVID.
	Usages []x509.ExtKeyUsage
	// CA makes the leaf a CA certificate: basicConstraints CA:TRUE and keyCertSign. SPIFFE forbids both on a leaf
	// (X509-SVID, sections 4.1 and 4.3).
	CA bool
}

// Validity is a validity period relative to the time of issue.
type Validity int

// The validity periods. They keep their meaning for weeks after the time of issue, but Sound ends after a day.
const (
	// Sound begins one minute before the time of issue, for clocks that run behind, and ends 24 hours after it.
	Sound Validity = iota
	// Expired ended one hour before the time of issue.
	Expired
	// NotYetValid begins 30 days after the time of issue.
	NotYetValid
)

const (
	backdating   = time.Minute
	svidLifetime = 24 * time.Hour
	day          = 24 * time.Hour
)

// window returns the absolute period. It always lies inside the period of the CAs.
func (v Validity) window(now time.Time) (notBefore, notAfter time.Time, err error) {
	switch v {
	case Sound:
		return now.Add(-backdating), now.Add(svidLifetime), nil
	case Expired:
		return now.Add(-2 * time.Hour), now.Add(-time.Hour), nil
	case NotYetValid:
		return now.Add(30 * day), now.Add(31 * day), nil
	}
	return time.Time{}, time.Time{}, fmt.Errorf("validity %d is unknown; use Sound, Expired or NotYetValid", int(v))
}

// certificate returns the leaf that t describes, without a serial number.
func (t Template) certificate(now time.Time) (*x509.Certificate, error) {
	notBefore, notAfter, err := t.Validity.window(now)
	if err != nil {
		return nil, err
	}
	usages := t.Usages
	if len(usages) == 0 {
		usages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	}
	extensions, err := sanExtension(t.URIs, t.DNS)
	if err != nil {
		return nil, err
	}
	keyUsage := x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageKeyAgreement
	if t.CA {
		keyUsage |= x509.KeyUsageCertSign
	}
	return &x509.Certificate{
		NotBefore:             notBefore,
		NotAfter:              notAfter,
		KeyUsage:              keyUsage,
		ExtKeyUsage:           usages,
		BasicConstraintsValid: true,
		IsCA:                  t.CA,
		ExtraExtensions:       extensions,
	}, nil
}

// oidSubjectAltName and the tags of a GeneralName come from RFC 5280, section 4.2.1.6.
var oidSubjectAltName = asn1.ObjectIdentifier{2, 5, 29, 17}

const (
	tagDNSName = 2
	tagURI     = 6
)

// sanExtension returns the subjectAltName extension with the names exactly as given, or nothing when there is no
// name. The fields of [x509.Certificate] cannot do this: they take URIs only as url.URL and re-encode them. The
// extension is critical because the subject of a leaf is empty.
func sanExtension(uris, dns []string) ([]pkix.Extension, error) {
	if len(uris)+len(dns) == 0 {
		return nil, nil
	}
	names := make([]asn1.RawValue, 0, len(uris)+len(dns))
	for _, uri := range uris {
		names = append(names, asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tagURI, Bytes: []byte(uri)})
	}
	for _, name := range dns {
		names = append(names, asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tagDNSName, Bytes: []byte(name)})
	}
	value, err := asn1.Marshal(names)
	if err != nil {
		return nil, fmt.Errorf("encode the SANs: %w", err)
	}
	return []pkix.Extension{{Id: oidSubjectAltName, Critical: true, Value: value}}, nil
}
