package policyset

// gatewayPolicies draws AuthorizationPolicies of GEP-3779.
func (g *generator) gatewayPolicies() []resource {
	return items(g.chooser, 1, g.size.upTo(3), func() resource {
		p := resource{APIVersion: "gateway.networking.x-k8s.io/v1alpha1", Kind: "XAuthorizationPolicy"}
		if g.oneIn(4) {
			p.APIVersion, p.Kind = "gateway.networking.k8s.io/v1", "AuthorizationPolicy"
		}
		in := namespaces
		if g.size != usualSize && g.oneIn(4) {
			in = names // a namespace may have the name of a workload
		}
		p.Metadata = object{"name": g.policyName(), "namespace": pick(g.chooser, in...)}
		p.Spec = object{
			"targetRefs": []object{{"kind": "Pod", "selector": g.selector()}}, "action": "ALLOW", "enforcementLevel": "Network",
		}
		// An absent and an empty list both let no caller in.
		if !g.oneIn(8) {
			p.Spec["rules"] = items(g.chooser, 0, g.size.upTo(3), g.grant)
		}
		return p
	})
}

// selector draws a label selector.
func (g *generator) selector() object {
	app, tier := pick(g.chooser, names...), pick(g.chooser, "front", "back")
	if g.size != usualSize && g.oneIn(3) {
		return g.longSelector(app, tier)
	}
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

// longSelector draws a selector that asks for many labels, or for none in an empty list.
func (g *generator) longSelector(app, tier string) object {
	labels, expressions := object{"app": app}, []object{{"key": "tier", "operator": "In", "values": []string{tier, "front", ""}}}
	for _, label := range moreLabels {
		switch g.choose(6) {
		case 0:
			labels[label.key] = pick(g.chooser, label.values...)
		case 1:
			expressions = append(expressions, object{"key": label.key, "operator": pick(g.chooser, "In", "NotIn"), "values": label.values})
		case 2:
			expressions = append(expressions, object{"key": label.key, "operator": pick(g.chooser, "Exists", "DoesNotExist")})
		}
	}
	switch g.choose(4) {
	case 0:
		return object{"matchLabels": labels}
	case 1:
		return object{"matchExpressions": expressions}
	case 2:
		return object{"matchLabels": object{}, "matchExpressions": expressions[:1]}
	default:
		return object{"matchLabels": labels, "matchExpressions": expressions}
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
		rule["sources"] = items(g.chooser, 0, most, g.source)
	}
	if g.oneIn(4) {
		rule["networkAttributes"] = object{"ports": items(g.chooser, 1, g.size.upTo(2), g.port)}
	}
	return rule
}

// port draws a port of an inbound, seldom one that no inbound has.
func (g *generator) port() uint16 {
	if g.size != usualSize && g.oneIn(8) {
		return uint16(g.number(1, 65_535))
	}
	return pick[uint16](g.chooser, 8080, 5432, 8081, 9090)
}

// source draws a source of a rule.
func (g *generator) source() object {
	if g.oneIn(2) {
		return object{"type": "SPIFFE", "spiffe": oddly(g.chooser, identities, oddIdentities)}
	}
	account := object{"name": oddly(g.chooser, []string{"x", "y", "xy", "*"}, []string{"x.y", "x-y", "1"})}
	if !g.oneIn(3) {
		account["namespace"] = pick(g.chooser, "a", "ab", "b")
	}
	return object{"type": "ServiceAccount", "serviceAccount": account}
}
