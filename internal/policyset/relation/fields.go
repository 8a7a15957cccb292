package relation

import (
	"fmt"
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
		return m.togetherOfIstio(c, policies, options)
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

// togetherOfIstio has sources ask for blocks beside names, conditions for the account of the workload itself, and operations
// for its host and for every path. The root namespace may be that of the workload, and the trust domain may
// have several aliases.
func (m *relation) togetherOfIstio(c *cases.Case, policies []any, options map[string]any) []any {
	in := c.Inbounds[m.inbound]
	by := tree.Objects(policies)
	of := m.optionsOf(options, "istio")
	root, _ := of["rootNamespace"].(string)
	if root == "" {
		root = "istio-system"
	}
	add := func(to map[string]any, field string, values ...any) {
		items, _ := to[field].([]any)
		to[field] = append(slices.Clone(items), values...)
	}
	blocks := func() []any { return []any{in.IP.String(), m.Address().String() + "/16"} }
	switch turn := m.rank / 2 % 19; turn {
	case 0:
		for _, source := range by["source"] {
			add(source, "ipBlocks", blocks()...)
		}
	case 1:
		for _, source := range by["source"] {
			add(source, "remoteIpBlocks", blocks()...)
			add(source, "ipBlocks", blocks()...)
		}
	case 2:
		condition := choice.Pick(m.Chooser, map[string]any{"key": "source.principal", "values": []any{strings.TrimPrefix(in.Identity.String(), tree.SPIFFEScheme)}},
			map[string]any{"key": "source.namespace", "values": []any{in.Workload.Namespace}})
		for _, rule := range by["rules"] {
			if rule["from"] != nil || rule["to"] != nil || rule["when"] != nil {
				add(rule, "when", tree.Clone(condition))
			}
		}
	case 3:
		for _, operation := range by["operation"] {
			if m.OneIn(2) {
				add(operation, "paths", "/*")
			} else {
				add(operation, "hosts", in.Workload.Name, in.Workload.Name+"."+in.Workload.Namespace+".svc.cluster.local")
			}
		}
	case 4:
		for _, source := range by["source"] {
			if source["serviceAccounts"] == nil && source["notServiceAccounts"] == nil {
				add(source, "namespaces", root)
			}
		}
	case 5:
		of["rootNamespace"] = in.Workload.Namespace
	case 6:
		of["trustDomainAliases"] = []any{"old." + in.Identity.TrustDomain().Name(), in.Identity.TrustDomain().Name(), "older.example"}
	case 7:
		m.manyOfRules(by["rules"])
	case 8:
		for _, selector := range by["selector"] {
			if m.OneIn(2) {
				selector["matchLabels"] = map[string]any{}
			}
		}
	case 9:
		for _, operation := range by["operation"] {
			add(operation, "paths", "/"+m.Letters(4)+"/{*}/"+m.Letters(5)+"/{*}", "/"+m.Letters(3)+"/{*}/{**}")
		}
	case 10:
		for _, rule := range by["rules"] {
			if rule["from"] != nil || rule["to"] != nil || rule["when"] != nil {
				add(rule, "when", map[string]any{"key": "request.auth.claims[" + m.Letters(5) + "][" + m.Letters(4) + "][" + m.Letters(5) + "]", "values": []any{m.Letters(5)}})
			}
		}
	case 11:
		for _, operation := range by["operation"] {
			for field, value := range map[string]any{"hosts": m.Letters(4) + ".example", "ports": fmt.Sprint(in.Port), "methods": "GET", "paths": "/" + m.Letters(4) + "*"} {
				if operation[field] == nil {
					operation[field] = []any{value}
				}
			}
		}
	case 12, 13, 14:
		return m.tokensTogether(c, policies, int(turn-12))
	case 15, 16:
		if m.OneIn(2) {
			_, policies = m.tokenRules(c, policies)
		}
		m.stars(c, policies)
	case 17:
		m.dottedTemplates(policies)
	case 18:
		return m.tokensTogether(c, policies, 0)
	}
	return policies
}

// manyOfRules has rules with three and more sources, operations and conditions.
func (m *relation) manyOfRules(rules []map[string]any) {
	for _, rule := range rules {
		for _, key := range []string{"from", "to", "when"} {
			items, _ := rule[key].([]any)
			for least := m.Number(3, 5); len(items) > 0 && len(items) < least; {
				items = append(items[:len(items):len(items)], tree.Another(m.Chooser, key, items[0]))
			}
			if len(items) > 0 {
				rule[key] = items
			}
		}
	}
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
