package authorization

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/condition"
)

// Neighbours are accounts of other meshes: of one for each end that their names may share with those of the own
// mesh, the longest end first, and of one that shares nothing. A wildcard holds the names of the own mesh and those
// of a first part of this list, or of none.
func (o Options) Neighbours() (out []capability.Foreigner) {
	const other = "another-mesh"
	labels := strings.Split(o.domain(), ".")
	for i := range labels {
		out = append(out, capability.Foreigner{Name: other + "." + strings.Join(labels[i:], ".")})
	}
	return append(out, capability.Foreigner{Name: other})
}

// Foreigners are callers that the policies name and the own mesh does not have: accounts of other meshes, others below the
// end of a wildcard, and those whose whole name stands there. Whom such a name lets in depends on which policy is about which
// Server.
func Foreigners(s Set, o Options) (out []capability.Foreigner) {
	add := func(identities []string) {
		for _, text := range identities {
			_, domain, isAccount := strings.Cut(text, identityOfAccount)
			end, isWildcard := strings.CutPrefix(text, "*.")
			switch {
			case isAccount && domain != o.domain():
				out = append(out, capability.Foreigner{Name: domain})
			case !condition.IsNever(o.identity(text)):
			case isWildcard:
				out = append(out, capability.Foreigner{Name: end})
			default:
				out = append(out, capability.Foreigner{Name: text, WholeName: true})
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
	slices.SortFunc(out, func(a, b capability.Foreigner) int { return strings.Compare(a.String(), b.String()) })
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
