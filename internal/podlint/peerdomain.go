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

// domainWarnings warns of each trust domain by which a policy names callers, where it is the stated one, that of Istio, or one that more policies name, but for one letter that is
// missing, is too many, or stands on the wrong side of its neighbour. Another letter in place of one is no mistake: meshes are called mesh-a and mesh-b. Nor is there a warning where the policy names both.
func domainWarnings(named []podtemplate.PeerNamespace, s lab.Surroundings) (out []policy.Warning) {
	policiesOf := map[string]map[string]bool{}
	for _, n := range named {
		if policiesOf[n.TrustDomain] == nil {
			policiesOf[n.TrustDomain] = map[string]bool{}
		}
		policiesOf[n.TrustDomain][n.Policy] = true
	}
	delete(policiesOf, "")
	stated := s.Options.TrustDomain.Name()
	candidates := append([]string{stated, istioDomain}, slices.Sorted(maps.Keys(policiesOf))...)
	for _, n := range named {
		if n.TrustDomain == "" || n.TrustDomain == stated || n.TrustDomain == istioDomain {
			continue
		}
		for _, meant := range candidates {
			isUsual := meant == stated || meant == istioDomain || len(policiesOf[meant]) > len(policiesOf[n.TrustDomain])
			if !isUsual || policiesOf[meant][n.Policy] || !isSlip(n.TrustDomain, meant) {
				continue
			}
			text := fmt.Sprintf("the trust domain %s differs from %s in one letter: is that meant?", n.TrustDomain, meant)
			if w := (policy.Warning{Kind: warning.NoPeer, Place: n.Place, Policy: n.Policy, Message: text}); !slices.Contains(out, w) {
				out = append(out, w)
			}
			break
		}
	}
	return out
}

// isSlip reports whether a word of some length is another one but for a letter that is missing, is too many, or is exchanged with its neighbour.
func isSlip(word, meant string) bool {
	letters := func(text string) []rune { return slices.Sorted(slices.Values([]rune(text))) }
	isExchange := slices.Equal(letters(word), letters(meant))
	return len(meant) > 4 && spelling.Distance(word, meant) == 1 && (isExchange || len(word) != len(meant)) &&
		!differInNumber(word, meant) && !strings.HasSuffix(word, meant) && !strings.HasSuffix(meant, word)
}
