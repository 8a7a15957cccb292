package policyset

// The authorizers of a mesh config. The last one is in none.
const (
	authorizer, otherAuthorizer, noAuthorizer = "opa", "guard", "lost"
)

// istioProviders draws the authorizers that the mesh config has.
func (g *generator) istioProviders() []object {
	var out []object
	for _, name := range []string{authorizer, otherAuthorizer} {
		grpc := object{"service": name + ".authz.svc.cluster.local", "port": 9191}
		if g.oneIn(2) {
			grpc["failOpen"] = g.oneIn(2)
		}
		if g.oneIn(3) {
			grpc["statusOnError"] = pick(g.chooser, "401", "403", "503")
		}
		provider := object{"name": name, "envoyExtAuthzGrpc": grpc}
		if g.oneIn(3) {
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
	p.Metadata = object{"name": g.policyName(), "namespace": pick(g.chooser, append([]string{"istio-system"}, namespaces...)...)}
	provider := authorizer
	if !tokens {
		provider = pick(g.chooser, authorizer, authorizer, authorizer, otherAuthorizer, noAuthorizer)
	}
	p.Spec = object{"action": "CUSTOM", "provider": object{"name": provider}}
	if g.oneIn(3) {
		p.Spec["selector"] = object{"matchLabels": object{"app": pick(g.chooser, names...)}}
	}
	p.Spec["rules"] = items(g.chooser, 1, 2, func() object {
		rule := object{}
		if g.oneIn(3) {
			rule["from"] = []object{{"source": object{pick(g.chooser, "ipBlocks", "notIpBlocks", "remoteIpBlocks"): []string{pick(g.chooser, blocks...)}}}}
		}
		if !g.oneIn(4) {
			rule["to"] = items(g.chooser, 1, 2, func() object { return object{"operation": g.istioOperation()} })
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
		return object{"mode": pick(g.chooser, "STRICT", "PERMISSIVE", "STRICT", "PERMISSIVE", "DISABLE", "UNSET")}
	}
	var out []resource
	add := func(name, namespace string, spec object) {
		p := resource{APIVersion: "security.istio.io/" + pick(g.chooser, "v1", "v1beta1"), Kind: "PeerAuthentication", Spec: spec}
		p.Metadata = object{"name": name, "namespace": namespace}
		out = append(out, p)
	}
	if g.oneIn(2) {
		add("modes", "istio-system", object{"mtls": mode()})
	}
	namespace := pick(g.chooser, namespaces...)
	if g.oneIn(2) {
		add("modes", namespace, object{"mtls": mode()})
	}
	if len(out) == 0 || g.oneIn(2) {
		spec := object{"selector": object{"matchLabels": object{"app": pick(g.chooser, names...)}}}
		if g.oneIn(2) {
			spec["mtls"] = mode()
		}
		if g.oneIn(2) {
			ports := object{}
			for _, port := range shuffled(g.chooser, []string{"8080", "5432", "8081", "9090"})[:g.number(1, 2)] {
				ports[port] = mode()
			}
			spec["portLevelMtls"] = ports
		}
		add("modes-of-workload", namespace, spec)
	}
	return out
}
