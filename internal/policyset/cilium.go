package policyset

import (
	"cmp"
	"maps"

	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/renaming"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// ciliumPolicies draws network policies of Cilium. Peers are named by their labels, so the set has
// workloads that only call.
func (g *generator) ciliumPolicies() []resource {
	g.byLabels = true
	options := object{}
	if g.OneIn(6) {
		options["policyEnforcement"] = choice.Pick(g.Chooser, "default", "always", "never")
	}
	if g.OneIn(6) {
		options["policyAuditMode"] = choice.Pick(g.Chooser, true, true, false)
	}
	if g.OneIn(6) {
		options["clusterName"] = choice.Pick(g.Chooser, zones...)
	}
	if g.OneIn(3) {
		options["namespaceLabels"] = object{"a": object{"team": choice.Pick(g.Chooser, "red", "blue")}, "ab": object{"team": "red"}}
	}
	if len(options) > 0 {
		g.option("cilium", options, nil)
	}
	// Rules that let the same caller in must agree on its authentication. So a set has one mode.
	g.authentication = choice.Pick(g.Chooser, "", "", "", "", "required", "required", "test-always-fail")
	return choice.Items(g.Chooser, 1, g.size.upTo(3), func() resource {
		p := resource{APIVersion: "cilium.io/v2", Kind: "CiliumNetworkPolicy", Metadata: object{"name": g.policyName()}}
		clusterwide := g.OneIn(4)
		if clusterwide {
			p.Kind = "CiliumClusterwideNetworkPolicy"
		} else {
			p.Metadata["namespace"] = choice.Pick(g.Chooser, namespaces...)
		}
		if g.OneIn(5) {
			p.Specs = choice.Items(g.Chooser, 1, 2, func() object { return g.ciliumSpec(clusterwide) })
		}
		if p.Specs == nil || g.OneIn(4) {
			p.Spec = g.ciliumSpec(clusterwide)
		}
		return p
	})
}

// ciliumSpec draws a spec, seldom one of nodes, which no inbound is.
func (g *generator) ciliumSpec(clusterwide bool) object {
	subject := g.selector
	if g.OneIn(3) {
		subject = g.ciliumSelector
	}
	if clusterwide && g.OneIn(8) {
		return object{"nodeSelector": subject(), "ingress": []object{{"fromEntities": []string{"cluster"}}}}
	}
	spec := object{"endpointSelector": subject()}
	lists := g.Choose(12)
	if lists < 9 || lists == 11 {
		spec["ingress"] = choice.Items(g.Chooser, 1, g.size.upTo(3), g.ciliumAllow)
	}
	if lists >= 7 && lists < 11 {
		spec["ingressDeny"] = choice.Items(g.Chooser, 1, g.size.upTo(2), g.ciliumDeny)
	}
	if lists == 11 {
		delete(spec, "ingress")
	}
	if lists == 11 || g.OneIn(8) {
		of := choice.Pick(g.Chooser, "egress", "egressDeny")
		spec[of] = choice.Items(g.Chooser, 1, 2, func() object { return g.ciliumEgress(of == "egressDeny") })
	}
	if g.OneIn(4) {
		spec["enableDefaultDeny"] = choice.Pick(g.Chooser, object{"ingress": true}, object{"ingress": false}, object{"ingress": false}, object{"egress": false})
	}
	if g.OneIn(8) {
		spec["description"] = "the orders"
	}
	if g.OneIn(8) {
		spec["labels"] = []object{{"key": "team", "value": "red", "source": "unspec"}}
	}
	if g.OneIn(8) {
		spec["log"] = object{"value": "1"}
	}
	return spec
}

// ciliumSelector draws a selector that asks for labels that Cilium gives each endpoint.
func (g *generator) ciliumSelector() object {
	source := choice.Pick(g.Chooser, "", "k8s:", "any:")
	labels := func(key string, values ...string) object {
		return object{"matchLabels": object{source + key: choice.Pick(g.Chooser, values...)}}
	}
	expressions := func(key string, values ...string) object {
		e := object{"key": source + key, "operator": choice.Pick(g.Chooser, "In", "NotIn", "Exists", "DoesNotExist")}
		if e["operator"] == "In" || e["operator"] == "NotIn" {
			e["values"] = choice.Items(g.Chooser, 1, 2, func() string { return choice.Pick(g.Chooser, values...) })
		}
		return object{"matchExpressions": []object{e}}
	}
	const namespace = "io.kubernetes.pod.namespace"
	switch g.Choose(8) {
	case 0:
		return labels(namespace, "default", "a", "ab")
	case 1:
		out := labels(namespace, "default", "a", "ab")
		maps.Copy(out["matchLabels"].(object), object{"app": choice.Pick(g.Chooser, names...)})
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
	switch g.Choose(10) {
	case 0:
		return object{}, false
	case 1:
		return object{verb + "Entities": choice.Items(g.Chooser, 1, 2, func() string { return choice.Pick(g.Chooser, "all", "world", "world") })}, false
	case 2:
		return object{verb + "Entities": choice.Items(g.Chooser, 1, 2, func() string {
			return choice.Pick(g.Chooser, "cluster", "cluster-mesh", "host", "none", "kube-apiserver")
		})}, true
	case 3:
		return object{verb + "CIDR": choice.Items(g.Chooser, 1, 2, func() string {
			if g.OneIn(3) {
				return g.block().String()
			}
			return choice.Pick(g.Chooser, "2001:db8::/32", "2001:db8::1/128", "10.64.0.1/32", "10.64.0.0/24", "10.64.0.0/31", "10.64.0.2/31", "192.168.0.0/16", "192.168.7.7/32", "0.0.0.0/0")
		})}, false
	case 4:
		return object{verb + "CIDRSet": choice.Items(g.Chooser, 1, 2, func() object {
			if g.OneIn(3) {
				return g.blockWithout()
			}
			set := choice.Pick(g.Chooser, object{"cidr": "10.64.0.0/24", "except": []string{"10.64.0.0/31"}}, object{"cidr": "0.0.0.0/0", "except": []string{"192.168.0.0/16", "10.64.0.1/32"}}, object{"cidr": "2001:db8::/32"})
			return maps.Clone(set)
		})}, false
	case 5:
		return object{verb + choice.Pick(g.Chooser, "Endpoints", "CIDR", "CIDRSet", "Entities"): []string{}}, true
	case 6:
		absent := func(key string) object { return object{"key": key, "operator": "DoesNotExist"} }
		reserved := choice.Pick(g.Chooser, object{"matchLabels": object{"reserved:host": ""}}, object{"matchExpressions": []object{absent("reserved:host")}},
			object{"matchExpressions": []object{absent("k8s:io.kubernetes.pod.namespace")}},
			object{"matchExpressions": []object{absent("io.kubernetes.pod.namespace"), absent("io.cilium.k8s.policy.cluster")}})
		return object{verb + "Endpoints": []object{reserved}}, false
	default:
		return object{verb + "Endpoints": choice.Items(g.Chooser, 1, g.size.upTo(2), func() object {
			if g.OneIn(2) {
				return g.ciliumSelector()
			}
			return g.selector()
		})}, false
	}
}

// ciliumAllow draws a rule that lets callers in.
func (g *generator) ciliumAllow() object {
	rule, workloads := g.ciliumPeers("from")
	if g.OneIn(16) {
		rule["icmps"] = g.icmps()
		return rule
	}
	if n := g.Choose(12); n < 7 {
		rule["toPorts"] = choice.Items(g.Chooser, 1, 2, g.ciliumEntry)
	} else if n == 11 {
		rule["toPorts"] = []object{}
	}
	switch {
	case g.authentication == "test-always-fail" || g.authentication == "required" && !(workloads && g.OneIn(3)):
		rule["authentication"] = object{"mode": g.authentication}
	case g.authentication == "" && g.OneIn(6):
		rule["authentication"] = object{"mode": "disabled"}
	}
	return rule
}

// ciliumDeny draws a rule that shuts callers out. It has no HTTP rules.
func (g *generator) ciliumDeny() object {
	rule, _ := g.ciliumPeers("from")
	if g.OneIn(2) {
		rule["toPorts"] = []object{{"ports": choice.Items(g.Chooser, 1, 2, g.ciliumPort)}}
	} else if g.OneIn(8) {
		rule["icmps"] = g.icmps() // a denial of no connection
	}
	return rule
}

// ciliumPort draws ports, seldom of a protocol that no inbound has.
func (g *generator) ciliumPort() object {
	switch g.Choose(10) {
	case 0:
		return object{"port": "8000", "endPort": choice.Pick(g.Chooser, 8080, 9100), "protocol": "TCP"}
	case 1:
		return object{"port": choice.Pick(g.Chooser, "8080", "5432", "8081", "9090", "http-port", "0"), "protocol": choice.Pick(g.Chooser, "UDP", "SCTP", "ANY")}
	case 2:
		return choice.Pick(g.Chooser, object{"port": "0"}, object{"port": "0", "protocol": "TCP"})
	default:
		return object{"port": choice.Pick(g.Chooser, "8080", "5432", "8081", "9090", "http-port", "tcp-port", "GRPC-port")}
	}
}

// ciliumEntry draws ports with what may be asked there. HTTP rules ask for ports of TCP.
func (g *generator) ciliumEntry() object {
	if g.OneIn(3) {
		return object{"ports": choice.Items(g.Chooser, 1, 2, g.ciliumPort)}
	}
	entry := object{"ports": choice.Items(g.Chooser, 1, 2, func() object {
		if g.OneIn(6) {
			return object{"port": "5000", "endPort": choice.Pick(g.Chooser, 8080, 9100), "protocol": "TCP"}
		}
		return object{"port": choice.Pick(g.Chooser, "8080", "5432", "8081", "9090", "http-port", "grpc-port"), "protocol": "TCP"}
	})}
	switch g.Choose(12) {
	case 0:
		entry["rules"] = object{"http": []object{}}
	default:
		entry["rules"] = object{"http": choice.Items(g.Chooser, 1, g.size.upTo(2), g.ciliumHTTP)}
	}
	return entry
}

// ciliumHTTP draws a rule of HTTP. Without fields it matches every request.
func (g *generator) ciliumHTTP() object {
	fields := map[string]func() any{
		"path": func() any {
			return choice.Pick(g.Chooser, "/", "/a", "/a.*", "/a(/.*)?", "^/a$", "/a/b", "/a\\?x=.*", "/(a|b)", "/a/[a-c]", "/ab?")
		},
		"method": func() any { return choice.Pick(g.Chooser, "GET", "POST", "GET|HEAD", "P.*") },
		"host": func() any {
			return choice.Pick(g.Chooser, "web.example", "web\\.example(:8080)?", "WEB\\.example", ".*\\.example")
		},
		"headers": func() any { return choice.Items(g.Chooser, 1, 2, g.ciliumHeader) },
		"headerMatches": func() any {
			return choice.Items(g.Chooser, 1, 2, func() object {
				match := object{"name": choice.Pick(g.Chooser, "x-role", "X-Team", "origin", ":path")}
				if g.OneIn(2) {
					match["value"] = choice.Pick(g.Chooser, "admin", "/a")
				}
				return match
			})
		},
	}
	rule := object{}
	for _, name := range choice.Shuffled(g.Chooser, []string{"path", "path", "method", "host", "headers", "headerMatches"})[:g.Number(0, 2)] {
		rule[name] = fields[name]()
	}
	return rule
}

func (g *generator) ciliumHeader() string {
	return choice.Pick(g.Chooser, "X-Role", "x-role: admin", "X-Role admin", "X-Team: red,blue", "Origin: https://shop.example")
}

func (g *generator) icmps() []object {
	return []object{{"fields": []object{{"type": choice.Pick[any](g.Chooser, 8, "EchoRequest"), "family": "IPv4"}}}}
}

// ciliumEgress draws a rule about calls of the workload, which decides nothing of its inbounds.
func (g *generator) ciliumEgress(deny bool) object {
	way := g.Choose(6)
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
	switch g.Choose(5) {
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
	if g.OneIn(4) {
		rule["authentication"] = object{"mode": cmp.Or(g.authentication, "disabled")}
	}
	return rule
}

// callers adds workloads that only call, each with an account of its own.
func (g *generator) callers() {
	known := choice.Shuffled(g.Chooser, []string{"x", "y", "xy"})
	for _, name := range known[:g.Number(1, len(known))] {
		w := policy.Workload{
			Name: name, Namespace: choice.Pick(g.Chooser, "default", "a", "ab"), Mesh: "default", ServiceAccount: name,
			Labels: map[string]string{"app": choice.Pick(g.Chooser, append([]string{name}, names...)...), "tier": choice.Pick(g.Chooser, "front", "back")},
		}
		id := renaming.IdentityOf(g.c.TrustDomains[0], w)
		g.c.Options.Peers = append(g.c.Options.Peers, language.Peer{Workload: w, Identity: id, IP: addressOf(len(g.c.Options.Peers))})
	}
}
