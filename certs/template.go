package certs

import (
	"crypto/x509"
	"fmt"
	"time"
)

// Template describes a leaf certificate as data, sound or not. The zero value is a currently valid leaf without any
// name.
type Template struct {
	// URIs are the URI SANs in certificate order. They are written verbatim, never parsed, escaped or normalised:
	// commas, names of foreign trust domains, bytes that are no URI and the empty string are all taken as they are.
	URIs []string
	// DNS are the DNS SANs, written verbatim behind the URIs.
	DNS []string
	// Validity places the validity period relative to the time of issue.
	Validity Validity
	// Usage selects the extended key usages.
	Usage Usage
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

// window returns the absolute period; it always lies inside the one of the CAs.
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

// Usage is a choice of extended key usages.
type Usage int

// The extended key usages.
const (
	// ClientAndServer carries serverAuth and clientAuth, as X509-SVID, section 4.4, asks of an SVID.
	ClientAndServer Usage = iota
	// ServerOnly carries serverAuth alone, so it is wrong for a client.
	ServerOnly
	// NoneOfTLS carries codeSigning alone, so it is wrong for both ends of TLS.
	NoneOfTLS
)

func (u Usage) extKeyUsage() ([]x509.ExtKeyUsage, error) {
	switch u {
	case ClientAndServer:
		return []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, nil
	case ServerOnly:
		return []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, nil
	case NoneOfTLS:
		return []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}, nil
	}
	return nil, fmt.Errorf("usage %d is unknown; use ClientAndServer, ServerOnly or NoneOfTLS", int(u))
}

// certificate returns the leaf that t describes, without a serial number.
func (t Template) certificate(now time.Time) (*x509.Certificate, error) {
	notBefore, notAfter, err := t.Validity.window(now)
	if err != nil {
		return nil, err
	}
	extKeyUsage, err := t.Usage.extKeyUsage()
	if err != nil {
		return nil, err
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
		ExtKeyUsage:           extKeyUsage,
		BasicConstraintsValid: true,
		IsCA:                  t.CA,
		ExtraExtensions:       extensions,
	}, nil
}
