package authorization

import "github.com/spiffe/go-spiffe/v2/spiffeid"

// Options are what the policies themselves do not say.
type Options struct {
	// TrustDomain is the trust domain of the service accounts. The zero value means
	// trust-domain.mesh.
	TrustDomain spiffeid.TrustDomain
}

var defaultTrustDomain = spiffeid.RequireTrustDomainFromString("trust-domain.mesh")

func (o Options) trustDomain() spiffeid.TrustDomain {
	if o.TrustDomain.IsZero() {
		return defaultTrustDomain
	}
	return o.TrustDomain
}
