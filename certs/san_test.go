package certs_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"

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

// kind is one kind of caller credential, with the answers of two verifiers that trust the mesh and its partner. An
// empty refusal means accepted. go-spiffe keeps one bundle per trust domain and checks names. crypto/tls puts all roots
// in one pool and checks the extended key usage, but no name of a client.
type kind struct {
	name   string
	cred   *certs.Credential
	spiffe string // part of go-spiffe's error
	pooled string // part of crypto/tls's error
}

// kinds returns all kinds of credentials, and the bundles that the verifiers trust.
func kinds(t *testing.T) ([]kind, *x509bundle.Set) {
	t.Helper()
	ca := newAuthority(t, mesh)
	partnerCA := newAuthorityWithIntermediate(t, partner)
	good := backend.String()
	names := func(uris ...string) *certs.Credential { return forge(t, ca, certs.Template{URIs: uris}) }

	const (
		expired    = "certificate has expired or is not yet valid"
		unknownCA  = "certificate signed by unknown authority"
		noURI      = "certificate contains no URI SAN"
		manyURIs   = "certificate contains more than one URI SAN"
		badPath    = "path segment characters are limited to"
		unreadable = "cannot parse URI"
		malformed  = "uniformResourceIdentifier is malformed"
	)
	return []kind{
		{"sound", mint(t, ca, backend), "", ""},
		{"sound, intermediate, other trust domain", mint(t, partnerCA, connector), "", ""},
		{"sound, but forged", names(good), "", ""},

		{"expired", forge(t, ca, certs.Template{URIs: []string{good}, Validity: certs.Expired}), expired, expired},
		{"not yet valid", forge(t, ca, certs.Template{URIs: []string{good}, Validity: certs.NotYetValid}), expired, expired},

		{"other CA of the same name", mint(t, newAuthority(t, mesh), backend), unknownCA, unknownCA},
		{"other CA with an intermediate", mint(t, newAuthorityWithIntermediate(t, mesh), backend), unknownCA, unknownCA},
		{"untrusted trust domain", forge(t, newAuthority(t, stranger), certs.Template{URIs: []string{"spiffe://stranger.mesh/x"}}),
			"no X.509 bundle for trust domain", unknownCA},
		{"name of the mesh, CA of the partner", forge(t, partnerCA, certs.Template{URIs: []string{good}}), unknownCA, ""},

		{"no name", forge(t, ca, certs.Template{}), noURI, ""},
		{"DNS only", forge(t, ca, certs.Template{DNS: []string{"backend.default.svc"}}), noURI, ""},
		{"URI and DNS", forge(t, ca, certs.Template{URIs: []string{good}, DNS: []string{"backend.default.svc"}}), "", ""},
		{"two URIs", names(good, frontend.String()), manyURIs, ""},
		{"the same URI twice", names(good, good), manyURIs, ""},
		{"two URIs, Kuma's tag first", names("kuma://kuma.io/service/backend", good), manyURIs, ""},

		{"comma in the path", names(good + ",x"), badPath, ""},
		{"two IDs in one URI", names(good + "," + frontend.String()), badPath, ""},
		{"escaped path", names("spiffe://trust-domain.mesh/ns/%64efault"), badPath, ""},
		{"trailing slash", names(good + "/"), "path cannot have a trailing slash", ""},
		{"dot segments", names("spiffe://trust-domain.mesh/ns/../x"), "path cannot contain dot segments", ""},
		{"upper case scheme", names("SPIFFE://trust-domain.mesh/x"), "", ""},
		{"upper case trust domain", names("spiffe://Trust-Domain.mesh/x"), "trust domain characters are limited to", ""},
		{"other scheme", names("https://trust-domain.mesh/x"), "scheme is missing or invalid", ""},
		{"empty URI", names(""), "cannot be empty", ""},
		{"no URL", names("spiffe://trust-domain.mesh/%zz"), unreadable, unreadable},
		{"not ASCII", names("spiffe://trust-domain.mesh/\xff"), malformed, malformed},

		{"server usage only", forge(t, ca, certs.Template{URIs: []string{good}, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}), "", "incompatible key usage"},
		{"no TLS usage", forge(t, ca, certs.Template{URIs: []string{good}, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}}), "", "incompatible key usage"},
		{"CA as leaf", forge(t, ca, certs.Template{URIs: []string{good}, CA: true}), "leaf certificate with CA flag set to true", ""},
	}, x509bundle.NewSet(ca.Bundle(), partnerCA.Bundle())
}
