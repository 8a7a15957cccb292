package policyset

import (
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/renaming"
)

// istioProviders draws the authorizers that the mesh config has.
func (g *generator) istioProviders() []object {
	var out []object
	for _, name := range []string{renaming.Authorizer, renaming.OtherAuthorizer} {
		grpc := object{"service": name + ".authz.svc.cluster.local", "port": 9191}
		if g.OneIn(2) {
			grpc["failOpen"] = g.OneIn(2)
		}
		if g.OneIn(3) {
			grpc["statusOnError"] = choice.Pick(g.Chooser, "401", "403", "503")
		}
		provider := object{"name": name, "envoyExtAuthzGrpc": grpc}
		if g.OneIn(3) {
			provider["unreachable"] = true
		}
		out = append(out, provider)
	}
	return out
}

// istioCustom draws a policy that asks an authorizer. Beside tokens it is one that answers: Istio
// denies before it verifies tokens where there is none to ask, and meshproof after it.
func (g *generator) istioCustom(tokens bool) resource {
	p := resource{APIVersion: "security.istio.io/v1", Kind: "AuthorizationPolicy"}
	p.Metadata = object{"name": g.policyName(), "namespace": choice.Pick(g.Chooser, append([]string{"istio-system"}, namespaces...)...)}
	provider := renaming.Authorizer
	if !tokens {
		provider = choice.Pick(g.Chooser, renaming.Authorizer, renaming.Authorizer, renaming.Authorizer, renaming.OtherAuthorizer, renaming.NoAuthorizer)
	}
	p.Spec = object{"action": "CUSTOM", "provider": object{"name": provider}}
	if g.OneIn(3) {
		p.Spec["selector"] = object{"matchLabels": object{"app": choice.Pick(g.Chooser, names...)}}
	}
	p.Spec["rules"] = choice.Items(g.Chooser, 1, 2, func() object {
		rule := object{}
		if g.OneIn(3) {
			rule["from"] = []object{{"source": object{choice.Pick(g.Chooser, "ipBlocks", "notIpBlocks", "remoteIpBlocks"): []string{choice.Pick(g.Chooser, blocks...)}}}}
		}
		if !g.OneIn(4) {
			rule["to"] = choice.Items(g.Chooser, 1, 2, func() object { return object{"operation": g.istioOperation()} })
		}
		return rule
	})
	return p
}

// peerAuthentications draws the modes of the mesh, of namespaces, workloads and ports, each at
// most once.
func (g *generator) peerAuthentications() []resource {
	g.modes = true
	mode := func() object {
		return object{"mode": choice.Pick(g.Chooser, "STRICT", "PERMISSIVE", "STRICT", "PERMISSIVE", "DISABLE", "UNSET")}
	}
	var out []resource
	add := func(name, namespace string, spec object) {
		p := resource{APIVersion: "security.istio.io/" + choice.Pick(g.Chooser, "v1", "v1beta1"), Kind: "PeerAuthentication", Spec: spec}
		p.Metadata = object{"name": name, "namespace": namespace}
		out = append(out, p)
	}
	if g.OneIn(2) {
		add("modes", "istio-system", object{"mtls": mode()})
	}
	namespace := choice.Pick(g.Chooser, namespaces...)
	if g.OneIn(2) {
		add("modes", namespace, object{"mtls": mode()})
	}
	if len(out) == 0 || g.OneIn(2) {
		spec := object{"selector": object{"matchLabels": object{"app": choice.Pick(g.Chooser, names...)}}}
		if g.OneIn(2) {
			spec["mtls"] = mode()
		}
		if g.OneIn(2) {
			ports := object{}
			for _, port := range choice.Shuffled(g.Chooser, []string{"8080", "5432", "8081", "9090"})[:g.Number(1, 2)] {
				ports[port] = mode()
			}
			spec["portLevelMtls"] = ports
		}
		add("modes-of-workload", namespace, spec)
	}
	return out
}
