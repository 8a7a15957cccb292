package relation

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// keys writes what a compiler may take for one thing because it makes one key of several texts: names that are one text when
// they are joined, kinds that share a name, labels behind the first ones, letters in another case, and lists in an order.
// The relations take turns.
func (m *relation) keys(c *cases.Case, policies []any) []any {
	switch m.rank / 2 % 11 {
	case 0, 7:
		return m.joinedPolicies(c, policies)
	case 8:
		return m.alikePolicies(c, policies)
	case 9, 10:
		m.alikeItems(policies)
	case 1:
		m.joinedAccounts(policies)
	case 2:
		m.nameOfTwoKinds(policies)
	case 3:
		return m.manyLabels(c, policies)
	case 4:
		m.relabel(c, func(labels map[string]string) {
			for range choice.Pick(m.Chooser, 22, 45) {
				labels[m.Letters(7)] = m.Letters(3)
			}
		})
	case 5:
		m.otherCase(policies)
	case 6:
		m.inOrder(policies)
	}
	return policies
}

// decide are the kinds that decide, and whose names no other document says.
var decide = []string{"AuthorizationPolicy", "XAuthorizationPolicy", "CiliumNetworkPolicy", "ServerAuthorization", "MeshTrafficPermission"}

// deciding returns the policies of these kinds that have a name and a namespace, or a mesh.
func deciding(policies []any) (out []map[string]any) {
	for _, p := range policies {
		p, _ := p.(map[string]any)
		kind, _ := p["kind"].(string)
		if kind == "" {
			kind, _ = p["type"].(string)
		}
		if name, ok := tree.Metadata(p)["name"].(string); ok && name != "" && slices.Contains(decide, kind) {
			out = append(out, p)
		}
	}
	return out
}

// fromOwnNamespace returns a policy of the namespace of the workload, nil for none.
func (m *relation) fromOwnNamespace(c *cases.Case, policies []map[string]any) map[string]any {
	own := c.Inbounds[m.inbound].Workload.Namespace
	for _, p := range policies {
		if tree.Metadata(p)["namespace"] == own {
			return p
		}
	}
	return nil
}

// joinedPolicies adds a policy whose namespace and name, joined by a dash, are those of another one: a/b-c and a-b/c. It says
// what some policy says, and is of a namespace, or of a mesh, without workloads.
func (m *relation) joinedPolicies(c *cases.Case, policies []any) []any {
	all := deciding(policies)
	if len(all) == 0 {
		return policies
	}
	of := choice.Pick(m.Chooser, all...)
	// A policy of the workload's own namespace is missed where it is lost.
	if own := m.fromOwnNamespace(c, all); own != nil && !m.OneIn(4) {
		of = own
	}
	twin := tree.Clone(choice.Pick(m.Chooser, all...)).(map[string]any)
	kept, other := tree.Metadata(of), tree.Metadata(twin)
	scope := "namespace"
	if kept[scope] == nil {
		scope = "mesh"
	}
	name, _ := kept["name"].(string)
	place, ok := kept[scope].(string)
	if !ok || len(name) > 40 || len(place) > 40 {
		return policies
	}
	between := m.Letters(2)
	if m.OneIn(2) {
		kept["name"], other["name"], other[scope] = between+"-"+name, name, place+"-"+between
	} else {
		kept["name"], other["name"], other[scope] = name+"-"+between, name, between+"-"+place
	}
	for _, metadata := range []map[string]any{kept, other} {
		tree.ForgetDisplayName(metadata)
		if labels, ok := metadata["labels"].(map[string]any); ok {
			delete(labels, "kuma.io/mesh")
		}
	}
	return slices.Insert(policies, choice.Pick(m.Chooser, 0, len(policies)), any(twin))
}

// accountPlace finds a service account in a SPIFFE ID, or in a text of a namespace and a name.
var accountPlace = regexp.MustCompile(`^(.*\bns/)?([a-z0-9-]{1,40})(/sa/|/)([a-z0-9-]{1,40})$`)

// joinedAccounts lets a list name two accounts whose namespace and name, joined by a dash, are one text, or accounts of one name of
// two namespaces.
func (m *relation) joinedAccounts(policies []any) {
	for _, l := range tree.SpecLists(policies) {
		items := slices.Clone(l.Items())
		for i, item := range items {
			between := m.Letters(2)
			begin := between + "-"
			if m.OneIn(2) {
				begin = ""
			}
			first, one := renameAccounts(tree.Clone(item), l.Key, func(namespace, name string) (string, string) { return namespace, begin + name })
			second, two := renameAccounts(tree.Clone(item), l.Key, func(namespace, name string) (string, string) { return namespace + "-" + between, name })
			if one && two {
				items[i] = first
				l.Set(slices.Insert(items, m.Choose(len(items)+1), second))
				break
			}
		}
	}
	if !ofIstio(policies) {
		return
	}
	for _, source := range tree.Objects(policies)["source"] {
		if !slices.ContainsFunc([]string{"principals", "notPrincipals", "namespaces", "notNamespaces"}, func(field string) bool { return source[field] != nil }) {
			account := m.Letters(4)
			source["notServiceAccounts"] = []any{m.Letters(3) + "/" + account, m.Letters(3) + "/" + account}
		}
	}
}

// renameAccounts changes each service account that a value names by its namespace and its name. It reports whether there is one.
func renameAccounts(v any, key string, change func(namespace, name string) (string, string)) (any, bool) {
	switch v := v.(type) {
	case string:
		found := accountPlace.FindStringSubmatch(v)
		if found == nil || found[1] == "" && !strings.HasSuffix(key, "erviceAccounts") || found[1] != "" && found[3] != "/sa/" {
			return v, false
		}
		namespace, name := change(found[2], found[4])
		return found[1] + namespace + found[3] + name, true
	case []any:
		found := false
		for i := range v {
			changed, ok := renameAccounts(v[i], key, change)
			v[i], found = changed, found || ok
		}
		return v, found
	case map[string]any:
		found := false
		namespace, stated := v["namespace"].(string)
		if name, ok := v["name"].(string); ok && stated && name != "*" && (strings.HasPrefix(key, "serviceAccount") || v["kind"] == "ServiceAccount") {
			v["namespace"], v["name"] = change(namespace, name)
			return v, true
		}
		for _, inner := range tree.Keys(v) {
			changed, ok := renameAccounts(v[inner], inner, change)
			v[inner], found = changed, found || ok
		}
		return v, found
	default:
		return v, false
	}
}

// nameOfTwoKinds gives a policy the name and the namespace of a document of another kind.
func (m *relation) nameOfTwoKinds(policies []any) {
	kindOf := func(p map[string]any) string { return fmt.Sprint(p["kind"], p["type"]) }
	taken := map[string]bool{}
	key := func(kind string, metadata map[string]any) string {
		return fmt.Sprint(kind, " ", metadata["namespace"], " ", metadata["name"])
	}
	for _, p := range policies {
		p, _ := p.(map[string]any)
		taken[key(kindOf(p), tree.Metadata(p))] = true
	}
	for _, p := range deciding(policies) {
		for _, other := range policies {
			other, _ := other.(map[string]any)
			of := tree.Metadata(other)
			if kindOf(other) == kindOf(p) || of["name"] == nil || of["namespace"] != tree.Metadata(p)["namespace"] || taken[key(kindOf(p), of)] {
				continue
			}
			tree.Metadata(p)["name"] = of["name"]
			taken[key(kindOf(p), of)] = true
			break
		}
	}
}

// manyLabels has selectors ask for more labels. The workload has them all, or lacks the last one. Few policies of Istio have a selector:
// further ones deny what they allow, to workloads of these labels.
func (m *relation) manyLabels(c *cases.Case, policies []any) []any {
	more, many := map[string]any{}, choice.Pick(m.Chooser, 3, 3, 4, 4, 5, 9)
	if ofIstio(policies) {
		many = max(many, 4)
	}
	for range many {
		more["zz"+m.Letters(4)] = m.Letters(4)
	}
	changed, least, lacks := policies, 1, m.OneIn(2)
	switch {
	case ofIstio(policies):
		changed, least = m.opposites(policies), 0
		policies = append(slices.Clone(policies), changed...)
	case m.OneIn(2):
		// The others close the workload where it lacks a label. Linkerd takes no two Servers of one port.
		of := slices.DeleteFunc(slices.Clone(policies), func(p any) bool {
			return !slices.ContainsFunc(selections([]any{p}, least), func(labels map[string]any) bool { return m.selectsOwn(c, labels) })
		})
		if len(of) == 0 {
			return policies
		}
		changed, lacks = []any{tree.OtherCallers(tree.AnotherPolicy(m.Chooser, choice.Pick(m.Chooser, of...)), m.Choose(1<<20))}, lacks || m.profile == feature.LinkerdAuthz
		policies = append(slices.Clone(policies), changed...)
	}
	selected := selections(changed, least)
	if len(selected) == 0 {
		return policies
	}
	for _, labels := range selected {
		maps.Copy(labels, more)
	}
	own := tree.Keys(more)
	if lacks {
		own = own[:len(own)-1]
	}
	m.relabel(c, func(labels map[string]string) {
		for _, key := range own {
			labels[key] = more[key].(string)
		}
	})
	return policies
}

// selectsOwn reports whether the workload that the relations are about has the labels.
func (m *relation) selectsOwn(c *cases.Case, labels map[string]any) bool {
	own := c.Inbounds[m.inbound].Workload.Labels
	for key, value := range labels {
		if has, ok := own[withoutSource(key)]; !ok || has != value {
			return false
		}
	}
	return true
}

// selections returns the labels by which policies select workloads, where they are that many.
func selections(policies []any, least int) (out []map[string]any) {
	for _, key := range []string{"selector", "podSelector", "endpointSelector"} {
		for _, of := range tree.Objects(policies)[key] {
			if labels, ok := of["matchLabels"].(map[string]any); ok && len(labels) >= least {
				out = append(out, labels)
			}
		}
	}
	for _, of := range tree.Objects(policies)["targetRef"] {
		if labels, ok := of["labels"].(map[string]any); ok && len(labels) > 0 && of["kind"] == "Dataplane" {
			out = append(out, labels)
		}
	}
	return out
}

// opposites returns the policies of Istio that allow, as ones of other names that deny, and that have a selector.
func (m *relation) opposites(policies []any) (out []any) {
	for _, p := range policies {
		p, _ := tree.Clone(p).(map[string]any)
		spec, _ := p["spec"].(map[string]any)
		if action := spec["action"]; p["kind"] != "AuthorizationPolicy" || action != nil && action != "ALLOW" || spec["targetRef"] != nil || spec["targetRefs"] != nil {
			continue
		}
		spec["action"], tree.Metadata(p)["name"] = "DENY", m.Letters(6)
		selector, _ := spec["selector"].(map[string]any)
		if labels, ok := selector["matchLabels"].(map[string]any); !ok || len(labels) == 0 {
			spec["selector"] = map[string]any{"matchLabels": map[string]any{}}
		}
		out = append(out, p)
	}
	return out
}

// otherCase adds texts of a list in letters of the other case, where the case counts.
func (m *relation) otherCase(policies []any) {
	for _, l := range tree.SpecLists(policies) {
		if !slices.Contains([]string{"paths", "notPaths", "values", "notValues", "audiences"}, l.Key) {
			continue
		}
		items := slices.Clone(l.Items())
		text, ok := choice.Pick(m.Chooser, items...).(string)
		if other := strings.ToUpper(text); ok && other != text && !strings.Contains(text, "%") {
			l.Set(slices.Insert(items, m.Choose(len(items)+1), any(other)))
		}
	}
}

// inOrder makes lists of texts longer, and sorts them, forwards or backwards.
func (m *relation) inOrder(policies []any) {
	backwards := m.OneIn(2)
	for _, l := range tree.SpecLists(policies) {
		if _, text := l.Items()[0].(string); !text || slices.Contains(shortLists, l.Key) || m.OneIn(2) {
			continue
		}
		m.lengthen(l, 5)
		items := slices.Clone(l.Items())
		slices.SortFunc(items, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		if backwards {
			slices.Reverse(items)
		}
		l.Set(items)
	}
}
