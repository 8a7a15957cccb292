package authorization

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy/linkerd/internal/object"
)

// Drafts says what of the objects a cluster takes otherwise, each with its first place: hosts of routes, of which a proxy of Linkerd before
// August 2026 (linkerd2-proxy, pull request 4605) compared the case, a Server whose routes are asked about what the proxy detects as HTTP
// alone, and names that the schema of a ServerAuthorization refuses.
func Drafts(s Set) (out []string) {
	for _, r := range s.Routes {
		if len(r.Hosts) > 0 && s.hasServers(r) {
			out = append(out, fmt.Sprintf("%s: a proxy of Linkerd before August 2026 compares the host %q with its case: a request for the same host in other letters takes another route there, or none",
				r.Place("spec.hostnames"), r.Hosts[0]))
			break
		}
	}
	if i := slices.IndexFunc(s.Servers, s.isPassed); i >= 0 {
		out = append(out, fmt.Sprintf("%s: the Server does not say HTTP, so that a connection whose first packet is less than a request is one of TCP to the proxy, and takes no route: whom the policies of the Server let in reaches paths without a route too: write the protocol of HTTP that it speaks",
			s.Servers[i].doc.Place("")))
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

// isPassed reports whether a caller may pass by the routes of a Server: the proxy detects the protocol by the first read of a connection (Detect
// of linkerd2-proxy, linkerd/http/detect), somebody is let in by the Server, and not every path has a route.
func (s Set) isPassed(server Server) bool {
	routes, access := s.routesOf(server), server.Spec.AccessPolicy
	return (server.Spec.ProxyProtocol == "" || server.Spec.ProxyProtocol == protocolUnknown) && len(routes) > 0 && !slices.ContainsFunc(routes, takesEveryPath) &&
		(access != "" && access != denyAll || slices.ContainsFunc(s.Grants, func(g Grant) bool { return g.isFor(server) }) || slices.ContainsFunc(s.Policies, func(p Policy) bool { return p.isFor(server) }))
}
