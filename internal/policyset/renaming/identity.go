package renaming

import (
	"cmp"
	"fmt"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/policy"
)

// IdentityOf returns the SPIFFE ID of a workload. That of a universal Dataplane has no namespace.
func IdentityOf(td spiffeid.TrustDomain, w policy.Workload) spiffeid.ID {
	id, err := casefile.DefaultIdentity(td, cmp.Or(w.Namespace, casefile.DefaultNamespace), w.Name)
	if err != nil {
		panic(fmt.Sprintf("renaming: %s: %v", w.Name, err))
	}
	return id
}
