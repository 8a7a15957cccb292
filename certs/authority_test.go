package certs_test

import (
	"crypto/x509"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
)

func TestErrors(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, mesh)
	var f certs.Federation
	for name, tc := range map[string]struct {
		do   func() error
		is   error
		text []string
	}{
		"mint a foreign ID": {
			func() error { _, err := a.Mint(connector); return err },
			certs.ErrForeignTrustDomain, []string{`"spiffe://partner.mesh/ns/default/sa/connector"`, `"trust-domain.mesh"`, "Forge"},
		},
		"mint the zero ID":              {func() error { _, err := a.Mint(spiffeid.ID{}); return err }, certs.ErrForeignTrustDomain, nil},
		"mint the trust domain":         {func() error { _, err := a.Mint(mesh.ID()); return err }, certs.ErrNoWorkloadPath, []string{`"spiffe://trust-domain.mesh"`}},
		"zero trust domain":             {func() error { _, err := certs.NewAuthority(spiffeid.TrustDomain{}); return err }, certs.ErrNoTrustDomain, nil},
		"federated zero ID":             {func() error { _, err := f.Mint(spiffeid.ID{}); return err }, certs.ErrNoTrustDomain, nil},
		"federation, zero trust domain": {func() error { _, err := f.BundleSet(mesh, spiffeid.TrustDomain{}); return err }, certs.ErrNoTrustDomain, nil},
		"unknown bundle":                {func() error { _, err := certs.NewBundleSet(a).GetX509BundleForTrustDomain(partner); return err }, certs.ErrUnknownTrustDomain, []string{`"partner.mesh"`, `"trust-domain.mesh"`}},
		"bundle of the zero value":      {func() error { _, err := (&certs.BundleSet{}).GetX509BundleForTrustDomain(mesh); return err }, certs.ErrUnknownTrustDomain, nil},
		"forge unknown validity":        {func() error { _, err := a.Forge(certs.Template{URIs: []string{"x"}, Validity: 7}); return err }, nil, []string{`["x"]`, "validity 7"}},
		"forge unknown usage":           {func() error { _, err := a.Forge(certs.Template{Usages: []x509.ExtKeyUsage{-1}}); return err }, nil, []string{"unknown extended key usage"}},
		"unwritable trust domain": {
			func() error {
				_, err := certs.NewAuthority(spiffeid.RequireTrustDomainFromString("dots..mesh"))
				return err
			},
			nil, []string{`"dots..mesh"`, "root CA"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.do()
			if err == nil {
				t.Fatal("no error")
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%q does not wrap %q", err, tc.is)
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

func TestBundleSet(t *testing.T) {
	t.Parallel()
	first, second, other := newAuthority(t, mesh), newAuthority(t, mesh), newAuthority(t, partner)
	set := certs.NewBundleSet(first, other, second, first)
	var visited []string
	for td, pem := range set.All() {
		visited = append(visited, td.Name())
		parsed, err := x509bundle.Parse(td, pem)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := set.GetX509BundleForTrustDomain(td); err != nil || !got.Equal(parsed) {
			t.Errorf("the bundle of %q and its PEM differ (error %v)", td, err)
		}
	}
	if diff := cmp.Diff([]string{"partner.mesh", "trust-domain.mesh"}, visited); diff != "" {
		t.Errorf("order of All (-want +got):\n%s", diff)
	}
	for range set.All() {
		break // must not panic
	}
	want := append(first.Bundle().X509Authorities(), second.Bundle().X509Authorities()...)
	got, err := set.GetX509BundleForTrustDomain(mesh)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Equal(x509bundle.FromX509Authorities(mesh, want)) {
		t.Error("two Authorities of one trust domain: the bundle does not hold both roots in order, once each")
	}
	got.SetX509Authorities(nil)
	first.Bundle().SetX509Authorities(nil)
	if again, err := set.GetX509BundleForTrustDomain(mesh); err != nil || len(again.X509Authorities()) != 2 || first.Bundle().Empty() {
		t.Error("a change to a returned bundle changed the Authority or the set")
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
