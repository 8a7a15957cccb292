package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/sidecar"
)

// strangeDomains says which trust domains share their CAs on an inbound, and are not all names of the mesh of the policies; "" for none. Of
// one mesh, each CA may give all names: then its names in an alias are callers that the policies know, and they are asked.
func (s *source) strangeDomains(enforced sidecar.Inbound) (string, error) {
	if len(enforced.SharedDomains) < 2 {
		return "", nil
	}
	reading, err := s.read()
	if err != nil {
		return "", err
	}
	reason := fmt.Sprintf("one list of CAs is for the trust domains %s: each CA may give the names of the others", strings.Join(enforced.SharedDomains, ", "))
	of, hasAliases := reading.Set().(capability.Aliased)
	if !hasAliases {
		return reason, nil
	}
	own := of.TrustDomains()
	strange := slices.DeleteFunc(slices.Clone(enforced.SharedDomains), func(domain string) bool { return slices.Contains(own, domain) })
	if len(strange) == 0 {
		return "", nil
	}
	return fmt.Sprintf("%s. The trust domain of the mesh is %s: where the mesh config names %s as aliases of it, state that, as in --istio 'trustDomainAliases: [%[3]s]'", reason, own[0], strings.Join(strange, ", ")), nil
}
