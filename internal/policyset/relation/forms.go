package relation

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/renaming"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// rareValues are values of fields in characters that few policies have, and in forms that few have: escapes, capital
// letters, methods beyond the usual ones, addresses of IPv6, whole blocks. They stand by the key of
// the object and the field, or by the field alone. A compiler may be wrong for each of these forms.
var rareValues = func() map[string][]string {
	methods := []string{"M-SEARCH", "LINK2", "X_Y", "VERSION-CONTROL-OF-MANY-THINGS", "link"}
	// These have a meaning in other languages, and none here.
	signed, literals := []string{"*", "GET|POST", "G.T", "P*"}, []string{"/users/{id}", "/files/*", "/a|/b", "/a[0-9]", "/it's"}
	paths := []string{"/a%20b", "/A_b.C~d", "/a:b@c=d&e+f", "/1/%C3%BC", "/a//b", "/x/$!,;(y)", "/a-b/2.0/"}
	hosts := []string{"A-b.Example", "x_y.example", "10.1.2.3", "[2001:db8::1]", "a.example:8443", "123", "xn--bcher-kva.example"}
	masks := []string{"172.16.0.0/12", "10.1.16.0/20", "192.0.2.16/28", "2001:db8:1:100::/56", "2001:db8:2:3:4::/80"}
	blocks := []string{"2001:db8::/32", "2001:db8::7", "0.0.0.0/0", "::/0", "10.1.2.3/31", "192.0.2.7/32", "::ffff:10.1.2.3"}
	namespaces := []string{"2024", "a--b", "7", "x9", strings.Repeat("n", 63)}
	accounts := []string{"2024", "a--b", "7", "x.y-z", "null", "true", strings.Repeat("a", 100) + "." + strings.Repeat("b", 100)}
	identities := []string{"A_b.C/d--e", "ns/2024/sa/7", "ns/a/sa/X.y_z", strings.Repeat("p/", 60) + "q"}
	subjects := []string{"https://issuer.Example:8443/a_b/user+1@example.com", "1/2", "a/b|c%20d", "i--s/S"}
	texts := []string{"a b", "User+1@Example.com", "x_y", "a=b&c", "2024", "%41", "a/b:c", "a|b;c,d"}
	headers := []string{"X-Upper-1", "x_under", "x.dot", "x2", "x~!#$%&'*+^|"}
	out := map[string][]string{
		"hosts": hosts, "hostnames": {"a1.example", "1.example", "a--b.example", "10-1-2-3.example"},
		"ipBlocks": slices.Concat(masks, blocks), "remoteIpBlocks": slices.Concat(masks, blocks), "fromCIDR": slices.Concat(masks, blocks[:1]), "fromCIDRSet.cidr": slices.Concat(masks, blocks[:1]), "networks.cidr": slices.Concat(masks, blocks[:5]),
		"namespaces": namespaces, "serviceAccount.namespace": namespaces, "serviceAccounts.namespace": namespaces,
		"serviceAccount.name": accounts, "serviceAccounts.name": accounts, "requestPrincipals": subjects, "serviceAccounts": {"2024/7", "a--b/x--y", "7x/x.y-z", "n2/a1"},
		"spiffe": identities, "spiffeId.value": identities, "spiffeID.value": identities, "principals": identities,
		"audiences": texts, "trustDomains": {"1.2.example", "a_b", "7", "x--y.Example"},
		"headers.name": headers, "headerMatches.name": headers, "headers.value": texts, "headerMatches.value": texts, "queryParams.name": headers[:4], "queryParams.value": {"a b", "User+1@Example.com", "x_y", "a=b", "2024", "a/b:c"},
		"methods": methods, "method": slices.Concat(signed, methods[:4]), "matches.method": {"CONNECT", "TRACE"}, "method.method": {"Get_2", "m"}, "method.service": {"a_b.C1", "x"},
		"paths": paths, "path.value": slices.Concat(literals, paths), "sni.value": {"a1.example", "1.example", "a--b.example", "xn--bcher-kva.example"},
		"http.path": {"/a%20b", "/A_b~d", "/a:b@c=d&e"}, "http.host": {"A-b.Example", "x_y.example", "123"}, "http.method": methods[:4],
		"identities": {"7.2024", "a--b.x9", "x.y-z.n"},
	}
	for _, field := range tree.Opposed {
		if values := out[field]; values != nil {
			out["not"+strings.ToUpper(field[:1])+field[1:]] = values
		}
	}
	return out
}()

// rareConditions are rare values of a condition of Istio, by the beginning of its key.
var rareConditions = map[string]string{
	"request.headers[": "audiences", "request.auth.claims[": "audiences", "request.auth.audiences": "audiences", "request.auth.presenter": "audiences",
	"source.ip": "ipBlocks", "remote.ip": "ipBlocks", "destination.ip": "ipBlocks", "connection.sni": "sni.value", "source.namespace": "namespaces", "request.auth.principal": "requestPrincipals",
}

// rareFor returns the rare values of a field of an object that stands under a key.
func rareFor(of map[string]any, key, field string) []string {
	if key == "when" && (field == "values" || field == "notValues") {
		condition, _ := of["key"].(string)
		for begin, like := range rareConditions {
			if strings.HasPrefix(condition, begin) {
				return rareValues[like]
			}
		}
		return nil
	}
	if of["type"] == "RegularExpression" || of["except"] != nil {
		return nil
	}
	if values := rareValues[key+"."+field]; values != nil {
		return values
	}
	if field == "method" && key == "matches" {
		return nil
	}
	return rareValues[field]
}

// form gives every other set rare values. The sets between have long lists, or objects with many fields.
func (m *relation) form(c *cases.Case, policies []any) {
	// Of many policies, some are enough: each value makes more classes.
	policies = policies[:min(len(policies), 8)]
	switch m.rank / 2 % 4 {
	case 0, 2:
		m.rare(c, policies)
	case 1:
		m.manyItems(policies, 41, 44)
		m.manyTaken(policies)
	case 3:
		m.manyFields(c, policies)
		m.manyRequired(policies)
		if m.OneIn(2) {
			m.rare(c, policies)
		} else {
			m.manyItems(policies, 0, 18)
		}
	}
}

// rare writes rare values into the fields of the policies: into lists beside the others, and sometimes in place of
// one of them.
func (m *relation) rare(c *cases.Case, policies []any) {
	in := c.Inbounds[m.inbound]
	first, field := int(m.rank/2), 0
	by := tree.Objects(policies)
	for _, key := range tree.Keys(by) {
		for _, of := range by[key] {
			for _, name := range tree.Keys(of) {
				values := rareFor(of, key, name)
				if len(values) == 0 {
					continue
				}
				field++
				at := func(i int) string {
					return m.inDomain(name, key, values[(first+field+i)%len(values)], in.Identity.TrustDomain().Name())
				}
				switch v := of[name].(type) {
				case string:
					if !m.OneIn(4) {
						of[name] = at(0)
					}
				case []any:
					if len(v) == 0 || slices.ContainsFunc(v, func(item any) bool { _, text := item.(string); return !text }) {
						continue
					}
					items := slices.Clone(v)
					if m.OneIn(3) {
						items[m.Choose(len(items))] = at(0)
					} else {
						items = append(items, at(0), at(1))
					}
					of[name] = items
				}
			}
		}
	}
}

// inDomain completes a rare value: an identity has a trust domain.
func (m *relation) inDomain(field, key, value, trustDomain string) string {
	switch {
	case field == "principals" || field == "notPrincipals":
		return trustDomain + "/" + value
	case field == "spiffe", strings.EqualFold(key, "spiffeId"):
		return tree.SPIFFEScheme + trustDomain + "/" + value
	case field == "identities":
		return value + ".serviceaccount.identity.linkerd.cluster.local"
	default:
		return value
	}
}

// manyItems makes two lists longer than lists usually are, and one of them is a list of texts. Of two kinds it takes the one of
// which there are fewer, or often the one of which there are most. Paths and objects make many classes, so that they get fewer new items, and many that they have
// already: these make no class, and a compiler that reads so many items and no more misses the last ones. Some lists are much
// longer than others. Without a least number it is one list of texts alone: where sources ask for many fields, classes are many already.
func (m *relation) manyItems(policies []any, least, most int) {
	all, texts := map[string][]tree.List{}, map[string][]tree.List{}
	isText := func(l tree.List) bool {
		_, text := l.Items()[0].(string)
		return text && !strings.HasSuffix(strings.ToLower(l.Key), "paths")
	}
	for _, l := range tree.SpecLists(policies) {
		if slices.Contains(shortLists, l.Key) {
			continue
		}
		all[l.Key] = append(all[l.Key], l)
		if isText(l) {
			texts[l.Key] = append(texts[l.Key], l)
		}
	}
	for i, byKey := range []map[string][]tree.List{texts, all} {
		keys := tree.Keys(byKey)
		if len(keys) == 0 || i > 0 && (least == 0 || len(texts) > 0 && m.OneIn(2)) {
			continue
		}
		key, other := choice.Pick(m.Chooser, keys...), choice.Pick(m.Chooser, keys...)
		if len(byKey[other]) < len(byKey[key]) {
			key = other
		}
		if isOften := m.rank/8%2 == 0; isOften && least > 0 {
			key = slices.MaxFunc(keys, func(a, b string) int { return len(byKey[a]) - len(byKey[b]) })
		}
		of := choice.Pick(m.Chooser, byKey[key]...)
		if isText(of) {
			m.lengthen(of, m.Number(max(least, 17), most))
		} else {
			m.lengthen(of, m.Number(1, 17))
		}
		if least > 0 {
			m.repeat(of, choice.Pick(m.Chooser, 41, 41, 65, 101, 129, 257)+m.Choose(20))
		}
	}
}

// manyTaken makes lists long that take callers or requests away: a compiler that drops an item of one opens an inbound.
// No list of another kind shows that. New paths are few, as in [relation.manyItems].
func (m *relation) manyTaken(policies []any) {
	byKey := tree.ByKey(tree.SpecLists(policies), func(key string) bool { return key == "except" || strings.HasPrefix(key, "not") })
	for _, spec := range tree.Objects(policies)["spec"] {
		for _, l := range tree.Lists(spec["ingressDeny"]) {
			if l.Key == "ports" || l.Key == "fromCIDR" {
				byKey["denied "+l.Key] = append(byKey["denied "+l.Key], l)
			}
		}
	}
	const mostLong = 4
	keys := choice.Shuffled(m.Chooser, tree.Keys(byKey))
	for _, key := range keys[:min(len(keys), mostLong)] {
		of := choice.Pick(m.Chooser, byKey[key]...)
		if key == "notPaths" {
			m.lengthen(of, m.Number(1, 3))
		} else {
			m.lengthen(of, 17)
		}
		m.repeat(of, choice.Pick(m.Chooser, 17, 41, 65, 129, 257)+m.Choose(20))
	}
}

// required are the lists of which a request has to meet each item.
var required = []string{"headers", "headerMatches", "queryParams", "when"}

// manyRequired makes one list of each kind of [required] longer than eight items: a compiler that drops an item opens an inbound. No two
// items have one name, for meshes heed the first one alone.
func (m *relation) manyRequired(policies []any) {
	byKey := tree.ByKey(tree.SpecLists(policies), func(key string) bool { return slices.Contains(required, key) })
	for _, key := range tree.Keys(byKey) {
		of := choice.Pick(m.Chooser, byKey[key]...)
		items := slices.Clone(of.Items())
		for least := m.Number(9, 12); len(items) < least; {
			name := "x-" + m.Letters(6)
			switch first := items[0].(type) {
			case string:
				items = append(items, name+": "+m.Letters(4))
			case map[string]any:
				if first["key"] != nil {
					items = append(items, map[string]any{"key": "request.headers[" + name + "]", "values": []any{m.Letters(4)}})
				} else {
					items = append(items, map[string]any{"name": name, "value": m.Letters(4)})
				}
			default:
				return
			}
		}
		of.Set(items)
	}
}

// repeat writes items that a list has in front of them, until the list has so many. One of them is there once, and last.
func (m *relation) repeat(of tree.List, most int) {
	items := of.Items()
	if len(items) == 0 || len(items) >= most {
		return
	}
	out := make([]any, 0, most)
	last := m.Choose(len(items))
	others := slices.Delete(slices.Clone(items), last, last+1)
	if len(others) == 0 {
		others = items
	}
	for range most - len(others) - 1 {
		out = append(out, tree.Clone(choice.Pick(m.Chooser, others...)))
	}
	of.Set(append(append(out, others...), items[last]))
}

// shortLists are the lists that no API server takes with many items, and those of the other direction.
var shortLists = []string{
	"targetRefs", "parentRefs", "requiredAuthenticationRefs", "filters", "headers", "headerMatches", "queryParams", "icmps", "fields", "fromEntities", "toEntities", "labels",
	"egress", "egressDeny", "fromHeaders", "fromParams", "fromCookies", "outputClaimToHeaders", "spaceDelimitedClaims",
}

// manyFields has sources of Istio, its rules of tokens and HTTP rules of Cilium ask for most of what they can ask for.
func (m *relation) manyFields(c *cases.Case, policies []any) {
	in := c.Inbounds[m.inbound]
	td := in.Identity.TrustDomain().Name()
	by := tree.Objects(policies)
	some := func(of map[string]any, fields map[string]any) {
		for _, field := range tree.Keys(fields) {
			if of[field] == nil && !m.OneIn(3) {
				of[field] = fields[field]
			}
		}
	}
	switch m.profile {
	case feature.IstioAuthz:
		for _, source := range by["source"][:min(len(by["source"]), 4)] {
			fields := map[string]any{
				"ipBlocks": []any{in.IP.String(), m.Address().String() + "/16"}, "notIpBlocks": []any{m.Address().String()},
				"remoteIpBlocks": []any{m.Address().String() + "/8"}, "notRemoteIpBlocks": []any{m.Address().String() + "/24"},
				"requestPrincipals": []any{"*", "issuer.example/" + m.Letters(5)}, "notRequestPrincipals": []any{"issuer.example/" + m.Letters(4)},
				"trustDomains": []any{td, m.Letters(5) + ".example"}, "notTrustDomains": []any{m.Letters(6) + ".example"},
			}
			account := func() any { return m.Letters(4) + "/" + m.Letters(6) }
			if source["serviceAccounts"] != nil || source["notServiceAccounts"] != nil || source["principals"] == nil && source["namespaces"] == nil && source["notPrincipals"] == nil && source["notNamespaces"] == nil && m.OneIn(2) {
				fields["serviceAccounts"], fields["notServiceAccounts"] = []any{account(), account()}, []any{account()}
			} else {
				fields["principals"], fields["notPrincipals"] = []any{td + "/ns/" + m.Letters(4) + "/sa/" + m.Letters(5), td + "/*"}, []any{td + "/ns/" + m.Letters(4) + "/*"}
				fields["namespaces"], fields["notNamespaces"] = []any{in.Workload.Namespace, m.Letters(4)}, []any{m.Letters(5)}
			}
			some(source, fields)
		}
		for _, rule := range by["jwtRules"] {
			some(rule, map[string]any{
				"audiences": []any{m.Letters(5), m.Letters(6)}, "fromHeaders": []any{map[string]any{"name": "x-" + m.Letters(4), "prefix": "Token "}},
				"fromParams": []any{m.Letters(4)}, "fromCookies": []any{m.Letters(4)}, "forwardOriginalToken": true, "outputPayloadToHeader": "x-" + m.Letters(5),
				"outputClaimToHeaders": []any{map[string]any{"header": "x-" + m.Letters(4), "claim": m.Letters(5)}}, "spaceDelimitedClaims": []any{m.Letters(5)},
			})
		}
	case feature.CiliumIngress:
		for _, rule := range by["http"] {
			some(rule, map[string]any{
				"method": choice.Pick(m.Chooser, renaming.Methods[:6]...), "path": "/" + m.Letters(4) + "/.*", "host": m.Letters(4) + "[.]example",
				"headers": []any{"x-" + m.Letters(3)}, "headerMatches": []any{map[string]any{"name": "x-" + m.Letters(4), "value": m.Letters(4)}},
			})
		}
	case feature.LinkerdAuthz:
		for _, of := range by["meshTLS"] {
			if of["unauthenticatedTLS"] == nil {
				some(of, map[string]any{
					"identities":      []any{m.Letters(4) + "." + m.Letters(5) + ".serviceaccount.identity.linkerd.cluster.local"},
					"serviceAccounts": []any{map[string]any{"name": m.Letters(5), "namespace": m.Letters(4)}, map[string]any{"name": m.Letters(4)}},
				})
			}
		}
	}
}
