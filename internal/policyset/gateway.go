package policyset

import (
	"github.com/meshproof/meshproof/internal/policyset/choice"
)

// gatewayPolicies draws AuthorizationPolicies of GEP-3779.
func (g *generator) gatewayPolicies() []resource {
	return choice.Items(g.Chooser, 1, g.size.upTo(3), func() resource {
		p := resource{APIVersion: "gateway.networking.x-k8s.io/v1alpha1", Kind: "XAuthorizationPolicy"}
		if g.OneIn(4) {
			p.APIVersion, p.Kind = "gateway.networking.k8s.io/v1", "AuthorizationPolicy"
		}
		in := namespaces
		if g.size != usualSize && g.OneIn(4) {
			in = names // a namespace may have the name of a workload
		}
		p.Metadata = object{"name": g.policyName(), "namespace": choice.Pick(g.Chooser, in...)}
		p.Spec = object{
			"targetRefs": []object{{"kind": "Pod", "selector": g.selector()}}, "action": "ALLOW", "enforcementLevel": "Network",
		}
		// An absent and an empty list both let no caller in.
		if !g.OneIn(8) {
			p.Spec["rules"] = choice.Items(g.Chooser, 0, g.size.upTo(3), g.grant)
		}
		return p
	})
}

// selector draws a label selector.
func (g *generator) selector() object {
	app, tier := choice.Pick(g.Chooser, names...), choice.Pick(g.Chooser, "front", "back")
	if g.size != usualSize && g.OneIn(3) {
		return g.longSelector(app, tier)
	}
	switch g.Choose(5) {
	case 0:
		return object{"matchLabels": object{"app": app}}
	case 1:
		return object{"matchExpressions": []object{{"key": "tier", "operator": choice.Pick(g.Chooser, "In", "NotIn"), "values": []string{tier}}}}
	case 2:
		return object{"matchExpressions": []object{{"key": choice.Pick(g.Chooser, "app", "absent"), "operator": choice.Pick(g.Chooser, "Exists", "DoesNotExist")}}}
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
		switch g.Choose(6) {
		case 0:
			labels[label.key] = choice.Pick(g.Chooser, label.values...)
		case 1:
			expressions = append(expressions, object{"key": label.key, "operator": choice.Pick(g.Chooser, "In", "NotIn"), "values": label.values})
		case 2:
			expressions = append(expressions, object{"key": label.key, "operator": choice.Pick(g.Chooser, "Exists", "DoesNotExist")})
		}
	}
	switch g.Choose(4) {
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
	if !g.OneIn(10) {
		most := g.size.upTo(3)
		if g.size == large && g.OneIn(12) {
			most = 200
		}
		rule["sources"] = choice.Items(g.Chooser, 0, most, g.source)
	}
	if g.OneIn(4) {
		rule["networkAttributes"] = object{"ports": choice.Items(g.Chooser, 1, g.size.upTo(2), g.port)}
	}
	return rule
}

// port draws a port of an inbound, seldom one that no inbound has.
func (g *generator) port() uint16 {
	if g.size != usualSize && g.OneIn(8) {
		return uint16(g.Number(1, 65_535))
	}
	return choice.Pick[uint16](g.Chooser, 8080, 5432, 8081, 9090)
}

// source draws a source of a rule.
func (g *generator) source() object {
	if g.OneIn(2) {
		return object{"type": "SPIFFE", "spiffe": oddly(g.Chooser, identities, oddIdentities)}
	}
	account := object{"name": oddly(g.Chooser, []string{"x", "y", "xy", "*"}, []string{"x.y", "x-y", "1"})}
	if !g.OneIn(3) {
		account["namespace"] = choice.Pick(g.Chooser, "a", "ab", "b")
	}
	return object{"type": "ServiceAccount", "serviceAccount": account}
}
