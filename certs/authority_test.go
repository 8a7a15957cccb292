package certs_test

import (
	"crypto/x509"
	"strings"
	"sync"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, mesh)
	var f certs.Federation
	for name, tc := range map[string]struct {
		do   func() error
		text []string
	}{
		"mint a foreign ID": {
			func() error { _, err := a.Mint(connector); return err },
			[]string{"another trust domain", `"spiffe://partner.mesh/ns/default/sa/connector"`, `"trust-domain.mesh"`, "Forge"},
		},
		"mint the zero ID":              {func() error { _, err := a.Mint(spiffeid.ID{}); return err }, []string{"another trust domain"}},
		"mint the trust domain":         {func() error { _, err := a.Mint(mesh.ID()); return err }, []string{"no path", `"spiffe://trust-domain.mesh"`}},
		"zero trust domain":             {func() error { _, err := certs.NewAuthority(spiffeid.TrustDomain{}); return err }, []string{"the trust domain is empty"}},
		"federated zero ID":             {func() error { _, err := f.Mint(spiffeid.ID{}); return err }, []string{"the trust domain is empty"}},
		"federation, zero trust domain": {func() error { _, err := f.BundleSet(mesh, spiffeid.TrustDomain{}); return err }, []string{"the trust domain is empty"}},
		"forge unknown validity":        {func() error { _, err := a.Forge(certs.Template{URIs: []string{"x"}, Validity: 7}); return err }, []string{`["x"]`, "validity 7"}},
		"forge unknown usage":           {func() error { _, err := a.Forge(certs.Template{Usages: []x509.ExtKeyUsage{-1}}); return err }, []string{"unknown extended key usage"}},
		"unwritable trust domain": {
			func() error {
				_, err := certs.NewAuthority(spiffeid.RequireTrustDomainFromString("dots..mesh"))
				return err
			},
			[]string{`"dots..mesh"`, "root CA"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.do()
			if err == nil {
				t.Fatal("no error")
			}
			for _, text := range append(tc.text, "certs: ") {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q does not name %s", err, text)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is more than one line", err)
			}
		})
	}
}

func TestCredentialsHaveKeysAndSerialsOfTheirOwn(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, mesh)
	one, two := mint(t, a, backend), mint(t, a, backend)
	if string(one.KeyPEM()) == string(two.KeyPEM()) || one.String() == two.String() {
		t.Error("two credentials share a key or a serial number")
	}
	one.URIs()[0] = "changed"
	chain := one.TLSCertificate().Certificate
	chain[0] = nil
	if one.URIs()[0] != backend.String() || one.TLSCertificate().Certificate[0] == nil {
		t.Error("a caller can change a credential")
	}
}

// TestFederationIsConcurrent finds data races when it runs with -race.
func TestFederationIsConcurrent(t *testing.T) {
	t.Parallel()
	var f certs.Federation
	var wg sync.WaitGroup
	got := make([]*certs.Authority, 16)
	for i := range got {
		wg.Go(func() {
			id := []spiffeid.ID{backend, connector}[i%2]
			if _, err := f.Mint(id); err != nil {
				t.Error(err)
			}
			a, err := f.Authority(id.TrustDomain())
			if err != nil {
				t.Error(err)
			}
			got[i] = a
		})
	}
	wg.Wait()
	for i, a := range got {
		if a != got[i%2] || a.TrustDomain() != []spiffeid.TrustDomain{mesh, partner}[i%2] {
			t.Errorf("caller %d got another Authority than the others: %v", i, a)
		}
	}
}

func BenchmarkMint(b *testing.B) {
	for name, create := range map[string]func(testing.TB, spiffeid.TrustDomain) *certs.Authority{
		"root":         newAuthority,
		"intermediate": newAuthorityWithIntermediate,
	} {
		b.Run(name, func(b *testing.B) {
			a := create(b, mesh)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Mint(backend); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
