package cases

import (
	"fmt"
	"net/netip"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
)

// Caller is who sends a request.
type Caller struct {
	// Name is the caller as the case file spells it.
	Name string
	// Plaintext callers use no TLS; anonymous ones show no certificate.
	Plaintext, Anonymous bool
	// Template is the certificate of any other caller, and SignedBy the trust
	// domain whose CA signs it.
	Template certs.Template
	SignedBy spiffeid.TrustDomain
	// SourceIP is the address that the caller plays; the zero value leaves it to
	// the harness.
	SourceIP netip.Addr
}

// callerSchema is an entry under callers.
type callerSchema struct {
	URIs             []string `yaml:"uris"`
	DNS              []string `yaml:"dns"`
	SignedBy         string   `yaml:"signedBy"`
	Expired          bool     `yaml:"expired"`
	NotYetValid      bool     `yaml:"notYetValid"`
	WrongExtKeyUsage bool     `yaml:"wrongExtKeyUsage"`
	CACertificate    bool     `yaml:"caCertificate"`
	SourceIP         string   `yaml:"sourceIP"`
}

func (s callerSchema) caller(name string, own spiffeid.TrustDomain) (Caller, error) {
	c := Caller{
		Name:     name,
		Template: certs.Template{URIs: s.URIs, DNS: s.DNS, CA: s.CACertificate},
		SignedBy: own,
	}
	if s.Expired && s.NotYetValid {
		return Caller{}, fmt.Errorf("a certificate cannot be both expired and not yet valid")
	}
	if s.Expired {
		c.Template.Validity = certs.Expired
	}
	if s.NotYetValid {
		c.Template.Validity = certs.NotYetValid
	}
	if s.WrongExtKeyUsage {
		c.Template.Usage = certs.ServerOnly
	}
	if len(s.URIs) > 0 {
		// A sound certificate is signed by the CA of its own trust domain.
		if id, err := spiffeid.FromString(s.URIs[0]); err == nil {
			c.SignedBy = id.TrustDomain()
		}
	}
	var err error
	if s.SignedBy != "" {
		if c.SignedBy, err = spiffeid.TrustDomainFromString(s.SignedBy); err != nil {
			return Caller{}, fmt.Errorf("signedBy: %w", err)
		}
	}
	if s.SourceIP != "" {
		if c.SourceIP, err = netip.ParseAddr(s.SourceIP); err != nil {
			return Caller{}, fmt.Errorf("sourceIP: %w", err)
		}
	}
	return c, nil
}

// sound is the caller with a sound SVID.
func sound(name string, id spiffeid.ID) Caller {
	return Caller{Name: name, Template: certs.Template{URIs: []string{id.String()}}, SignedBy: id.TrustDomain()}
}
