package authorization

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
)

// References returns the policies of an inbound that require an authentication which the set does not have. Another folder may
// have it: here such a policy lets nobody in, and there it lets in whom the authentication names.
func References(s Set, in policy.Inbound, o Options) (out capability.References) {
	for _, server := range s.serversOf(in) {
		routes := s.routesOf(server)
		for _, p := range s.Policies {
			if !p.isFor(server) && !slices.ContainsFunc(routes, p.isForRoute) {
				continue
			}
			if _, missing := s.client(p, o); missing != "" {
				spec, _ := p.doc.Lookup("spec")
				out.Policies = append(out.Policies, spec.Flow())
				out.Dangling = append(out.Dangling, fmt.Sprintf("the %s, which %s requires: add it to both folders", missing, Origin(p.Head)))
			}
		}
	}
	slices.Sort(out.Policies)
	return out
}
