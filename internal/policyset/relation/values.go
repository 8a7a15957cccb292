package relation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/renaming"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// value makes relations between values of the policies: three, each on turns of its own.
func (m *relation) value(c *cases.Case, policies []any) []any {
	for _, n := range []uint64{m.rank, m.rank*3 + 1, m.rank*7 + 5} {
		switch n % 11 {
		case 0:
			m.ownAccount(c, policies)
		case 1:
			m.copyField(policies)
		case 2, 9:
			m.addFields(policies)
		case 3:
			m.contradict(policies)
		case 4:
			policies = m.order(policies)
		case 5:
			for range choice.Pick(m.Chooser, 1, 2, 3, 4, 6, 8, 12, 20, 40) {
				policies = append(policies, tree.AnotherPolicy(m.Chooser, choice.Pick(m.Chooser, policies...)))
			}
		case 6:
			m.again(policies)
		case 7:
			m.more(policies)
		case 8:
			m.ownPort(c, policies)
		case 10:
			m.selector(policies)
		}
	}
	return policies
}

// ownAccount has a policy name the account or the namespace of the workload itself, in each way that it names accounts.
func (m *relation) ownAccount(c *cases.Case, policies []any) {
	in := c.Inbounds[m.inbound]
	own, end := in.Identity.String(), ""
	tree.Visit("", policies, func(_ string, v any) {
		if s, ok := v.(string); ok && strings.Contains(s, ".serviceaccount.") {
			end = s[strings.Index(s, ".serviceaccount."):]
		}
	})
	account := func(of map[string]any) {
		of["name"] = choice.Pick[any](m.Chooser, in.Workload.Name, in.Workload.Name, in.Workload.Namespace, of["name"])
		switch m.Choose(4) {
		case 0:
			delete(of, "namespace")
		case 1:
			of["namespace"] = in.Workload.Name
		default:
			of["namespace"] = in.Workload.Namespace
		}
	}
	done := false
	texts := map[string]func() string{
		"spiffe": func() string { return own }, "principals": func() string { return strings.TrimPrefix(own, tree.SPIFFEScheme) },
		"notPrincipals": func() string { return strings.TrimPrefix(own, tree.SPIFFEScheme) }, "namespaces": func() string { return in.Workload.Namespace },
		"serviceAccounts": func() string {
			return choice.Pick(m.Chooser, in.Workload.Name, in.Workload.Namespace+"/"+in.Workload.Name, in.Workload.Name+"/"+in.Workload.Name)
		},
		"identities": func() string {
			return in.Workload.Name + "." + in.Workload.Namespace + cmp.Or(end, ".serviceaccount.identity.linkerd.cluster.local")
		},
	}
	tree.Visit("", policies, func(key string, v any) {
		if done && m.OneIn(3) {
			return
		}
		switch v := v.(type) {
		case []any:
			if text := texts[key]; text != nil && len(v) > 0 {
				if _, ok := v[0].(string); ok {
					v[m.Choose(len(v))], done = text(), true
				}
			}
		case map[string]any:
			value, _ := v["value"].(string)
			switch {
			case key == "serviceAccount" && v["name"] != nil, v["kind"] == "ServiceAccount" && v["name"] != nil:
				account(v)
				done = true
			case v["io.cilium.k8s.policy.serviceaccount"] != nil:
				v["io.cilium.k8s.policy.serviceaccount"], done = in.Workload.ServiceAccount, true
			case v["spiffe"] != nil:
				v["spiffe"], done = own, true
			case (key == "spiffeId" || key == "spiffeID") && strings.HasPrefix(value, tree.SPIFFEScheme):
				if v["type"] == "Prefix" {
					own = choice.Pick(m.Chooser, own, own[:strings.LastIndexByte(own, '/')+1], tree.SPIFFEScheme+in.Identity.TrustDomain().Name()+"/")
				}
				v["value"], done = own, true
			}
		}
	})
}

// copyField gives a field of an object the value that it has elsewhere, so that rules are about the same.
func (m *relation) copyField(policies []any) {
	by := tree.Objects(policies)
	type place struct{ source, target map[string]any }
	places := map[string][]place{}
	for _, key := range tree.Keys(by) {
		for i, a := range by[key] {
			for _, b := range by[key][:min(i, 20)] {
				for field := range a {
					if b[field] != nil && fmt.Sprint(a[field]) != fmt.Sprint(b[field]) {
						places[field] = append(places[field], place{a, b})
					}
				}
			}
		}
	}
	fields := tree.Keys(places)
	for range min(2, len(fields)) {
		field := choice.Pick(m.Chooser, fields...)
		of := choice.Pick(m.Chooser, places[field]...)
		if _, isName := of.source[field].(string); field == "name" && isName {
			continue // two policies of one name
		}
		of.target[field] = tree.Clone(of.source[field])
	}
}

// addFields gives an object the fields that another one at such a place has.
func (m *relation) addFields(policies []any) {
	by := tree.Objects(policies)
	var keys []string
	for _, key := range tree.Keys(by) {
		if len(by[key]) > 1 && key != "spec" && key != "targetRef" {
			keys = append(keys, key)
		}
	}
	for range min(3, len(keys)) {
		of := by[choice.Pick(m.Chooser, keys...)]
		from, to := choice.Pick(m.Chooser, of...), choice.Pick(m.Chooser, of...)
		for _, field := range tree.Keys(from) {
			if _, has := to[field]; !has {
				to[field] = tree.Clone(from[field])
			}
		}
	}
}

// contradict excludes what a rule of Istio asks for, or a part of it.
func (m *relation) contradict(policies []any) {
	if !ofIstio(policies) {
		return
	}
	by := tree.Objects(policies)
	for _, key := range tree.Keys(by) {
		for _, of := range by[key] {
			for _, field := range tree.Keys(of) {
				items, ok := of[field].([]any)
				not := "not" + strings.ToUpper(field[:1]) + field[1:]
				if ok && len(items) > 0 && slices.Contains(tree.Opposed, field) && of[not] == nil && m.OneIn(2) {
					of[not] = tree.Clone(items[:m.Number(1, len(items))])
				}
			}
		}
	}
}

// order sorts the policies by their names, one way or the other.
func (m *relation) order(policies []any) []any {
	out := slices.Clone(policies)
	name := func(p any) string { return fmt.Sprint(tree.Metadata(p)["name"]) }
	slices.SortStableFunc(out, func(a, b any) int { return cmp.Compare(name(a), name(b)) })
	if m.OneIn(2) {
		slices.Reverse(out)
	}
	return out
}

// again says something twice: an item of a list.
func (m *relation) again(policies []any) {
	if lists := tree.SpecLists(policies); len(lists) > 0 {
		for range 2 {
			of := choice.Pick(m.Chooser, lists...)
			items := of.Items()
			of.Set(append(slices.Clone(items), tree.Clone(choice.Pick(m.Chooser, items...))))
		}
	}
}

// more makes a list a bit longer, with items that are nearly the same, and those of other rules.
func (m *relation) more(policies []any) {
	lists := tree.SpecLists(policies)
	if len(lists) == 0 {
		return
	}
	m.lengthen(choice.Pick(m.Chooser, lists...), m.Number(1, 11))
}

// lengthen makes a list longer by so many items, with items that are nearly the same.
func (m *relation) lengthen(of tree.List, by int) {
	items := slices.Clone(of.Items())
	for range by {
		switch item := choice.Pick(m.Chooser, items...).(type) {
		case string:
			switch {
			case of.Key == "except":
				items = append(items, m.blockWithin(fmt.Sprint(of.Object["cidr"])))
			case strings.HasSuffix(of.Key, "pBlocks") || of.Key == "fromCIDR":
				block := m.Address().String()
				if of.Key == "fromCIDR" {
					block += "/32"
				}
				items = append(items, block)
			case strings.HasPrefix(item, "/"):
				items = append(items, strings.TrimSuffix(item, "*")+choice.Pick(m.Chooser, "/", "/*", "*", "/x", "x"))
			case of.Key == "methods" || of.Key == "notMethods":
				items = append(items, choice.Pick(m.Chooser, renaming.Methods[:7]...))
			case of.Key == "ports" || of.Key == "notPorts":
				items = append(items, fmt.Sprint(m.Number(1, 65_535)))
			default:
				items = append(items, tree.Another(m.Chooser, of.Key, item))
			}
		case map[string]any:
			item, _ = tree.Clone(item).(map[string]any)
			if _, named := item["port"].(string); of.Key == "ports" && named {
				item["port"] = fmt.Sprint(m.Number(1, 65_535))
				delete(item, "endPort")
				items = append(items, item)
			} else {
				m.aboutOthers(item)
				items = append(items, tree.Another(m.Chooser, of.Key, item))
			}
		default:
			items = append(items, tree.Another(m.Chooser, of.Key, item))
		}
	}
	of.Set(items)
}

// aboutOthers has an item name a block or a caller that no other item names, where tree.Another finds none in it: a network and a
// reference of Linkerd, and a source of Istio. A longer list of one item many times tells no compiler that drops the last one.
func (m *relation) aboutOthers(item map[string]any) {
	if _, isBlock := item["cidr"].(string); isBlock {
		item["cidr"] = m.Address().String() + "/32"
		delete(item, "except")
	}
	if item["kind"] == "ServiceAccount" {
		item["name"] = m.Letters(6)
	}
	source, _ := item["source"].(map[string]any)
	for _, field := range []string{"principals", "namespaces", "serviceAccounts"} {
		if names, ok := source[field].([]any); ok && len(names) > 0 {
			if name, ok := names[0].(string); ok && !strings.Contains(name, "*") {
				source[field] = []any{name[:strings.LastIndex(name, "/")+1] + m.Letters(6)}
			}
		}
	}
}

// ownPort has rules ask for the port of the inbound beside others, and for ports that are nearly the same, or for a run of
// ports that ends beside it: a compiler may make a range of such a run.
func (m *relation) ownPort(c *cases.Case, policies []any) {
	own := int(c.Inbounds[m.inbound].Port)
	near := []int{own, own, own + 1, own * 10, own / 10, 80, 443}
	isRun := m.OneIn(2)
	if isRun {
		first, length := choice.Pick(m.Chooser, own-5, own-3, own-2, own-1, own+1), m.Number(2, 5)
		if first == own-3 || first == own-5 {
			length = own - first // the run ends in front of the own port
		}
		near = nil
		for port := range length {
			near = append(near, first+port)
		}
	}
	near = slices.DeleteFunc(near, func(p int) bool { return p < 1 || p > 65_535 })
	for _, l := range tree.SpecLists(policies) {
		if l.Key != "ports" && l.Key != "notPorts" {
			continue
		}
		first, items, ports := l.Items()[0], slices.Clone(l.Items()), near
		if isRun {
			items = nil
		} else {
			ports = nil
			for range m.Number(1, 4) {
				ports = append(ports, choice.Pick(m.Chooser, near...))
			}
		}
		for _, port := range ports {
			items = append(items, m.portLike(first, port, isRun))
		}
		l.Set(choice.Shuffled(m.Chooser, items))
	}
}

// portLike returns a port in the form of an item of a list of ports. Those of a run are of one protocol, and no ranges.
func (m *relation) portLike(item any, port int, isRun bool) any {
	switch item := item.(type) {
	case string:
		return fmt.Sprint(port)
	case map[string]any:
		item, _ = tree.Clone(item).(map[string]any)
		item["port"] = fmt.Sprint(port)
		delete(item, "endPort")
		if _, tcp := item["protocol"]; isRun {
			item["protocol"] = "TCP"
		} else if !tcp || m.OneIn(2) {
			item["protocol"] = choice.Pick(m.Chooser, "TCP", "UDP", "ANY")
		}
		if !isRun && m.OneIn(3) {
			item["endPort"] = choice.Pick(m.Chooser, port, min(port+10, 65_535))
		}
		return item
	default:
		return port
	}
}

// selector adds to a selector what it asks for already: another expression about the same label, twice, or beside one that no
// workload of the label meets.
func (m *relation) selector(policies []any) {
	for _, key := range []string{"selector", "podSelector", "endpointSelector", "fromEndpoints"} {
		for _, of := range tree.Objects(policies)[key] {
			labels, _ := of["matchLabels"].(map[string]any)
			if len(labels) == 0 || m.OneIn(3) || key == "selector" && ofIstio(policies) {
				continue
			}
			label := choice.Pick(m.Chooser, tree.Keys(labels)...)
			expressions, _ := of["matchExpressions"].([]any)
			e := map[string]any{"key": label, "operator": choice.Pick(m.Chooser, "In", "In", "Exists", "NotIn")}
			if e["operator"] != "Exists" {
				e["values"] = []any{labels[label], "other"}
				if e["operator"] == "NotIn" {
					e["values"] = []any{"other", "more"}
				}
			}
			more := []any{e, tree.Clone(e)}
			if m.OneIn(2) {
				more = []any{map[string]any{"key": label, "operator": "In", "values": []any{"other", "more"}}, e}
			}
			if m.OneIn(3) {
				slices.Reverse(more)
			}
			of["matchExpressions"] = append(slices.Clone(expressions), more...)
		}
	}
}

// ofIstio reports whether the policies are Istio's.
func ofIstio(policies []any) bool {
	policy, _ := policies[0].(map[string]any)
	return strings.HasPrefix(fmt.Sprint(policy["apiVersion"]), "security.istio.io/")
}
