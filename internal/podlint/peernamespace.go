package podlint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/podtemplate"
	"github.com/meshproof/meshproof/internal/spelling"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// peerNamespaceWarnings warns of each namespace by which a policy names callers, where nothing in the folder is of it, and a namespace of the folder is spelt almost alike.
// Callers may be of namespaces of other folders: so there is no warning of other names, of two that differ in a number or a letter behind a dash, or in what stands in front (auth and oauth), and where
// the policy names the other namespace too.
func peerNamespaceWarnings(f *lab.Files, s lab.Surroundings, named []podtemplate.PeerNamespace, unknown []string) (out []policy.Warning) {
	placement, known := podtemplate.Placements(f.Policies, f.Others)
	if !known || placement.IsChosen {
		return nil
	}
	domains := map[string]bool{}
	for _, n := range named {
		domains[n.TrustDomain] = true
	}
	for _, n := range named {
		isNamed := func(other string) bool {
			return slices.ContainsFunc(named, func(o podtemplate.PeerNamespace) bool { return o.Policy == n.Policy && o.Name == other })
		}
		if placement.Others[n.Name] || placement.Policies[n.Name] > 0 || slices.Contains(unknown, n.Name) || !isOfMesh(n.TrustDomain, domains, s) {
			continue
		}
		others := slices.DeleteFunc(slices.Sorted(maps.Keys(placement.Others)), func(other string) bool {
			return differInNumber(n.Name, other) || isNamed(other) || strings.HasSuffix(n.Name, other) || strings.HasSuffix(other, n.Name)
		})
		if meant, close := spelling.Closest(n.Name, others); close {
			text := fmt.Sprintf("nothing in the folder is of the namespace %s: did you mean %s?", n.Name, meant)
			out = append(out, policy.Warning{Kind: warning.NoPeer, Place: n.Place, Policy: n.Policy, Message: text})
		}
	}
	return out
}
