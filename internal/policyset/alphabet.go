package policyset

import "github.com/spiffe/go-spiffe/v2/spiffeid"

// The names of all sets. They are few and alike, so that the rules of policies overlap and
// nearly overlap.
var (
	ownDomain   = spiffeid.RequireTrustDomainFromString("trust-domain.mesh")
	otherDomain = spiffeid.RequireTrustDomainFromString("other.mesh")
	// In the legacy form each mesh is a trust domain.
	legacyDomain      = spiffeid.RequireTrustDomainFromString("default")
	legacyOtherDomain = spiffeid.RequireTrustDomainFromString("other")

	identities = []string{
		"spiffe://trust-domain.mesh/ns/a/sa/x", "spiffe://trust-domain.mesh/ns/a/sa/y", "spiffe://trust-domain.mesh/ns/a/sa/xy",
		"spiffe://trust-domain.mesh/ns/ab/sa/x", "spiffe://trust-domain.mesh/ns/ab/sa/y", "spiffe://trust-domain.mesh/ns/b/sa/x",
		"spiffe://trust-domain.mesh/ns/b/sa/y", "spiffe://trust-domain.mesh/ns/default/sa/web", "spiffe://trust-domain.mesh/ns/default/sa/api",
		"spiffe://trust-domain.mesh/ns/a", "spiffe://other.mesh/ns/a/sa/x", "spiffe://other.mesh/ns/b/sa/x",
	}
	prefixes = []string{
		"spiffe://trust-domain.mesh", "spiffe://trust-domain.mesh/", "spiffe://trust-domain.mesh/ns/a", "spiffe://trust-domain.mesh/ns/a/",
		"spiffe://trust-domain.mesh/ns/ab/", "spiffe://trust-domain.mesh/ns/b/sa/", "spiffe://trust-domain.mesh/ns/a/sa/x",
		"spiffe://other.mesh/", "spiffe://trust", "spiffe://o",
	}
	paths   = []string{"/", "/a", "/a/", "/a/b", "/ab", "/a/b/c", "/b"}
	methods = []string{"GET", "HEAD", "POST", "DELETE"}

	names      = []string{"web", "api"}
	namespaces = []string{"default", "a"}
	zones      = []string{"east", "west"}
	// policyNames are not in order, because the order of policies decides.
	policyNames = []string{"p", "q", "pq", "a-p", "p-a", "z"}

	services = []string{"web", "api", "db"}
	routes   = []string{"orders", "items"}
)
