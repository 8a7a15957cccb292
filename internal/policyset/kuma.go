package policyset

import (
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// kumaPolicies draws MeshTrafficPermissions of one of the three options.
func (g *generator) kumaPolicies(form Form) []resource {
	g.option("kumaOption", int(form-KumaOption1)+1, 1)
	g.option("shadowForm", choice.Pick(g.Chooser, "accepted", "precise"), "accepted")
	return choice.Items(g.Chooser, 1, g.size.upTo(4), func() resource {
		spec := g.target()
		g.rules(spec, form)
		return g.kumaPolicy(spec)
	})
}

// kumaPolicy wraps a spec in either form of the resource.
func (g *generator) kumaPolicy(spec object) resource {
	labels := object{}
	if g.OneIn(3) {
		labels["kuma.io/policy-role"] = choice.Pick(g.Chooser, "system", "producer", "consumer", "workload-owner")
	}
	if g.OneIn(3) {
		labels["kuma.io/origin"] = choice.Pick(g.Chooser, "global", "zone")
	}
	if g.OneIn(4) {
		labels["kuma.io/zone"] = choice.Pick(g.Chooser, zones...)
	}
	if g.OneIn(12) {
		labels["kuma.io/effect"] = "shadow"
	}
	if g.size != usualSize && g.OneIn(8) {
		labels["kuma.io/display-name"] = g.policyName()
	}
	if g.OneIn(3) {
		metadata := object{"name": g.policyName(), "namespace": choice.Pick(g.Chooser, "default", "a", "kuma-system")}
		if len(labels) > 0 {
			metadata["labels"] = labels
		}
		return resource{APIVersion: "kuma.io/v1alpha1", Kind: "MeshTrafficPermission", Metadata: metadata, Spec: spec}
	}
	if g.OneIn(4) {
		labels["k8s.kuma.io/namespace"] = choice.Pick(g.Chooser, namespaces...)
	}
	p := resource{Type: "MeshTrafficPermission", Mesh: "default", Name: g.policyName(), Labels: labels, Spec: spec}
	if g.OneIn(12) {
		p.Mesh = "other"
	}
	return p
}

// target begins a spec with its targetRef, or without one.
func (g *generator) target() object {
	ref := object{"kind": "Dataplane"}
	switch g.Choose(9) {
	case 0, 7:
		return object{}
	case 1, 8:
		ref = object{"kind": "Mesh"}
	case 2:
		ref["name"] = choice.Pick(g.Chooser, names...)
	case 3:
		ref["labels"] = object{"app": choice.Pick(g.Chooser, names...)}
	case 4:
		labels := object{"tier": choice.Pick(g.Chooser, "front", "back"), "k8s.kuma.io/namespace": choice.Pick(g.Chooser, namespaces...)}
		if g.size != usualSize {
			labels = object{"tier": choice.Pick(g.Chooser, "front", "back"), "app": choice.Pick(g.Chooser, names...)}
			for _, label := range moreLabels[:g.Choose(3)] {
				labels[label.key] = choice.Pick(g.Chooser, label.values...)
			}
		}
		ref["labels"] = labels
	case 5:
		ref["labels"] = object{"app": choice.Pick(g.Chooser, names...)}
		ref["sectionName"] = choice.Pick(g.Chooser, "http-port", "tcp-port", "8081", "8080")
	case 6:
		ref["sectionName"] = choice.Pick(g.Chooser, "http-port", "tcp-port", "8081")
	}
	return object{"targetRef": ref}
}

// rules adds the rules to a spec, in one of the forms that the option reads.
func (g *generator) rules(spec object, form Form) {
	switch {
	case form == KumaOption3:
		spec["rules"] = choice.Items(g.Chooser, 1, g.size.upTo(3), g.conditions)
	case g.OneIn(2):
		spec["default"] = g.lists()
	case form == KumaOption2:
		spec["rules"] = []object{{"default": g.lists()}}
	default:
		spec["rules"] = choice.Items(g.Chooser, 0, g.size.upTo(3), func() object { return object{"default": g.lists()} })
	}
}

// conditions draws a rule of Option 3. Without conditions a rule matches every caller, and
// with an empty list no caller.
func (g *generator) conditions() object {
	rule := object{"default": object{"action": choice.Pick(g.Chooser, "Deny", "Allow", "Allow", "AllowWithShadowDeny")}}
	switch {
	case g.OneIn(20):
	case g.OneIn(20):
		rule["conditions"] = []object{}
	default:
		rule["conditions"] = g.matchers()
	}
	return rule
}

// lists draws a conf with some of the three lists.
func (g *generator) lists() object {
	conf := object{}
	for _, list := range []struct {
		name string
		// ofSix is how often of six times the list is there.
		ofSix int
	}{{"deny", 3}, {"allowWithShadowDeny", 2}, {"allow", 5}} {
		switch {
		case g.Choose(6) >= list.ofSix:
		case g.OneIn(20):
			conf[list.name] = []object{}
		default:
			conf[list.name] = g.matchers()
		}
	}
	return conf
}

// matchers draws a short list, or a list with so many identities that they make a map.
func (g *generator) matchers() []object {
	if !g.OneIn(12) {
		return choice.Items(g.Chooser, 1, g.size.upTo(3), g.matcher)
	}
	var out []object
	for _, id := range identities[g.Choose(len(identities)/2):] {
		out = append(out, object{"spiffeId": object{"type": "Exact", "value": id}})
	}
	return append(out, g.matcher())
}

// matcher draws a matcher of one, two or three things, mostly of a caller.
func (g *generator) matcher() object {
	m := object{}
	if !g.OneIn(5) {
		m[choice.Pick(g.Chooser, "spiffeId", "spiffeId", "spiffeID")] = g.match(identities, prefixes, oddIdentities)
	}
	if g.OneIn(8) {
		m["sni"] = object{"type": "Exact", "value": oddly(g.Chooser, serverNames, oddServerNames)}
	}
	if g.OneIn(3) {
		m["path"] = g.match(paths, paths, oddPaths)
	}
	if g.OneIn(4) || len(m) == 0 {
		m["method"] = oddly(g.Chooser, methods, oddMethods)
	}
	return m
}

// match draws an exact or a prefix match, seldom of an odd value.
func (g *generator) match(exact, prefix, odd []string) object {
	if g.OneIn(2) {
		return object{"type": "Exact", "value": oddly(g.Chooser, exact, odd)}
	}
	return object{"type": "Prefix", "value": oddly(g.Chooser, prefix, odd)}
}

// legacyPolicies draws MeshTrafficPermissions with from. One in ten has rules instead. Where
// such a policy applies, from has no effect.
func (g *generator) legacyPolicies() []resource {
	g.legacy = true
	g.c.TrustDomains = []spiffeid.TrustDomain{legacyDomain, legacyOtherDomain, ownDomain}
	g.option("shadowForm", choice.Pick(g.Chooser, "accepted", "precise"), "accepted")
	g.option("legacyCompiler", choice.Pick(g.Chooser, "compact", "full"), "compact")
	return choice.Items(g.Chooser, 1, g.size.upTo(4), func() resource {
		if g.OneIn(10) {
			spec := g.target()
			g.rules(spec, KumaOption1)
			return g.kumaPolicy(spec)
		}
		spec := g.legacyTarget()
		spec["from"] = choice.Items(g.Chooser, 0, g.size.upTo(4), g.item)
		return g.kumaPolicy(spec)
	})
}

// legacyTarget begins a spec with a targetRef of the legacy kinds, or of the others.
func (g *generator) legacyTarget() object {
	switch g.Choose(6) {
	case 0:
		return object{"targetRef": object{"kind": "MeshSubset", "tags": g.tag()}}
	case 1:
		return object{"targetRef": object{"kind": "MeshService", "name": choice.Pick(g.Chooser, names...)}}
	case 2:
		return object{"targetRef": object{"kind": "MeshServiceSubset", "name": choice.Pick(g.Chooser, names...), "tags": g.tag()}}
	case 3, 4:
		return object{"targetRef": object{"kind": "MeshHTTPRoute", "name": choice.Pick(g.Chooser, routes...)}}
	default:
		return g.target()
	}
}

// item draws an item of a from list.
func (g *generator) item() object {
	ref := object{"kind": "Mesh"}
	switch g.Choose(4) {
	case 0:
	case 1:
		ref = object{"kind": "MeshSubset", "tags": g.tag()}
	case 2:
		ref = object{"kind": "MeshService", "name": choice.Pick(g.Chooser, services...)}
	case 3:
		ref = object{"kind": "MeshServiceSubset", "name": choice.Pick(g.Chooser, services...), "tags": g.tag()}
	}
	if g.OneIn(6) {
		ref["mesh"] = choice.Pick(g.Chooser, "default", "other")
	}
	action := choice.Pick(g.Chooser, "Allow", "Allow", "Deny", "AllowWithShadowDeny", "DenyWithShadowAllow", "ALLOW", "DENY_WITH_SHADOW_ALLOW")
	return object{"targetRef": ref, "default": object{"action": action}}
}

// tag draws one tag, seldom two.
func (g *generator) tag() map[string]string {
	out := map[string]string{"env": choice.Pick(g.Chooser, "dev", "prod")}
	if g.OneIn(4) {
		return map[string]string{"kuma.io/zone": choice.Pick(g.Chooser, zones...)}
	}
	if g.OneIn(5) {
		out["kuma.io/zone"] = choice.Pick(g.Chooser, zones...)
	}
	return out
}

// tags draws the tags of an inbound, or nil, which means the labels of the workload.
func (g *generator) tags() map[string]string {
	if g.OneIn(3) {
		return nil
	}
	return g.tag()
}

// routesOf draws the routes of an inbound. An inbound of tcp has none.
func (g *generator) routesOf(p policy.Protocol) []policy.InboundRoute {
	if p.Layer() == policy.L4 || g.OneIn(4) {
		return nil
	}
	var out []policy.InboundRoute
	for _, name := range routes {
		var when policy.Condition = policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: choice.Pick(g.Chooser, policy.Exact, policy.Segments), Value: choice.Pick(g.Chooser, "/a", "/a/b", "/b")}}
		if g.OneIn(3) {
			when = policy.And{when, attribute.Method.Exact(choice.Pick(g.Chooser, methods...))}
		}
		out = append(out, policy.InboundRoute{Name: name, When: when})
	}
	return out
}
