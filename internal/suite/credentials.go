package suite

import (
	"fmt"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness"
)

// credentials mints each certificate once. Callers that differ in nothing but their name
// share one.
type credentials struct {
	authority func(spiffeid.TrustDomain) (*certs.Authority, error)
	minted    map[credentialKey]*certs.Credential
}

// credentialKey is what a certificate is: what it says, and the CA that signs it.
type credentialKey struct {
	template string
	signedBy spiffeid.TrustDomain
}

// newCredentials returns credentials that the mesh trusts, unless the fault is that it
// does not.
func newCredentials(mesh *harness.Mesh, f Fault) credentials {
	c := credentials{mesh.Authority, map[credentialKey]*certs.Credential{}}
	if f.StaleTrust {
		c.authority = new(certs.Federation).Authority
	}
	return c
}

// of returns what a caller shows, nil for no certificate.
func (c credentials) of(from cases.Caller) (*certs.Credential, error) {
	if from.Plaintext || from.Anonymous {
		return nil, nil
	}
	key := credentialKey{fmt.Sprintf("%#v", from.Template), from.SignedBy}
	if credential := c.minted[key]; credential != nil {
		return credential, nil
	}
	ca, err := c.authority(from.SignedBy)
	if err != nil {
		return nil, err
	}
	credential, err := ca.Forge(from.Template)
	c.minted[key] = credential
	return credential, err
}
