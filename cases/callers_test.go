package cases_test

import (
	"crypto/x509"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
)

// TestCallers compares each entry under callers with its certificate.
func TestCallers(t *testing.T) {
	t.Parallel()
	const x, y = "spiffe://a.mesh/x", "spiffe://b.mesh/y"
	td := func(name string) spiffeid.TrustDomain { return spiffeid.RequireTrustDomainFromString(name) }
	for entry, want := range map[string]cases.Caller{
		// Without a signer the CA of the mesh signs.
		"{}":                      {SignedBy: td("a.mesh")},
		"":                        {SignedBy: td("a.mesh")},
		"{uris: []}":              {SignedBy: td("a.mesh"), Template: certs.Template{URIs: []string{}}},
		"{uris: [" + x + "]}":     {SignedBy: td("a.mesh"), Template: certs.Template{URIs: []string{x}}},
		"{uris: [" + y + "]}":     {SignedBy: td("b.mesh"), Template: certs.Template{URIs: []string{y}}},
		"{uris: [spiffe://c/z]}":  {SignedBy: td("c"), Template: certs.Template{URIs: []string{"spiffe://c/z"}}},
		"{dns: [a.mesh, b.mesh]}": {SignedBy: td("a.mesh"), Template: certs.Template{DNS: []string{"a.mesh", "b.mesh"}}},
		// The first URI SAN names the signer, if it is a SPIFFE ID.
		"{uris: [" + y + ", " + x + "]}":             {SignedBy: td("b.mesh"), Template: certs.Template{URIs: []string{y, x}}},
		"{uris: ['spiffe://b.mesh/y?z', " + y + "]}": {SignedBy: td("a.mesh"), Template: certs.Template{URIs: []string{"spiffe://b.mesh/y?z", y}}},
		"{uris: ['', '%zz', 'a,b']}":                 {SignedBy: td("a.mesh"), Template: certs.Template{URIs: []string{"", "%zz", "a,b"}}},
		"{uris: [" + x + "], signedBy: b.mesh}":      {SignedBy: td("b.mesh"), Template: certs.Template{URIs: []string{x}}},
		"{uris: [" + x + "], signedBy: stranger}":    {SignedBy: td("stranger"), Template: certs.Template{URIs: []string{x}}},
		"{expired: true}":                            {SignedBy: td("a.mesh"), Template: certs.Template{Validity: certs.Expired}},
		"{notYetValid: true}":                        {SignedBy: td("a.mesh"), Template: certs.Template{Validity: certs.NotYetValid}},
		"{expired: false, notYetValid: false}":       {SignedBy: td("a.mesh")},
		"{wrongExtKeyUsage: true}":                   {SignedBy: td("a.mesh"), Template: certs.Template{Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}},
		"{caCertificate: true}":                      {SignedBy: td("a.mesh"), Template: certs.Template{CA: true}},
		// The mesh of a service signs. The tags are in the order of their keys.
		"{service: web}":                {SignedBy: td("default"), Template: certs.Template{URIs: []string{"spiffe://default/web"}}},
		"{service: web, mesh: b.mesh}":  {SignedBy: td("b.mesh"), Template: certs.Template{URIs: []string{"spiffe://b.mesh/web"}}},
		"{service: web, tags: {}}":      {SignedBy: td("default"), Template: certs.Template{URIs: []string{"spiffe://default/web"}}},
		"{service: web, expired: true}": {SignedBy: td("default"), Template: certs.Template{URIs: []string{"spiffe://default/web"}, Validity: certs.Expired}},
		"{service: web, mesh: b.mesh, signedBy: a.mesh, tags: {version: v1, kuma.io/zone: east, env: 'a:1'}}": {
			SignedBy: td("a.mesh"),
			Template: certs.Template{URIs: []string{"spiffe://b.mesh/web", "kuma://env/a:1", "kuma://kuma.io/zone/east", "kuma://version/v1"}},
		},
		"{uris: [" + x + "], dns: [d], signedBy: b.mesh, expired: true, wrongExtKeyUsage: true, caCertificate: true}": {
			SignedBy: td("b.mesh"),
			Template: certs.Template{URIs: []string{x}, DNS: []string{"d"}, Validity: certs.Expired, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, CA: true},
		},
	} {
		t.Run(entry, func(t *testing.T) {
			t.Parallel()
			got := parse(t, "case: x\ntrustDomains: [a.mesh, b.mesh]\nworkloads: [{name: w, inbounds: [{port: 80}]}]\ncallers:\n  c: "+entry+
				"\nrequests: [{from: c, to: w/80, want: allow}]").Requests[0].From
			want.Name = "c"
			if diff := cmp.Diff(want, got, sameCases); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestBuiltInCallers has the callers that need no entry.
func TestBuiltInCallers(t *testing.T) {
	t.Parallel()
	// The identity of a workload without inbounds need not be trusted.
	const head = "case: x\ntrustDomains: [a.mesh, b.mesh]\nworkloads:\n" +
		"  - {name: w, namespace: n, inbounds: [{port: 80}]}\n  - {name: of-b, identity: spiffe://b.mesh/v, ip: 10.0.0.9}\n  - {name: stranger, identity: spiffe://c.mesh/v}\n"
	for from, want := range map[string]cases.Caller{
		"plaintext":            {Name: "plaintext", Plaintext: true},
		"anonymous":            {Name: "anonymous", Anonymous: true},
		"spiffe://c.mesh/x/y":  svid("spiffe://c.mesh/x/y", "spiffe://c.mesh/x/y"),
		"spiffe://c.mesh":      svid("spiffe://c.mesh", "spiffe://c.mesh"),
		"w":                    svid("w", "spiffe://a.mesh/ns/n/sa/w"),
		"of-b":                 svid("of-b", "spiffe://b.mesh/v"),
		"stranger":             svid("stranger", "spiffe://c.mesh/v"),
		"spiffe://b.mesh/v":    svid("spiffe://b.mesh/v", "spiffe://b.mesh/v"),
		"spiffe://a.mesh/A-_.": svid("spiffe://a.mesh/A-_.", "spiffe://a.mesh/A-_."),
	} {
		got := parse(t, head+"requests: [{from: '"+from+"', to: w/80, want: allow}]").Requests[0].From
		got.SourceIP = want.SourceIP
		if diff := cmp.Diff(want, got, sameCases); diff != "" {
			t.Errorf("%s (-want +got):\n%s", from, diff)
		}
	}
}
