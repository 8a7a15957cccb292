package certs_test

import (
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"go.uber.org/goleak"

	"github.com/meshproof/meshproof/certs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	mesh      = spiffeid.RequireTrustDomainFromString("trust-domain.mesh")
	partner   = spiffeid.RequireTrustDomainFromString("partner.mesh")
	stranger  = spiffeid.RequireTrustDomainFromString("stranger.mesh")
	backend   = spiffeid.RequireFromPath(mesh, "/ns/default/sa/backend")
	frontend  = spiffeid.RequireFromPath(mesh, "/ns/default/sa/frontend")
	connector = spiffeid.RequireFromPath(partner, "/ns/default/sa/connector")
)

func newAuthority(t testing.TB, td spiffeid.TrustDomain) *certs.Authority {
	t.Helper()
	a, err := certs.NewAuthority(td)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func newAuthorityWithIntermediate(t testing.TB, td spiffeid.TrustDomain) *certs.Authority {
	t.Helper()
	a, err := certs.NewAuthorityWithIntermediate(td)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func mint(t testing.TB, a *certs.Authority, id spiffeid.ID) *certs.Credential {
	t.Helper()
	c, err := a.Mint(id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func forge(t testing.TB, a *certs.Authority, template certs.Template) *certs.Credential {
	t.Helper()
	c, err := a.Forge(template)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
