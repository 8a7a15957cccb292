package policyset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
)

// visit calls back for a value that stands under a key and for all values in it. The items of a list stand under the
// key of the list.
func visit(key string, v any, see func(key string, v any)) {
	see(key, v)
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			visit(key, item, see)
		}
	case map[string]any:
		for _, inner := range sortedKeys(v) {
			visit(inner, v[inner], see)
		}
	}
}

func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }

// objectsIn returns the objects of the specs by the keys under which they stand.
func objectsIn(policies []any) map[string][]map[string]any {
	out := map[string][]map[string]any{}
	for _, p := range policies {
		of, _ := p.(map[string]any)
		for _, key := range []string{"spec", "specs"} {
			visit(key, of[key], func(key string, v any) {
				if v, ok := v.(map[string]any); ok && len(v) > 0 && !named[key] {
					out[key] = append(out[key], v)
				}
			})
		}
	}
	return out
}

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
			for range pick(m.chooser, 1, 2, 3, 4, 6, 8, 12, 20, 40) {
				policies = append(policies, anotherPolicy(m.chooser, pick(m.chooser, policies...)))
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
	visit("", policies, func(_ string, v any) {
		if s, ok := v.(string); ok && strings.Contains(s, ".serviceaccount.") {
			end = s[strings.Index(s, ".serviceaccount."):]
		}
	})
	account := func(of map[string]any) {
		of["name"] = pick[any](m.chooser, in.Workload.Name, in.Workload.Name, in.Workload.Namespace, of["name"])
		switch m.choose(4) {
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
		"spiffe": func() string { return own }, "principals": func() string { return strings.TrimPrefix(own, spiffeScheme) },
		"notPrincipals": func() string { return strings.TrimPrefix(own, spiffeScheme) }, "namespaces": func() string { return in.Workload.Namespace },
		"serviceAccounts": func() string {
			return pick(m.chooser, in.Workload.Name, in.Workload.Namespace+"/"+in.Workload.Name, in.Workload.Name+"/"+in.Workload.Name)
		},
		"identities": func() string {
			return in.Workload.Name + "." + in.Workload.Namespace + cmp.Or(end, ".serviceaccount.identity.linkerd.cluster.local")
		},
	}
	visit("", policies, func(key string, v any) {
		if done && m.oneIn(3) {
			return
		}
		switch v := v.(type) {
		case []any:
			if text := texts[key]; text != nil && len(v) > 0 {
				if _, ok := v[0].(string); ok {
					v[m.choose(len(v))], done = text(), true
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
			case (key == "spiffeId" || key == "spiffeID") && strings.HasPrefix(value, spiffeScheme):
				if v["type"] == "Prefix" {
					own = pick(m.chooser, own, own[:strings.LastIndexByte(own, '/')+1], spiffeScheme+in.Identity.TrustDomain().Name()+"/")
				}
				v["value"], done = own, true
			}
		}
	})
}

// copyField gives a field of an object the value that it has elsewhere, so that rules are about the same.
func (m *relation) copyField(policies []any) {
	by := objectsIn(policies)
	type place struct{ source, target map[string]any }
	places := map[string][]place{}
	for _, key := range sortedKeys(by) {
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
	fields := sortedKeys(places)
	for range min(2, len(fields)) {
		field := pick(m.chooser, fields...)
		of := pick(m.chooser, places[field]...)
		if _, isName := of.source[field].(string); field == "name" && isName {
			continue // two policies of one name
		}
		of.target[field] = clone(of.source[field])
	}
}

// addFields gives an object the fields that another one at such a place has.
func (m *relation) addFields(policies []any) {
	by := objectsIn(policies)
	var keys []string
	for _, key := range sortedKeys(by) {
		if len(by[key]) > 1 && key != "spec" && key != "targetRef" {
			keys = append(keys, key)
		}
	}
	for range min(3, len(keys)) {
		of := by[pick(m.chooser, keys...)]
		from, to := pick(m.chooser, of...), pick(m.chooser, of...)
		for _, field := range sortedKeys(from) {
			if _, has := to[field]; !has {
				to[field] = clone(from[field])
			}
		}
	}
}

// contradict excludes what a rule of Istio asks for, or a part of it.
func (m *relation) contradict(policies []any) {
	if !ofIstio(policies) {
		return
	}
	by := objectsIn(policies)
	for _, key := range sortedKeys(by) {
		for _, of := range by[key] {
			for _, field := range sortedKeys(of) {
				items, ok := of[field].([]any)
				not := "not" + strings.ToUpper(field[:1]) + field[1:]
				if ok && len(items) > 0 && slices.Contains(excluded, field) && of[not] == nil && m.oneIn(2) {
					of[not] = clone(items[:m.number(1, len(items))])
				}
			}
		}
	}
}

// excluded are the fields of Istio that have an opposite.
var excluded = []string{"principals", "requestPrincipals", "namespaces", "serviceAccounts", "ipBlocks", "remoteIpBlocks", "hosts", "ports", "methods", "paths", "values"}

// order sorts the policies by their names, one way or the other.
func (m *relation) order(policies []any) []any {
	out := slices.Clone(policies)
	name := func(p any) string { return fmt.Sprint(metadataOf(p)["name"]) }
	slices.SortStableFunc(out, func(a, b any) int { return cmp.Compare(name(a), name(b)) })
	if m.oneIn(2) {
		slices.Reverse(out)
	}
	return out
}

// again says something twice: an item of a list.
func (m *relation) again(policies []any) {
	if lists := specLists(policies); len(lists) > 0 {
		for range 2 {
			of := pick(m.chooser, lists...)
			items := of.items()
			of.object[of.key] = append(slices.Clone(items), clone(pick(m.chooser, items...)))
		}
	}
}

// specLists are the lists of the specs.
func specLists(policies []any) (out []list) {
	for _, p := range policies {
		of, _ := p.(map[string]any)
		all := listsIn(of["spec"])
		if specs, ok := of["specs"].([]any); ok && len(specs) > 0 {
			all = append(append(all, list{of, "specs"}), listsIn(specs)...)
		}
		for _, l := range all {
			if l.key != "targetRefs" && l.key != "parentRefs" {
				out = append(out, l)
			}
		}
	}
	return out
}

// more makes a list a bit longer, with items that are nearly the same, and those of other rules.
func (m *relation) more(policies []any) {
	lists := specLists(policies)
	if len(lists) == 0 {
		return
	}
	m.lengthen(pick(m.chooser, lists...), m.number(1, 11))
}

// lengthen makes a list longer by so many items, with items that are nearly the same.
func (m *relation) lengthen(of list, by int) {
	items := slices.Clone(of.items())
	for range by {
		switch item := pick(m.chooser, items...).(type) {
		case string:
			switch {
			case of.key == "except":
				items = append(items, m.blockWithin(fmt.Sprint(of.object["cidr"])))
			case strings.HasSuffix(of.key, "pBlocks") || of.key == "fromCIDR":
				block := m.address().String()
				if of.key == "fromCIDR" {
					block += "/32"
				}
				items = append(items, block)
			case strings.HasPrefix(item, "/"):
				items = append(items, strings.TrimSuffix(item, "*")+pick(m.chooser, "/", "/*", "*", "/x", "x"))
			case of.key == "methods" || of.key == "notMethods":
				items = append(items, pick(m.chooser, usualMethods[:7]...))
			case of.key == "ports" || of.key == "notPorts":
				items = append(items, fmt.Sprint(m.number(1, 65_535)))
			default:
				items = append(items, another(m.chooser, of.key, item))
			}
		case map[string]any:
			item, _ = clone(item).(map[string]any)
			if _, named := item["port"].(string); of.key == "ports" && named {
				item["port"] = fmt.Sprint(m.number(1, 65_535))
				delete(item, "endPort")
				items = append(items, item)
			} else {
				items = append(items, another(m.chooser, of.key, item))
			}
		default:
			items = append(items, another(m.chooser, of.key, item))
		}
	}
	of.object[of.key] = items
}

// ownPort has rules ask for the port of the inbound beside others, and for ports that are nearly the same, or for a run of
// ports that ends beside it: a compiler may make a range of such a run.
func (m *relation) ownPort(c *cases.Case, policies []any) {
	own := int(c.Inbounds[m.inbound].Port)
	near := []int{own, own, own + 1, own * 10, own / 10, 80, 443}
	isRun := m.oneIn(2)
	if isRun {
		first, length := pick(m.chooser, own-5, own-3, own-2, own-1, own+1), m.number(2, 5)
		near = nil
		for port := range length {
			near = append(near, first+port)
		}
	}
	near = slices.DeleteFunc(near, func(p int) bool { return p < 1 || p > 65_535 })
	for _, l := range specLists(policies) {
		if l.key != "ports" && l.key != "notPorts" {
			continue
		}
		first, items, ports := l.items()[0], slices.Clone(l.items()), near
		if isRun {
			items = nil
		} else {
			ports = nil
			for range m.number(1, 4) {
				ports = append(ports, pick(m.chooser, near...))
			}
		}
		for _, port := range ports {
			items = append(items, m.portLike(first, port, isRun))
		}
		l.object[l.key] = shuffled(m.chooser, items)
	}
}

// portLike returns a port in the form of an item of a list of ports. Those of a run are of one protocol, and no ranges.
func (m *relation) portLike(item any, port int, isRun bool) any {
	switch item := item.(type) {
	case string:
		return fmt.Sprint(port)
	case map[string]any:
		item, _ = clone(item).(map[string]any)
		item["port"] = fmt.Sprint(port)
		delete(item, "endPort")
		if _, tcp := item["protocol"]; isRun {
			item["protocol"] = "TCP"
		} else if !tcp || m.oneIn(2) {
			item["protocol"] = pick(m.chooser, "TCP", "UDP", "ANY")
		}
		if !isRun && m.oneIn(3) {
			item["endPort"] = pick(m.chooser, port, min(port+10, 65_535))
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
		for _, of := range objectsIn(policies)[key] {
			labels, _ := of["matchLabels"].(map[string]any)
			if len(labels) == 0 || m.oneIn(3) || key == "selector" && ofIstio(policies) {
				continue
			}
			label := pick(m.chooser, sortedKeys(labels)...)
			expressions, _ := of["matchExpressions"].([]any)
			e := map[string]any{"key": label, "operator": pick(m.chooser, "In", "In", "Exists", "NotIn")}
			if e["operator"] != "Exists" {
				e["values"] = []any{labels[label], "other"}
				if e["operator"] == "NotIn" {
					e["values"] = []any{"other", "more"}
				}
			}
			more := []any{e, clone(e)}
			if m.oneIn(2) {
				more = []any{map[string]any{"key": label, "operator": "In", "values": []any{"other", "more"}}, e}
			}
			if m.oneIn(3) {
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
