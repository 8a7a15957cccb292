package policyset

import (
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// legacyPolicies draws MeshTrafficPermissions with from. One in ten has rules instead. Where
// such a policy applies, from has no effect.
func (g *generator) legacyPolicies() []resource {
	g.legacy = true
	g.c.TrustDomains = []spiffeid.TrustDomain{legacyDomain, legacyOtherDomain, ownDomain}
	g.option("shadowForm", pick(g.chooser, "accepted", "precise"), "accepted")
	g.option("legacyCompiler", pick(g.chooser, "compact", "full"), "compact")
	return some(g.chooser, 1, 4, func() resource {
		if g.oneIn(10) {
			spec := g.target()
			g.rules(spec, KumaOption1)
			return g.kumaPolicy(spec)
		}
		spec := g.legacyTarget()
		spec["from"] = some(g.chooser, 0, 4, g.item)
		return g.kumaPolicy(spec)
	})
}

// legacyTarget begins a spec with a targetRef of the legacy kinds, or of the others.
func (g *generator) legacyTarget() object {
	switch g.choose(6) {
	case 0:
		return object{"targetRef": object{"kind": "MeshSubset", "tags": g.tag()}}
	case 1:
		return object{"targetRef": object{"kind": "MeshService", "name": pick(g.chooser, names...)}}
	case 2:
		return object{"targetRef": object{"kind": "MeshServiceSubset", "name": pick(g.chooser, names...), "tags": g.tag()}}
	case 3, 4:
		return object{"targetRef": object{"kind": "MeshHTTPRoute", "name": pick(g.chooser, routes...)}}
	default:
		return g.target()
	}
}

// item draws an item of a from list.
func (g *generator) item() object {
	ref := object{"kind": "Mesh"}
	switch g.choose(4) {
	case 0:
	case 1:
		ref = object{"kind": "MeshSubset", "tags": g.tag()}
	case 2:
		ref = object{"kind": "MeshService", "name": pick(g.chooser, services...)}
	case 3:
		ref = object{"kind": "MeshServiceSubset", "name": pick(g.chooser, services...), "tags": g.tag()}
	}
	if g.oneIn(6) {
		ref["mesh"] = pick(g.chooser, "default", "other")
	}
	action := pick(g.chooser, "Allow", "Allow", "Deny", "AllowWithShadowDeny", "DenyWithShadowAllow", "ALLOW", "DENY_WITH_SHADOW_ALLOW")
	return object{"targetRef": ref, "default": object{"action": action}}
}

// tag draws one tag, seldom two.
func (g *generator) tag() map[string]string {
	out := map[string]string{"env": pick(g.chooser, "dev", "prod")}
	if g.oneIn(4) {
		return map[string]string{"kuma.io/zone": pick(g.chooser, zones...)}
	}
	if g.oneIn(5) {
		out["kuma.io/zone"] = pick(g.chooser, zones...)
	}
	return out
}

// tags draws the tags of an inbound, or nil, which means the labels of the workload.
func (g *generator) tags() map[string]string {
	if g.oneIn(3) {
		return nil
	}
	return g.tag()
}

// routesOf draws the routes of an inbound. An inbound of tcp has none.
func (g *generator) routesOf(p policy.Protocol) []policy.InboundRoute {
	if p.Layer() == policy.L4 || g.oneIn(4) {
		return nil
	}
	var out []policy.InboundRoute
	for _, name := range routes {
		var when policy.Condition = policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: pick(g.chooser, policy.Exact, policy.Segments), Value: pick(g.chooser, "/a", "/a/b", "/b")}}
		if g.oneIn(3) {
			when = policy.And{when, attribute.Method.Exact(pick(g.chooser, methods...))}
		}
		out = append(out, policy.InboundRoute{Name: name, When: when})
	}
	return out
}
