package policyset

// gatewayPolicies draws AuthorizationPolicies of GEP-3779.
func (g *generator) gatewayPolicies() []resource {
	return some(g.chooser, 1, g.size.upTo(3), func() resource {
		p := resource{APIVersion: "gateway.networking.x-k8s.io/v1alpha1", Kind: "XAuthorizationPolicy"}
		if g.oneIn(4) {
			p.APIVersion, p.Kind = "gateway.networking.k8s.io/v1", "AuthorizationPolicy"
		}
		p.Metadata = object{"name": g.policyName(), "namespace": pick(g.chooser, namespaces...)}
		p.Spec = object{
			"targetRefs": []object{{"kind": "Pod", "selector": g.selector()}}, "action": "ALLOW", "enforcementLevel": "Network",
		}
		// An absent and an empty list both let no caller in.
		if !g.oneIn(8) {
			p.Spec["rules"] = some(g.chooser, 0, g.size.upTo(3), g.grant)
		}
		return p
	})
}

// selector draws a label selector.
func (g *generator) selector() object {
	app, tier := pick(g.chooser, names...), pick(g.chooser, "front", "back")
	switch g.choose(5) {
	case 0:
		return object{"matchLabels": object{"app": app}}
	case 1:
		return object{"matchExpressions": []object{{"key": "tier", "operator": pick(g.chooser, "In", "NotIn"), "values": []string{tier}}}}
	case 2:
		return object{"matchExpressions": []object{{"key": pick(g.chooser, "app", "absent"), "operator": pick(g.chooser, "Exists", "DoesNotExist")}}}
	case 3:
		return object{"matchLabels": object{"app": app}, "matchExpressions": []object{{"key": "tier", "operator": "In", "values": []string{"back", tier}}}}
	default:
		return object{}
	}
}

// grant draws a rule. Without sources it lets every caller in, and with an empty list none.
func (g *generator) grant() object {
	rule := object{}
	if !g.oneIn(10) {
		most := g.size.upTo(3)
		if g.size == large && g.oneIn(12) {
			most = 200
		}
		rule["sources"] = some(g.chooser, 0, most, g.source)
	}
	if g.oneIn(4) {
		rule["networkAttributes"] = object{"ports": some(g.chooser, 1, 2, func() uint16 { return pick[uint16](g.chooser, 8080, 5432, 8081, 9090) })}
	}
	return rule
}

// source draws a source of a rule.
func (g *generator) source() object {
	if g.oneIn(2) {
		return object{"type": "SPIFFE", "spiffe": pick(g.chooser, identities...)}
	}
	account := object{"name": pick(g.chooser, "x", "y", "xy", "*")}
	if !g.oneIn(3) {
		account["namespace"] = pick(g.chooser, "a", "ab", "b")
	}
	return object{"type": "ServiceAccount", "serviceAccount": account}
}
