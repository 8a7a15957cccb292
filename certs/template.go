package certs

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"time"
)

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
