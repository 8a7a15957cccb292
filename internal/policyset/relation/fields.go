package relation

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// fieldsTogether writes fields together that people write together and that seldom stand so, and gives options values
// that names have. What a dialect has of this takes turns.
func (m *relation) fieldsTogether(c *cases.Case, policies []any, options map[string]any) []any {
	own := c.Inbounds[m.inbound].Workload
	switch m.profile {
	case feature.IstioAuthz:
		t := m.newIstioFields(c, policies, options)
		istioTurns[m.rank/2%uint64(len(istioTurns))](t)
		return t.policies
	case feature.CiliumIngress:
		m.togetherOfCilium(c, policies, options)
	case feature.LinkerdAuthz:
		switch m.rank % 5 {
		case 0:
			m.optionsOf(options, "linkerd")["controlPlaneNamespace"] = own.Namespace
		case 1, 3, 4:
			return m.authenticationsApart(policies)
		}
	case feature.GEP3779:
		m.otherDomains(c, policies)
	case feature.KumaMTP, feature.KumaMTPLegacy:
		switch turn := m.rank / 2 % 6; {
		case turn == 0:
			options["systemNamespace"] = own.Namespace
		case turn == 1:
			m.displayNames(policies)
		case turn == 2:
			m.threeTags(c, policies)
		case turn == 3:
			m.otherDomains(c, policies)
		case m.profile == feature.KumaMTPLegacy:
			m.kubernetesTags(c, policies)
		default:
			m.kubernetesLabels(c, policies)
		}
	}
	return policies
}

// otherDomains has lists name the same callers of other trust domains: of one above the own one, of one below it, or of two more.
func (m *relation) otherDomains(c *cases.Case, policies []any) {
	own := c.Inbounds[m.inbound].Identity.TrustDomain().Name()
	others := choice.Pick(m.Chooser, []string{"east." + own}, []string{m.Letters(5) + ".example", m.Letters(6) + ".example"})
	if _, above, ok := strings.Cut(own, "."); ok && m.OneIn(4) {
		others = []string{above}
	}
	for _, l := range tree.SpecLists(policies) {
		items := slices.Clone(l.Items())
		for _, other := range others {
			if item, ok := inOtherDomain(tree.Clone(l.Items()[0]), own, other); ok {
				items = append(items, item)
			}
		}
		l.Set(items)
	}
}

// inOtherDomain returns a value whose SPIFFE IDs of one trust domain are of another one, and whether it has any.
func inOtherDomain(v any, own, other string) (any, bool) {
	found := false
	switch v := v.(type) {
	case string:
		if rest, ok := strings.CutPrefix(v, tree.SPIFFEScheme+own+"/"); ok {
			return tree.SPIFFEScheme + other + "/" + rest, true
		}
	case []any:
		for i := range v {
			changed, ok := inOtherDomain(v[i], own, other)
			v[i], found = changed, found || ok
		}
	case map[string]any:
		for _, key := range tree.Keys(v) {
			changed, ok := inOtherDomain(v[key], own, other)
			v[key], found = changed, found || ok
		}
	}
	return v, found
}

// optionsOf returns the options of a dialect, which may be written.
func (m *relation) optionsOf(options map[string]any, dialect string) map[string]any {
	of, _ := options[dialect].(map[string]any)
	if of == nil {
		of = map[string]any{}
	}
	options[dialect] = of
	return of
}

// togetherOfCilium denies what a policy allows, closes by always where an audit does not, and has selectors and blocks ask for more than one thing.
func (m *relation) togetherOfCilium(c *cases.Case, policies []any, options map[string]any) {
	switch m.rank / 2 % 8 {
	case 0, 4:
		for _, spec := range tree.Objects(policies)["spec"] {
			rules, ok := tree.Clone(spec["ingress"]).([]any)
			if !ok || spec["ingressDeny"] != nil || !m.OneIn(2) {
				continue
			}
			tree.Visit("", rules, func(_ string, v any) {
				if of, ok := v.(map[string]any); ok {
					// A deny has neither.
					delete(of, "rules")
					delete(of, "authentication")
				}
			})
			spec["ingressDeny"], spec["ingress"] = rules, tree.Clone(rules)
		}
	case 2:
		// An audit lets all callers in, and a compiler that is open shows in none of these sets.
		of := m.optionsOf(options, "cilium")
		of["policyEnforcement"], of["policyAuditMode"] = "always", true
	case 1, 7:
		m.peersBeside(c, policies, false)
	case 3:
		m.peersBeside(c, policies, true)
	case 5:
		m.exceptions(policies)
	case 6:
		m.sourcesOfLabels(policies)
	}
}

// displayNames gives policies of Kuma the label that a control plane writes for their names: their own name, or one name for
// all.
func (m *relation) displayNames(policies []any) {
	one := m.Letters(5)
	for _, p := range policies {
		metadata := tree.Metadata(p)
		labels, _ := metadata["labels"].(map[string]any)
		if labels == nil {
			labels = map[string]any{}
			metadata["labels"] = labels
		}
		labels["kuma.io/display-name"] = one
		if m.rank/8%2 == 0 {
			labels["kuma.io/display-name"] = metadata["name"]
		}
	}
}

// threeTags has subsets ask for each tag of the inbound.
func (m *relation) threeTags(c *cases.Case, policies []any) {
	in := &c.Inbounds[m.inbound]
	for _, target := range tree.Objects(policies)["targetRef"] {
		tags, _ := target["tags"].(map[string]any)
		if len(tags) == 0 || in.Tags == nil {
			continue
		}
		for i, key := range []string{"env", "tier", "track"} {
			if len(in.Tags) < 3 {
				in.Tags[key] = m.Letters(3 + i)
			}
		}
		for key, value := range in.Tags {
			tags[key] = value
		}
	}
}
