package certs_test

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/meshproof/meshproof/certs"
)

// sans reads the names of a certificate without crypto/x509, because crypto/x509 refuses some of the tested names.
func sans(t *testing.T, der []byte) (uris, dns []string) {
	t.Helper()
	var cert struct {
		TBS struct {
			Version                                   int `asn1:"explicit,tag:0"`
			Serial                                    asn1.RawValue
			Algorithm, Issuer, Validity, Subject, Key asn1.RawValue
			Extensions                                []pkix.Extension `asn1:"explicit,tag:3"`
		}
		Algorithm asn1.RawValue
		Signature asn1.BitString
	}
	if _, err := asn1.Unmarshal(der, &cert); err != nil {
		t.Fatal(err)
	}
	for _, e := range cert.TBS.Extensions {
		if !e.Id.Equal(asn1.ObjectIdentifier{2, 5, 29, 17}) {
			continue
		}
		if !e.Critical {
			t.Error("the SAN extension is not critical, though the subject is empty")
		}
		var names []asn1.RawValue
		if _, err := asn1.Unmarshal(e.Value, &names); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			switch name.Tag {
			case 6:
				uris = append(uris, string(name.Bytes))
			case 2:
				dns = append(dns, string(name.Bytes))
			default:
				t.Errorf("a SAN with tag %d", name.Tag)
			}
		}
	}
	return uris, dns
}

func FuzzForgeWritesNamesVerbatim(f *testing.F) {
	f.Add("spiffe://trust-domain.mesh/ns/a,spiffe://trust-domain.mesh/ns/b", "", "a.svc")
	f.Add("%zz", "spiffe://trust-domain.mesh/%64", "")
	f.Add("\xff\x00\n", "SPIFFE://Other/../x?q#f", "*.svc")
	a, err := certs.NewAuthority(mesh)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, first, second, dns string) {
		c := forge(t, a, certs.Template{URIs: []string{first, second}, DNS: []string{dns}})
		uris, names := sans(t, c.TLSCertificate().Certificate[0])
		if diff := cmp.Diff([]string{first, second}, uris); diff != "" {
			t.Errorf("URIs in the certificate (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(uris, c.URIs()); diff != "" {
			t.Errorf("URIs of the credential (-certificate +credential):\n%s", diff)
		}
		if diff := cmp.Diff([]string{dns}, names); diff != "" {
			t.Errorf("DNS names in the certificate (-want +got):\n%s", diff)
		}
	})
}

func TestForgeWithoutNamesHasNoSAN(t *testing.T) {
	t.Parallel()
	leaf := forge(t, newAuthority(t, mesh), certs.Template{}).TLSCertificate().Leaf
	uris, dns := sans(t, leaf.Raw)
	if diff := cmp.Diff([]string(nil), append(uris, dns...), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
