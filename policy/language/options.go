package language

import (
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy/manifest"
)

// Options are what the policies themselves do not say. The zero value has the
// defaults of every dialect.
type Options struct {
	// Document has the keys of all dialects, as they stand under options of a case
	// file. Each dialect reads its own keys. The packages that pass it on know no key.
	Document manifest.Document
	// TrustDomain is the mesh's own; the zero value means trust-domain.mesh.
	TrustDomain spiffeid.TrustDomain
	// Dialect names the dialect to which a set without policies belongs; "" means the
	// first of the list in policy/dialect.
	Dialect string
}
