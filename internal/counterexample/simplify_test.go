package counterexample_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/mtls"
)

// TestShrinkTrustsByDefault shows that a case without trust domains gets the default one.
func TestShrinkTrustsByDefault(t *testing.T) {
	t.Parallel()
	c := casetest.Parse(t, "case: x\nworkloads: [{name: w, inbounds: [{port: 80, protocol: grpc}]}]\n"+
		"requests: [{from: spiffe://trust-domain.mesh/x, to: w/80, grpc: S/M, want: deny}]\n")
	c.TrustDomains = nil
	small := shrunk(t, &counted{holds: func(c cases.Case) bool { return c.Requests[0].GRPC != "" }}, c, c.Requests[0])
	if want := "counterexample: deny expected of POST /S/M as spiffe://trust-domain.mesh/x to w/80, Envoy differs"; small.Name != want {
		t.Errorf("got %q, want %q", small.Name, want)
	}
}

// TestShrinkOfAnyCaller shows that the case names each kind of caller, and wants the decision
// of the policies, or of mTLS.
func TestShrinkOfAnyCaller(t *testing.T) {
	t.Parallel()
	c, q := large(t, 3, 3)
	c.Inbounds = slices.Clone(c.Inbounds)
	for i := range c.Inbounds {
		c.Inbounds[i].MTLS = mtls.Permissive
	}
	own, partner := c.TrustDomains[0], c.TrustDomains[1]
	stranger := spiffeid.RequireTrustDomainFromString("stranger.mesh")
	forged := func(by spiffeid.TrustDomain, uris ...string) cases.Caller {
		return cases.Caller{Name: strings.Join(uris, " + "), Template: certs.Template{URIs: uris}, SignedBy: by}
	}
	expired := forged(own, "spiffe://a.mesh/x")
	expired.Template.Validity = certs.Expired
	placed := forged(own, "spiffe://a.mesh/x/y")
	placed.SourceIP = netip.MustParseAddr("10.3.3.3")
	for want, tt := range map[string]struct {
		caller cases.Caller
		stated cases.Want
	}{
		"{from: plaintext, to: backend/api, want: allow}":                            {cases.Caller{Name: "plaintext", Plaintext: true}, cases.Allow},
		"{from: anonymous, to: backend/api, want: handshake-failure}":                {cases.Caller{Name: "anonymous", Anonymous: true}, cases.HandshakeFailure},
		"{from: x, to: backend/api, want: handshake-failure}":                        {expired, cases.HandshakeFailure},
		"{from: spiffe://a.mesh/x, to: backend/api, want: deny}":                     {placed, cases.Deny},
		"{from: spiffe://b.mesh/y, to: backend/api, want: deny}":                     {forged(own, "spiffe://stranger.mesh/y", "spiffe://b.mesh/y/z"), cases.Deny},
		"{from: \"%zz + y\", to: backend/api, want: deny}":                           {forged(own, "%zz", "y"), cases.Deny},
		"{from: spiffe://stranger.mesh/x, to: backend/api, want: handshake-failure}": {forged(stranger, "spiffe://stranger.mesh/x"), cases.HandshakeFailure},
		"{from: forged, to: backend/api, want: deny}":                                {forged(partner, "spiffe://a.mesh/forged"), cases.Deny},
	} {
		q.From, q.Want = tt.caller, tt.stated
		s := &counted{holds: func(c cases.Case) bool {
			// The signer shows that the certificate is forged.
			return tt.caller.SignedBy != partner || c.Requests[0].From.SignedBy == partner && len(c.Requests[0].From.Template.URIs[0]) > 20
		}}
		small := shrunk(t, s, c, q)
		if text := string(casewriter.YAML(small)); !strings.HasSuffix(text, "  - "+want+"\n") || len(small.Policies) > 0 {
			t.Errorf("want %s, got\n%s", want, text)
		}
	}
}
