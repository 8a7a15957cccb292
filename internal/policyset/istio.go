package policyset

import "strings"

// istioPolicies draws AuthorizationPolicies of Istio.
func (g *generator) istioPolicies() []resource {
	if g.oneIn(3) {
		g.option("istio", object{"trustDomainAliases": []string{otherDomain.Name()}}, nil)
	}
	return some(g.chooser, 1, g.size.upTo(3), func() resource {
		p := resource{APIVersion: "security.istio.io/" + pick(g.chooser, "v1", "v1", "v1beta1"), Kind: "AuthorizationPolicy"}
		p.Metadata = object{"name": g.policyName(), "namespace": pick(g.chooser, append([]string{"istio-system"}, namespaces...)...)}
		p.Spec = object{}
		action := pick(g.chooser, "", "ALLOW", "ALLOW", "DENY", "DENY", "AUDIT")
		if action != "" {
			p.Spec["action"] = action
		}
		if action != "AUDIT" && g.oneIn(5) {
			p.Metadata["annotations"] = object{"istio.io/dry-run": pick(g.chooser, "true", "true", "false")}
		}
		if g.oneIn(3) {
			p.Spec["selector"] = object{"matchLabels": object{"app": pick(g.chooser, names...)}}
		}
		least := 0
		if action == "DENY" {
			least = 1
		}
		// An absent and an empty list both let no caller in.
		if least > 0 || !g.oneIn(8) {
			p.Spec["rules"] = some(g.chooser, least, g.size.upTo(3), g.istioRule)
		}
		return p
	})
}

// istioRule draws a rule. Without fields it matches every request.
func (g *generator) istioRule() object {
	rule := object{}
	if !g.oneIn(4) {
		rule["from"] = some(g.chooser, 1, 2, func() object { return object{"source": g.istioSource()} })
	}
	if g.oneIn(2) {
		rule["to"] = some(g.chooser, 1, 2, func() object { return object{"operation": g.istioOperation()} })
	}
	if g.oneIn(4) {
		key := pick(g.chooser, "source.namespace", "source.serviceAccount", "connection.sni", "request.headers[x-role]", "source.ip")
		known := map[string][]string{"connection.sni": append([]string{"*", "*.example"}, serverNames...), "source.ip": blocks, "request.headers[x-role]": {"*", "admin", "adm*", "*min"}}[key]
		if known == nil {
			known = []string{"a", "ab", "x"}
		}
		rule["when"] = []object{{"key": key, pick(g.chooser, "values", "notValues"): some(g.chooser, 1, 2, func() string { return pick(g.chooser, known...) })}}
	}
	return rule
}

// blocks are addresses of callers, whole and in blocks.
var blocks = []string{"10.64.0.1", "10.64.0.0/24", "10.64.0.0/31", "192.168.0.0/16", "0.0.0.0/0"}

func (g *generator) istioSource() object {
	principals := func() []string {
		return some(g.chooser, 1, 2, func() string {
			return pick(g.chooser, "*", "trust-domain.mesh/ns/a/*", "*/sa/x", "cluster.local/ns/a/sa/x", strings.TrimPrefix(pick(g.chooser, identities...), spiffeScheme))
		})
	}
	namespaces := func() []string {
		return some(g.chooser, 1, 2, func() string { return pick(g.chooser, "a", "ab", "b", "a*", "default") })
	}
	switch g.choose(10) {
	case 5:
		return object{"trustDomains": some(g.chooser, 1, 2, func() string { return pick(g.chooser, "*", ownDomain.Name(), otherDomain.Name()) })}
	case 6:
		return object{pick(g.chooser, "ipBlocks", "remoteIpBlocks"): some(g.chooser, 1, 2, func() string { return pick(g.chooser, blocks...) }), "notNamespaces": namespaces()}
	case 0, 7, 8, 9:
		return object{"principals": principals()}
	case 1:
		return object{"principals": principals(), "notNamespaces": namespaces()}
	case 2:
		return object{"notPrincipals": principals()}
	case 3:
		return object{pick(g.chooser, "serviceAccounts", "notServiceAccounts"): some(g.chooser, 1, 2, func() string { return pick(g.chooser, "x", "a/x", "ab/x", "b/y") })}
	default:
		return object{"namespaces": namespaces()}
	}
}

func (g *generator) istioOperation() object {
	lists := map[string]func() string{
		"methods": func() string { return pick(g.chooser, append([]string{"*", "P*"}, methods...)...) },
		"paths": func() string {
			return pick(g.chooser, append([]string{"*", "/a/*", "*/b", "/a/{*}", "/{**}/b"}, paths...)...)
		},
		"hosts": func() string { return pick(g.chooser, "*", "web.example", "web.*", "*.EXAMPLE", "web.example:8080") },
		"ports": func() string { return pick(g.chooser, "8080", "5432", "8081", "9090") },
	}
	operation := object{}
	for _, name := range shuffled(g.chooser, []string{"methods", "paths", "ports", "hosts"})[:g.between(1, 2)] {
		key := name
		if g.oneIn(4) {
			key = "not" + strings.ToUpper(name[:1]) + name[1:]
		}
		operation[key] = some(g.chooser, 1, 2, lists[name])
	}
	return operation
}
