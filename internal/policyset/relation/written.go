package relation

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// written writes what policies say in a way that few people write, and that a compiler may read otherwise: fields without a value,
// labels that look like numbers, that are empty or whose keys are alike, addresses in another spelling, hosts with an end, what counts behind many policies, and
// things that are alike in places far from each other. The ways take turns.
func (m *relation) written(c *cases.Case, policies []any) []any {
	switch m.rank / 2 % 7 {
	case 0:
		m.nulls(policies)
		return m.missedLabel(c, policies)
	case 1, 6:
		m.oddLabels(c, policies)
	case 2:
		m.spellings(policies)
		return m.missedLabel(c, policies)
	case 3:
		m.endsOfHosts(c, policies)
	case 4:
		return m.behindMany(c, policies)
	case 5:
		m.alikeElsewhere(policies)
		return m.missedLabel(c, policies)
	}
	return policies
}

// nullable are lists and objects that are absent where they have no value, by the key of the object that they are a field of.
var nullable = map[feature.Profile]map[string][]string{
	feature.GEP3779:       {"selector": {"matchLabels", "matchExpressions"}},
	feature.KumaMTP:       {"default": {"allow", "deny", "allowWithShadowDeny"}, "spec": {"targetRef"}},
	feature.KumaMTPLegacy: {"spec": {"targetRef"}, "targetRef": {"tags"}},
	feature.IstioAuthz: {
		"source":    {"principals", "notPrincipals", "requestPrincipals", "notRequestPrincipals", "namespaces", "notNamespaces", "ipBlocks", "notIpBlocks", "remoteIpBlocks", "notRemoteIpBlocks"},
		"operation": {"hosts", "notHosts", "ports", "notPorts", "methods", "notMethods", "paths", "notPaths"},
		"rules":     {"from", "to", "when"}, "when": {"values", "notValues"}, "spec": {"selector"}, "selector": {"matchLabels"}, "jwtRules": {"audiences", "fromHeaders", "fromParams"},
	},
	feature.CiliumIngress: {
		"ingress": {"fromEndpoints", "fromRequires", "fromCIDR", "fromCIDRSet", "fromEntities", "toPorts", "icmps"}, "ingressDeny": {"fromEndpoints", "fromCIDR", "fromCIDRSet", "fromEntities"},
		"spec": {"ingress", "ingressDeny", "egress", "labels"}, "http": {"headers", "headerMatches"}, "fromCIDRSet": {"except"},
		"endpointSelector": {"matchLabels", "matchExpressions"}, "fromEndpoints": {"matchLabels", "matchExpressions"},
	},
	feature.LinkerdAuthz: {
		"podSelector": {"matchLabels", "matchExpressions"}, "networks": {"except"}, "matches": {"path", "headers", "queryParams"},
		"rules": {"matches", "filters"}, "meshTLS": {"identities", "serviceAccounts"},
	},
}

// nulls writes fields without a value where they were left out, half of them.
func (m *relation) nulls(policies []any) {
	by := tree.Objects(policies)
	fields := nullable[m.profile]
	for _, key := range tree.Keys(fields) {
		for _, of := range by[key] {
			for _, field := range fields[key] {
				if _, stated := of[field]; !stated && m.OneIn(2) {
					of[field] = nil
				}
			}
		}
	}
	for _, p := range policies {
		if metadata := tree.Metadata(p); metadata["annotations"] == nil && m.OneIn(2) {
			if of, ok := p.(map[string]any); ok && of["metadata"] != nil {
				metadata["annotations"] = nil
			}
		}
	}
}

// oddValues are values of labels that look like something else, each with what a reader may take it for.
var oddValues = [][2]string{
	{"1.10", "1.1"}, {"on", "true"}, {"yes", "true"}, {"off", "false"}, {"no", "false"}, {"null", ""}, {"007", "7"}, {"1e3", "1000"}, {"0x10", "16"}, {"1_000", "1000"}, {"True", "true"},
	{"010", "8"}, {"1.0", "1"}, {"12345678901234567891", "12345678901234567168"}, {"y", "true"}, {"Null", "null"}, {"2024-01-02", "2024-01-02T00"}, {"a.b", "a-b"}, {"a_b", "a-b"},
}

// labelMaps are the keys of mappings of labels or tags.
var labelMaps = []string{"matchLabels", "labels", "tags"}

// oddLabels gives a label that a selector asks for an odd value, wherever it stands, and sometimes the value that it is taken for.
func (m *relation) oddLabels(c *cases.Case, policies []any) {
	pairs := m.askedLabels(c, policies)
	if len(pairs) == 0 {
		return
	}
	of, odd := choice.Pick(m.Chooser, pairs...), oddValues[int(m.rank/7)%len(oddValues)]
	inPolicies := func() string { return choice.Pick(m.Chooser, odd[0], odd[0], odd[1]) }
	tree.Visit("", policies, func(key string, v any) {
		fields, _ := v.(map[string]any)
		if slices.Contains(labelMaps, key) && fields[of.key] == of.value {
			fields[of.key] = inPolicies()
		}
		if values, _ := fields["values"].([]any); key == "matchExpressions" && fields["key"] == of.key {
			for i := range values {
				if values[i] == of.value {
					values[i] = inPolicies()
				}
			}
		}
	})
	twin := odd[0]
	if m.OneIn(2) {
		twin = odd[1]
	}
	relabeled := func(labels map[string]string, key, value string) map[string]string {
		if labels[key] != of.value {
			return labels
		}
		out := map[string]string{} // labels may be nil
		maps.Copy(out, labels)
		out[key] = value
		return out
	}
	for i := range c.Inbounds {
		in := &c.Inbounds[i]
		in.Workload.Labels, in.Tags = relabeled(in.Workload.Labels, withoutSource(of.key), twin), relabeled(in.Tags, of.key, twin)
	}
	for i := range c.Options.Peers {
		peer := &c.Options.Peers[i].Workload
		value := choice.Pick(m.Chooser, odd[0], odd[1])
		if slices.ContainsFunc(c.Inbounds, func(in cases.Inbound) bool { return in.Workload.Name == peer.Name }) {
			value = twin
		}
		peer.Labels = relabeled(peer.Labels, withoutSource(of.key), value)
	}
}

// withoutSource returns the key of a label without the source that Cilium writes in front.
func withoutSource(key string) string {
	if _, after, ok := strings.Cut(key, ":"); ok {
		return after
	}
	return key
}

// spelled are the fields that have blocks or addresses.
var spelled = []string{"ipBlocks", "notIpBlocks", "remoteIpBlocks", "notRemoteIpBlocks", "fromCIDR", "cidr", "except", "values", "notValues"}

// spellings writes addresses of IPv6 in capital letters or with all zeros, and blocks with an address within them. Lists of blocks get one of IPv6.
func (m *relation) spellings(policies []any) {
	spell := func(v any) any {
		text, _ := v.(string)
		address, mask, isBlock := strings.Cut(text, "/")
		ip, err := netip.ParseAddr(address)
		if err != nil {
			return v
		}
		switch {
		case ip.Is6() && !ip.Is4In6() && m.OneIn(2):
			address = strings.ToUpper(ip.StringExpanded())
		case ip.Is6() && !ip.Is4In6():
			address = choice.Pick(m.Chooser, strings.ToUpper(address), ip.StringExpanded(), strings.Replace(address, "2001:db8:", "2001:0DB8:", 1))
		case isBlock && mask != "32" && mask != "31" && m.OneIn(2):
			address = ip.Next().String()
		}
		if isBlock {
			address += "/" + mask
		}
		return address
	}
	for _, p := range policies {
		tree.Visit("", tree.Specs(p), func(_ string, v any) {
			fields, _ := v.(map[string]any)
			for _, field := range tree.Keys(fields) {
				if !slices.Contains(spelled, field) {
					continue
				}
				items, isList := fields[field].([]any)
				if !isList {
					fields[field] = spell(fields[field])
					continue
				}
				items = slices.Clone(items)
				if strings.Contains(strings.ToLower(field), "block") || field == "fromCIDR" {
					items = append(items, choice.Pick(m.Chooser, "2001:db8:a:b::/64", "2001:db8:c::1/128", "2001:db8:d00::/40"))
				}
				for i := range items {
					items[i] = spell(items[i])
				}
				fields[field] = items
			}
		})
	}
}

// endsOfHosts has lists of hosts name one with a port or a dot at its end, beside the host or in its place.
func (m *relation) endsOfHosts(c *cases.Case, policies []any) {
	port := fmt.Sprint(":", c.Inbounds[m.inbound].Port)
	end := func() string { return choice.Pick(m.Chooser, ".", ":80", ":443", port) }
	for _, l := range tree.SpecLists(policies) {
		host, ok := choice.Pick(m.Chooser, l.Items()...).(string)
		switch {
		case !ok || strings.HasSuffix(host, "*") || strings.Contains(host, ":"):
		case l.Key != "hosts" && l.Key != "notHosts" && (l.Object["key"] != "connection.sni" && l.Object["key"] != "request.headers[:authority]" || l.Key != "values" && l.Key != "notValues"):
		case m.OneIn(2):
			l.Set(append(slices.Clone(l.Items()), host+end()))
		default:
			l.Set([]any{host + end()})
		}
	}
	for _, of := range tree.Objects(policies)["http"] {
		if host, ok := of["host"].(string); ok && host != "" {
			of["host"] = host + choice.Pick(m.Chooser, "[.]", ":80", port)
		}
	}
}

// behindMany writes more than 64 policies in front of one: those that say what the others say, or those of other namespaces or meshes.
func (m *relation) behindMany(c *cases.Case, policies []any) []any {
	all := deciding(policies)
	if len(all) == 0 || len(policies) > 20 {
		return policies
	}
	last := choice.Pick(m.Chooser, all...)
	if own := m.fromOwnNamespace(c, all); own != nil && m.OneIn(2) {
		last = own
	}
	isLast := func(p any) bool { return reflect.ValueOf(p).Pointer() == reflect.ValueOf(last).Pointer() }
	rest := slices.DeleteFunc(slices.Clone(policies), isLast)
	others := slices.DeleteFunc(slices.Clone(all), func(p map[string]any) bool { return isLast(p) || isLong(p) })
	lastIsLong := isLong(last)
	if len(others) == 0 && lastIsLong {
		return policies
	}
	var many []any
	for range 64 + choice.Pick(m.Chooser, 0, 2, 40, 70) {
		of, elsewhere := last, len(others) == 0 || !lastIsLong && m.OneIn(4)
		if !elsewhere {
			of = choice.Pick(m.Chooser, others...)
		}
		p := tree.Clone(of).(map[string]any)
		metadata := tree.Metadata(p)
		metadata["name"] = m.Letters(8)
		for _, scope := range []string{"namespace", "mesh"} {
			if elsewhere && metadata[scope] != nil {
				metadata[scope] = m.Letters(6)
			}
		}
		tree.ForgetDisplayName(metadata)
		if labels, ok := metadata["labels"].(map[string]any); ok && elsewhere && labels["kuma.io/mesh"] != nil {
			labels["kuma.io/mesh"] = m.Letters(6)
		}
		many = append(many, p)
	}
	if m.OneIn(2) {
		return slices.Concat(many, rest, []any{last})
	}
	return slices.Concat(rest, many, []any{last})
}

// isLong reports whether a policy is too long for many copies of it: a set is read several times before it is asked about.
func isLong(policy map[string]any) bool {
	const mostBytes = 1000
	text, err := json.Marshal(policy)
	return err != nil || len(text) > mostBytes
}

// alone are fields and keys of lists of which another value asks for more than the value.
var alone = []string{"matchExpressions", "conditions", "when", "type", "name", "key", "operator", "fromEntities", "spiffe", "serviceAccount", "protocol"}

// alikeElsewhere adds to some lists what another list of the policies has, or they have, but for one field.
func (m *relation) alikeElsewhere(policies []any) {
	lists := tree.SpecLists(policies)
	byKey := tree.ByKey(lists, func(key string) bool {
		return key != "specs" && !slices.Contains(shortLists, key) && !slices.Contains(alone, key)
	})
	const mostAlike = 3
	keys := choice.Shuffled(m.Chooser, tree.Keys(byKey))
	for _, key := range keys[:min(len(keys), mostAlike)] {
		from, to := choice.Pick(m.Chooser, byKey[key]...), choice.Pick(m.Chooser, byKey[key]...)
		twin, ok := tree.Clone(choice.Pick(m.Chooser, from.Items()...)).(map[string]any)
		if !ok || len(twin) < 2 {
			continue
		}
		if field := choice.Pick(m.Chooser, tree.Keys(twin)...); !slices.Contains(alone, field) && m.vary(twin, field, key, lists) {
			to.Set(append(slices.Clone(to.Items()), twin))
		}
	}
}
