package authorization

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/policy/linkerd/internal/object"
)

// Drafts says what of the objects a cluster takes otherwise, each with its first place: hosts of routes, of which a proxy of Linkerd before
// August 2026 (linkerd2-proxy, pull request 4605) compared the case, and names that the schema of a ServerAuthorization refuses.
func Drafts(s Set) (out []string) {
	for _, r := range s.Routes {
		if len(r.Hosts) > 0 && s.hasServers(r) {
			out = append(out, fmt.Sprintf("%s: a proxy of Linkerd before August 2026 compares the host %q with its case: a request for the same host in other letters takes another route there, or none",
				r.Place("spec.hostnames"), r.Hosts[0]))
			break
		}
	}
	for i := range s.Grants {
		if field, value := s.Grants[i].refusedBySchema(); field != "" {
			return append(out, fmt.Sprintf("%s: the schema of a ServerAuthorization does not take %q, so that a cluster refuses the object: write an AuthorizationPolicy", s.Grants[i].Place(field), value))
		}
	}
	return out
}

// refusedBySchema returns the first field with a name that the schema does not take, though Linkerd would: a dot in the name of an object, and
// what is no name of a domain among the identities.
func (g *Grant) refusedBySchema() (field, value string) {
	if strings.Contains(g.Spec.Server.Name, ".") {
		return "spec.server.name", g.Spec.Server.Name
	}
	if mesh := g.Spec.Client.MeshTLS; mesh != nil {
		for i, account := range mesh.ServiceAccounts {
			if strings.Contains(account.Name, ".") {
				return object.Item("spec.client.meshTLS.serviceAccounts", i) + ".name", account.Name
			}
		}
		for i, identity := range mesh.Identities {
			if strings.HasPrefix(identity, "spiffe://") {
				return object.Item("spec.client.meshTLS.identities", i), identity
			}
		}
	}
	return "", ""
}
