package authorization

import (
	"fmt"
	"slices"
	"strings"
)

// Neighbours are domains of other meshes: one for each end that their names may share with those of the own
// mesh, the longest end first, and one that shares nothing. A wildcard holds the names of the own mesh and those
// of a first part of this list, or of none.
func (o Options) Neighbours() (out []string) {
	const other = "another-mesh"
	labels := strings.Split(o.domain(), ".")
	for i := range labels {
		out = append(out, other+"."+strings.Join(labels[i:], "."))
	}
	return append(out, other)
}

// ForeignDomains are the domains of other meshes whose accounts the policies name: whom such a name lets in depends on which
// policy is about which Server.
func ForeignDomains(s Set, o Options) (out []string) {
	add := func(identities []string) {
		for _, text := range identities {
			if _, domain, isAccount := strings.Cut(text, identityOfAccount); isAccount && domain != o.domain() {
				out = append(out, domain)
			}
		}
	}
	for _, m := range s.MeshTLS {
		add(m.Spec.Identities)
	}
	for _, g := range s.Grants {
		if mesh := g.Spec.Client.MeshTLS; mesh != nil {
			add(mesh.Identities)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Speaks returns the Servers that take HTTP alone, and those that take each protocol, by what they select. A proxy
// closes what is not the HTTP that a Server says. It detects HTTP by the first bytes, unless these are late, and
// asks no route about anything else.
func Speaks(s Set) (http, each map[string]string) {
	http, each = map[string]string{}, map[string]string{}
	for _, server := range s.Servers {
		of := each
		if slices.Contains([]string{protocolHTTP1, protocolHTTP2, protocolGRPC}, server.Spec.ProxyProtocol) {
			of = http
		}
		of[fmt.Sprint(server.Metadata.Namespace, server.Spec.PodSelector.Requirements(), server.port, server.portName)] = "Server " + server.String()
	}
	return http, each
}
