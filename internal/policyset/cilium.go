package policyset

import (
	"cmp"
	"maps"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// ciliumPolicies draws network policies of Cilium. Peers are named by their labels, so the set has
// workloads that only call.
func (g *generator) ciliumPolicies() []resource {
	g.byLabels = true
	options := object{}
	if g.oneIn(6) {
		options["policyEnforcement"] = pick(g.chooser, "default", "always", "never")
	}
	if g.oneIn(6) {
		options["policyAuditMode"] = pick(g.chooser, true, true, false)
	}
	if g.oneIn(6) {
		options["clusterName"] = pick(g.chooser, zones...)
	}
	if g.oneIn(3) {
		options["namespaceLabels"] = object{"a": object{"team": pick(g.chooser, "red", "blue")}, "ab": object{"team": "red"}}
	}
	if len(options) > 0 {
		g.option("cilium", options, nil)
	}
	// Rules that let the same caller in must agree on its authentication. So a set has one mode.
	g.authentication = pick(g.chooser, "", "", "", "", "required", "required", "test-always-fail")
	return items(g.chooser, 1, g.size.upTo(3), func() resource {
		p := resource{APIVersion: "cilium.io/v2", Kind: "CiliumNetworkPolicy", Metadata: object{"name": g.policyName()}}
		clusterwide := g.oneIn(4)
		if clusterwide {
			p.Kind = "CiliumClusterwideNetworkPolicy"
		} else {
			p.Metadata["namespace"] = pick(g.chooser, namespaces...)
		}
		if g.oneIn(5) {
			p.Specs = items(g.chooser, 1, 2, func() object { return g.ciliumSpec(clusterwide) })
		}
		if p.Specs == nil || g.oneIn(4) {
			p.Spec = g.ciliumSpec(clusterwide)
		}
		return p
	})
}

// ciliumSpec draws a spec, seldom one of nodes, which no inbound is.
func (g *generator) ciliumSpec(clusterwide bool) object {
	subject := g.selector
	if g.oneIn(3) {
		subject = g.ciliumSelector
	}
	if clusterwide && g.oneIn(8) {
		return object{"nodeSelector": subject(), "ingress": []object{{"fromEntities": []string{"cluster"}}}}
	}
	spec := object{"endpointSelector": subject()}
	lists := g.choose(12)
	if lists < 9 || lists == 11 {
		spec["ingress"] = items(g.chooser, 1, g.size.upTo(3), g.ciliumAllow)
	}
	if lists >= 7 && lists < 11 {
		spec["ingressDeny"] = items(g.chooser, 1, g.size.upTo(2), g.ciliumDeny)
	}
	if lists == 11 {
		delete(spec, "ingress")
	}
	if lists == 11 || g.oneIn(8) {
		of := pick(g.chooser, "egress", "egressDeny")
		spec[of] = items(g.chooser, 1, 2, func() object { return g.ciliumEgress(of == "egressDeny") })
	}
	if g.oneIn(4) {
		spec["enableDefaultDeny"] = pick(g.chooser, object{"ingress": true}, object{"ingress": false}, object{"ingress": false}, object{"egress": false})
	}
	if g.oneIn(8) {
		spec["description"] = "the orders"
	}
	if g.oneIn(8) {
		spec["labels"] = []object{{"key": "team", "value": "red", "source": "unspec"}}
	}
	if g.oneIn(8) {
		spec["log"] = object{"value": "1"}
	}
	return spec
}

// ciliumSelector draws a selector that asks for labels that Cilium gives each endpoint.
func (g *generator) ciliumSelector() object {
	source := pick(g.chooser, "", "k8s:", "any:")
	labels := func(key string, values ...string) object {
		return object{"matchLabels": object{source + key: pick(g.chooser, values...)}}
	}
	expressions := func(key string, values ...string) object {
		e := object{"key": source + key, "operator": pick(g.chooser, "In", "NotIn", "Exists", "DoesNotExist")}
		if e["operator"] == "In" || e["operator"] == "NotIn" {
			e["values"] = items(g.chooser, 1, 2, func() string { return pick(g.chooser, values...) })
		}
		return object{"matchExpressions": []object{e}}
	}
	const namespace = "io.kubernetes.pod.namespace"
	switch g.choose(8) {
	case 0:
		return labels(namespace, "default", "a", "ab")
	case 1:
		out := labels(namespace, "default", "a", "ab")
		maps.Copy(out["matchLabels"].(object), object{"app": pick(g.chooser, names...)})
		return out
	case 2:
		return expressions(namespace, "default", "a", "ab")
	case 3:
		return labels("io.cilium.k8s.namespace.labels.team", "red", "blue")
	case 4:
		return labels("io.cilium.k8s.namespace.labels.kubernetes.io/metadata.name", "default", "a", "ab")
	case 5:
		return labels("io.cilium.k8s.policy.serviceaccount", "x", "y", "web")
	case 6:
		return labels("io.cilium.k8s.policy.cluster", "default", "east")
	default:
		return expressions("app", "web", "api", "x")
	}
}

// ciliumPeers draws a rule with one way to name its peers, or with none. Only workloads are
// bound to prove who they are, so the second result says whether all peers are workloads.
func (g *generator) ciliumPeers(verb string) (rule object, workloads bool) {
	switch g.choose(10) {
	case 0:
		return object{}, false
	case 1:
		return object{verb + "Entities": items(g.chooser, 1, 2, func() string { return pick(g.chooser, "all", "world", "world") })}, false
	case 2:
		return object{verb + "Entities": items(g.chooser, 1, 2, func() string { return pick(g.chooser, "cluster", "cluster-mesh", "host", "none", "kube-apiserver") })}, true
	case 3:
		return object{verb + "CIDR": items(g.chooser, 1, 2, func() string {
			if g.oneIn(3) {
				return g.block().String()
			}
			return pick(g.chooser, "2001:db8::/32", "2001:db8::1/128", "10.64.0.1/32", "10.64.0.0/24", "10.64.0.0/31", "10.64.0.2/31", "192.168.0.0/16", "192.168.7.7/32", "0.0.0.0/0")
		})}, false
	case 4:
		return object{verb + "CIDRSet": items(g.chooser, 1, 2, func() object {
			if g.oneIn(3) {
				return g.blockWithout()
			}
			set := pick(g.chooser, object{"cidr": "10.64.0.0/24", "except": []string{"10.64.0.0/31"}}, object{"cidr": "0.0.0.0/0", "except": []string{"192.168.0.0/16", "10.64.0.1/32"}}, object{"cidr": "2001:db8::/32"})
			return maps.Clone(set)
		})}, false
	case 5:
		return object{verb + pick(g.chooser, "Endpoints", "CIDR", "CIDRSet", "Entities"): []string{}}, true
	case 6:
		absent := func(key string) object { return object{"key": key, "operator": "DoesNotExist"} }
		reserved := pick(g.chooser, object{"matchLabels": object{"reserved:host": ""}}, object{"matchExpressions": []object{absent("reserved:host")}},
			object{"matchExpressions": []object{absent("k8s:io.kubernetes.pod.namespace")}},
			object{"matchExpressions": []object{absent("io.kubernetes.pod.namespace"), absent("io.cilium.k8s.policy.cluster")}})
		return object{verb + "Endpoints": []object{reserved}}, false
	default:
		return object{verb + "Endpoints": items(g.chooser, 1, g.size.upTo(2), func() object {
			if g.oneIn(2) {
				return g.ciliumSelector()
			}
			return g.selector()
		})}, false
	}
}

// ciliumAllow draws a rule that lets callers in.
func (g *generator) ciliumAllow() object {
	rule, workloads := g.ciliumPeers("from")
	if g.oneIn(16) {
		rule["icmps"] = g.icmps()
		return rule
	}
	if n := g.choose(12); n < 7 {
		rule["toPorts"] = items(g.chooser, 1, 2, g.ciliumEntry)
	} else if n == 11 {
		rule["toPorts"] = []object{}
	}
	switch {
	case g.authentication == "test-always-fail" || g.authentication == "required" && !(workloads && g.oneIn(3)):
		rule["authentication"] = object{"mode": g.authentication}
	case g.authentication == "" && g.oneIn(6):
		rule["authentication"] = object{"mode": "disabled"}
	}
	return rule
}

// ciliumDeny draws a rule that shuts callers out. It has no HTTP rules.
func (g *generator) ciliumDeny() object {
	rule, _ := g.ciliumPeers("from")
	if g.oneIn(2) {
		rule["toPorts"] = []object{{"ports": items(g.chooser, 1, 2, g.ciliumPort)}}
	}
	return rule
}

// ciliumPort draws ports, seldom of a protocol that no inbound has.
func (g *generator) ciliumPort() object {
	switch g.choose(10) {
	case 0:
		return object{"port": "8000", "endPort": pick(g.chooser, 8080, 9100), "protocol": "TCP"}
	case 1:
		return object{"port": pick(g.chooser, "8080", "5432", "8081", "9090"), "protocol": pick(g.chooser, "UDP", "SCTP", "ANY")}
	case 2:
		return object{"port": "0"}
	default:
		return object{"port": pick(g.chooser, "8080", "5432", "8081", "9090", "http-port", "tcp-port", "GRPC-port")}
	}
}

// ciliumEntry draws ports with what may be asked there. HTTP rules ask for ports of TCP.
func (g *generator) ciliumEntry() object {
	if g.oneIn(3) {
		return object{"ports": items(g.chooser, 1, 2, g.ciliumPort)}
	}
	entry := object{"ports": items(g.chooser, 1, 2, func() object {
		if g.oneIn(6) {
			return object{"port": "5000", "endPort": pick(g.chooser, 8080, 9100), "protocol": "TCP"}
		}
		return object{"port": pick(g.chooser, "8080", "5432", "8081", "9090", "http-port", "grpc-port"), "protocol": "TCP"}
	})}
	switch g.choose(12) {
	case 0:
		entry["rules"] = object{"http": []object{}}
	default:
		entry["rules"] = object{"http": items(g.chooser, 1, g.size.upTo(2), g.ciliumHTTP)}
	}
	return entry
}

// ciliumHTTP draws a rule of HTTP. Without fields it matches every request.
func (g *generator) ciliumHTTP() object {
	fields := map[string]func() any{
		"path": func() any {
			return pick(g.chooser, "/", "/a", "/a.*", "/a(/.*)?", "^/a$", "/a/b", "/a\\?x=.*", "/(a|b)", "/a/[a-c]", "/ab?")
		},
		"method": func() any { return pick(g.chooser, "GET", "POST", "GET|HEAD", "P.*") },
		"host": func() any {
			return pick(g.chooser, "web.example", "web\\.example(:8080)?", "WEB\\.example", ".*\\.example")
		},
		"headers": func() any { return items(g.chooser, 1, 2, g.ciliumHeader) },
		"headerMatches": func() any {
			return items(g.chooser, 1, 2, func() object {
				match := object{"name": pick(g.chooser, "x-role", "X-Team", "origin", ":path")}
				if g.oneIn(2) {
					match["value"] = pick(g.chooser, "admin", "/a")
				}
				return match
			})
		},
	}
	rule := object{}
	for _, name := range shuffled(g.chooser, []string{"path", "path", "method", "host", "headers", "headerMatches"})[:g.number(0, 2)] {
		rule[name] = fields[name]()
	}
	return rule
}

func (g *generator) ciliumHeader() string {
	return pick(g.chooser, "X-Role", "x-role: admin", "X-Role admin", "X-Team: red,blue", "Origin: https://shop.example")
}

func (g *generator) icmps() []object {
	return []object{{"fields": []object{{"type": pick[any](g.chooser, 8, "EchoRequest"), "family": "IPv4"}}}}
}

// ciliumEgress draws a rule about calls of the workload, which decides nothing of its inbounds.
func (g *generator) ciliumEgress(deny bool) object {
	way := g.choose(6)
	if deny && way == 0 {
		way = 1
	}
	switch way {
	case 0:
		return object{"toFQDNs": []object{{"matchName": "web.example"}, {"matchPattern": "*.example"}}}
	case 1:
		return object{"toServices": []object{{"k8sService": object{"serviceName": "db", "namespace": "a"}}}}
	case 2:
		return object{"toGroups": []object{{"aws": object{"region": "east"}}}}
	case 3:
		return object{"icmps": g.icmps()}
	}
	rule, _ := g.ciliumPeers("to")
	if deny {
		return rule
	}
	// Each kind of proxy has a port of its own: Cilium does not merge two kinds.
	ports := func(port string) []object { return []object{{"port": port, "protocol": "TCP"}} }
	switch g.choose(5) {
	case 0:
		rule["toPorts"] = []object{{"ports": []object{{"port": "53", "protocol": "ANY"}}, "rules": object{"dns": []object{{"matchPattern": "*"}}}}}
	case 1:
		rule["toPorts"] = []object{{"ports": ports("443"), "serverNames": serverNames[:1]}}
	case 2:
		tls := object{"secret": object{"name": "tls", "namespace": "a"}}
		rule["toPorts"] = []object{{"ports": ports("8443"), "terminatingTLS": tls, "originatingTLS": tls, "rules": object{"http": []object{{"path": "/a"}}}}}
	case 3:
		rule["toPorts"] = []object{{"ports": ports("9443"), "listener": object{"envoyConfig": object{"kind": "CiliumEnvoyConfig", "name": "proxy"}, "name": "out"}}}
	}
	if g.oneIn(4) {
		rule["authentication"] = object{"mode": cmp.Or(g.authentication, "disabled")}
	}
	return rule
}

// callers adds workloads that only call, each with an account of its own.
func (g *generator) callers() {
	known := shuffled(g.chooser, []string{"x", "y", "xy"})
	for _, name := range known[:g.number(1, len(known))] {
		w := policy.Workload{
			Name: name, Namespace: pick(g.chooser, "default", "a", "ab"), Mesh: "default", ServiceAccount: name,
			Labels: map[string]string{"app": pick(g.chooser, append([]string{name}, names...)...), "tier": pick(g.chooser, "front", "back")},
		}
		id := identityOf(g.c.TrustDomains[0], w)
		g.c.Options.Peers = append(g.c.Options.Peers, language.Peer{Workload: w, Identity: id, IP: addressOf(len(g.c.Options.Peers))})
	}
}
