package certs_test

import (
	"crypto/x509"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/svid/x509svid"

	"github.com/meshproof/meshproof/certs"
)

func TestKindsAgainstGoSPIFFE(t *testing.T) {
	t.Parallel()
	table, bundles := kinds(t)
	for _, k := range table {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			id, _, err := x509svid.ParseAndVerify(k.cred.TLSCertificate().Certificate, bundles)
			checkRefusal(t, err, k.spiffe)
			if err == nil && k.name != "upper case scheme" && id.String() != k.cred.URIs()[0] {
				t.Errorf("verified as %q, want %q", id, k.cred.URIs()[0])
			}
		})
	}
}

// checkRefusal wants no error when want is empty, and otherwise an error that contains want.
func checkRefusal(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && err == nil:
		t.Errorf("accepted, want a refusal with %q", want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("refused with %q, want %q", err, want)
	}
}

func TestMintedSVIDThroughPEM(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		new   func(testing.TB, spiffeid.TrustDomain) *certs.Authority
		chain int
	}{
		"root":         {newAuthority, 1},
		"intermediate": {newAuthorityWithIntermediate, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := tc.new(t, mesh)
			c := mint(t, a, backend)
			// Parse makes checks that Verify does not make: key usages, CA flags of the chain, matching key.
			svid, err := x509svid.Parse(c.ChainPEM(), c.KeyPEM())
			if err != nil {
				t.Fatal(err)
			}
			if svid.ID != backend {
				t.Errorf("ID %q, want %q", svid.ID, backend)
			}
			if len(svid.Certificates) != tc.chain {
				t.Errorf("%d certificates in the chain, want %d", len(svid.Certificates), tc.chain)
			}
			if _, chains, err := x509svid.Verify(svid.Certificates, a.Bundle()); err != nil || len(chains) != 1 {
				t.Errorf("Verify: %d chains, error %v; want one chain", len(chains), err)
			}
			if roots := a.Bundle().X509Authorities(); len(roots) != 1 || roots[0].CheckSignatureFrom(roots[0]) != nil {
				t.Errorf("the bundle holds %d certificates, want one self-signed root", len(roots))
			}
			if !svid.Certificates[0].Equal(c.TLSCertificate().Leaf) {
				t.Error("the chain and TLSCertificate have different leaves")
			}
		})
	}
}

// TestShapeOfCertificates compares the fields of root, intermediate and leaf with X509-SVID, section 4, and appendix A.
func TestShapeOfCertificates(t *testing.T) {
	t.Parallel()
	type shape struct {
		Subject  bool
		URI      string
		Critical bool
		CA       bool
		PathLen  int
		KeyUsage x509.KeyUsage
		ExtUsage []x509.ExtKeyUsage
	}
	shapeOf := func(cert *x509.Certificate) shape {
		s := shape{
			Subject: len(cert.Subject.Names) > 0, CA: cert.IsCA, PathLen: cert.MaxPathLen,
			KeyUsage: cert.KeyUsage, ExtUsage: cert.ExtKeyUsage,
		}
		if len(cert.URIs) == 1 {
			s.URI = cert.URIs[0].String()
		}
		for _, e := range cert.Extensions {
			if e.Id.String() == "2.5.29.17" {
				s.Critical = e.Critical
			}
		}
		return s
	}
	a := newAuthorityWithIntermediate(t, mesh)
	c := mint(t, a, backend)
	intermediate, err := x509.ParseCertificate(c.TLSCertificate().Certificate[1])
	if err != nil {
		t.Fatal(err)
	}
	const caUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	got := []shape{shapeOf(a.Bundle().X509Authorities()[0]), shapeOf(intermediate), shapeOf(c.TLSCertificate().Leaf)}
	want := []shape{
		{Subject: true, URI: "spiffe://trust-domain.mesh", CA: true, PathLen: 1, KeyUsage: caUsage},
		{Subject: true, URI: "spiffe://trust-domain.mesh", CA: true, PathLen: 0, KeyUsage: caUsage},
		{
			URI: backend.String(), Critical: true, PathLen: -1,
			KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageKeyAgreement,
			ExtUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("root, intermediate, leaf (-want +got):\n%s", diff)
	}
	for _, validity := range []certs.Validity{certs.Sound, certs.Expired, certs.NotYetValid} {
		leaf := forge(t, a, certs.Template{Validity: validity}).TLSCertificate().Leaf
		if leaf.NotBefore.Before(intermediate.NotBefore) || leaf.NotAfter.After(intermediate.NotAfter) {
			t.Errorf("validity %d: the leaf's period is not inside its CA's", validity)
		}
	}
}
