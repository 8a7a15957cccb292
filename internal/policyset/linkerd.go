package policyset

import (
	"maps"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/tree"
	"github.com/meshproof/meshproof/policy"
)

const linkerdGroup, gatewayGroup = tree.LinkerdGroup, tree.GatewayGroup

// serverNamesOfPorts are the names of the Servers, one for each of [ports].
var serverNamesOfPorts = []string{"web-http", "db", "web-alt", "calls"}

// linkerdPolicies draws Servers with their routes, the policies about them, and authentications. A
// port of a namespace has one Server: of two, Linkerd takes the older.
func (g *generator) linkerdPolicies() []resource {
	g.linkerdOptions()
	var out []resource
	g.fit = func() { fitServers(out, g.c.Inbounds) }
	for _, namespace := range choice.Shuffled(g.Chooser, namespaces)[:g.Number(1, 2)] {
		for _, n := range choice.Shuffled(g.Chooser, []int{0, 1, 2, 3})[:g.Number(1, min(g.size.upTo(2), len(ports)))] {
			out = append(out, g.linkerdServer(namespace, n)...)
		}
		out = append(out, g.authentications(namespace)...)
	}
	servers := slices.Clone(out)
	for range g.Number(1, g.size.upTo(3)) {
		if g.OneIn(4) {
			out = append(out, g.serverAuthorization())
		} else {
			out = append(out, g.linkerdPolicy(servers))
		}
	}
	return out
}

func (g *generator) linkerdOptions() {
	access := func() string { return choice.Pick(g.Chooser, accessPolicies...) }
	options := object{}
	if g.OneIn(3) {
		options["defaultInboundPolicy"] = access()
	}
	if g.OneIn(6) {
		options["identityDomain"] = "mesh.example"
	}
	if g.OneIn(6) {
		options["controlPlaneNamespace"] = "control"
	}
	if g.OneIn(6) {
		options["loopbackBypass"] = true
	}
	if g.OneIn(6) {
		options["clusterNetworks"] = []string{"10.64.0.0/16", "2001:db8::/32"}
	}
	if g.OneIn(4) {
		options["annotations"] = object{choice.Pick(g.Chooser, "default", "a", "default/web", "a/api"): object{"config.linkerd.io/default-inbound-policy": access()}}
	}
	g.identityEnd = ".serviceaccount.identity." + text(options, "controlPlaneNamespace", "linkerd") + "." + text(options, "identityDomain", "cluster.local")
	if len(options) > 0 {
		g.option("linkerd", options, nil)
	}
}

// text returns a text of an object, or the default.
func text(of object, key, byDefault string) string {
	if s, ok := of[key].(string); ok {
		return s
	}
	return byDefault
}

var accessPolicies = []string{"all-authenticated", "all-unauthenticated", "cluster-authenticated", "cluster-unauthenticated", "deny", "audit"}

// linkerdServer draws the Server of a port, and its routes. [fitServers] chooses what it speaks.
func (g *generator) linkerdServer(namespace string, n int) []resource {
	name := serverNamesOfPorts[n]
	metadata := object{"name": name, "namespace": namespace}
	if g.OneIn(2) {
		metadata["labels"] = object{"tier": choice.Pick(g.Chooser, "front", "back")}
	}
	spec := object{"podSelector": g.selector(), "port": ports[n].Port}
	if ports[n].Name != "" && g.OneIn(2) {
		spec["port"] = ports[n].Name
	}
	version := choice.Pick(g.Chooser, "v1beta3", "v1beta3", "v1beta2", "v1beta1")
	if version == "v1beta3" && g.OneIn(3) {
		spec["accessPolicy"] = choice.Pick(g.Chooser, accessPolicies...)
	}
	if g.OneIn(2) {
		spec["proxyProtocol"] = choice.Pick(g.Chooser, "unknown", "HTTP/1", "HTTP/2", "gRPC", "gRPC", "opaque", "TLS")
	}
	out := []resource{{APIVersion: linkerdGroup + "/" + version, Kind: "Server", Metadata: metadata, Spec: spec}}
	if g.OneIn(2) {
		for _, route := range routes[:g.Number(1, 2)] {
			out = append(out, g.serverRoute(namespace, name, route, spec["proxyProtocol"] == "gRPC"))
		}
	}
	return out
}

// fitServers takes a protocol away from each Server that takes an inbound of another one, which
// would be refused.
func fitServers(policies []resource, inbounds []cases.Inbound) {
	for _, p := range policies {
		if p.Kind != "Server" {
			continue
		}
		says := p.Spec["proxyProtocol"]
		for _, in := range inbounds {
			if in.Workload.Namespace != p.Metadata["namespace"] || p.Spec["port"] != in.Port && p.Spec["port"] != in.Name {
				continue
			}
			one := in.Protocol == policy.HTTP
			if says == "HTTP/1" && !one && in.Protocol != policy.TCP || (says == "HTTP/2" || says == "gRPC") && one {
				delete(p.Spec, "proxyProtocol")
			}
		}
	}
}

// serverRoute draws a route of a Server.
func (g *generator) serverRoute(namespace, server, name string, grpc bool) resource {
	r := resource{Kind: "HTTPRoute", Metadata: object{"name": server + "-" + name, "namespace": namespace}, Spec: object{}}
	r.APIVersion = choice.Pick(g.Chooser, linkerdGroup+"/v1beta3", linkerdGroup+"/v1beta3", linkerdGroup+"/v1beta2", linkerdGroup+"/v1beta1", linkerdGroup+"/v1alpha1", gatewayGroup+"/v1", gatewayGroup+"/v1beta1")
	match := g.routeMatch
	if grpc {
		r.APIVersion, r.Kind, match = gatewayGroup+"/v1", "GRPCRoute", g.callMatch
	}
	parent := object{"group": linkerdGroup, "kind": "Server", "name": server}
	if g.OneIn(4) {
		parent["namespace"] = namespace
	}
	r.Spec["parentRefs"] = []object{parent}
	if g.OneIn(6) {
		// A route may be about the calls of clients too.
		r.Spec["parentRefs"] = []object{parent, {"group": "core", "kind": "Service", "name": "web", "port": 80}}
	} else if g.OneIn(6) {
		// It may be about Servers beside its own, which need not be there.
		parents := []object{}
		for _, other := range serverNamesOfPorts {
			if other != server {
				parents = append(parents, object{"group": linkerdGroup, "kind": "Server", "name": other})
			}
		}
		r.Spec["parentRefs"] = append(parents[:2:2], parent)
	}
	if g.OneIn(4) {
		r.Spec["hostnames"] = choice.Items(g.Chooser, 1, 2, func() string { return choice.Pick(g.Chooser, "web.example", "*.example", "api.web.example") })
	}
	r.Spec["rules"] = choice.Items(g.Chooser, 1, g.size.upTo(2), func() object {
		rule := object{}
		if !g.OneIn(8) {
			rule["matches"] = choice.Items(g.Chooser, 1, g.size.upTo(2), match)
		}
		if g.OneIn(8) {
			of := choice.Pick(g.Chooser, "request", "response")
			rule["filters"] = []object{{"type": map[string]string{"request": "RequestHeaderModifier", "response": "ResponseHeaderModifier"}[of], of + "HeaderModifier": object{choice.Pick(g.Chooser, "set", "add"): []object{{"name": "x-team", "value": "red"}}}}}
		}
		return rule
	})
	return r
}

// routeMatch draws a match of an HTTPRoute. Without fields it takes every request.
func (g *generator) routeMatch() object {
	fields := map[string]func() any{
		"path": func() any {
			switch g.Choose(5) {
			case 0:
				return object{"type": "Exact", "value": choice.Pick(g.Chooser, paths...)}
			case 1:
				return object{"type": "RegularExpression", "value": choice.Pick(g.Chooser, "/a.*", "/a/[a-c]", "^/(a|b)$", "/b", "^/a(/.*)?$")}
			case 2:
				return object{"value": choice.Pick(g.Chooser, paths...)}
			default:
				return object{"type": "PathPrefix", "value": choice.Pick(g.Chooser, paths...)}
			}
		},
		"method":  func() any { return choice.Pick(g.Chooser, methods...) },
		"headers": func() any { return g.headerMatches() },
		"queryParams": func() any {
			known := choice.Shuffled(g.Chooser, []string{"id", "x", "page"})
			return choice.Items(g.Chooser, 1, choice.Pick(g.Chooser, 1, 1, 1, 3), func() object {
				q := object{"name": known[0], "value": choice.Pick(g.Chooser, "1", "2", "red one")}
				known = known[1:]
				if g.OneIn(3) {
					q["type"] = "Exact"
				}
				return q
			})
		},
	}
	out := object{}
	most := 2
	if g.OneIn(4) {
		most = 5
	}
	for _, name := range choice.Shuffled(g.Chooser, []string{"path", "path", "method", "headers", "queryParams"})[:g.Number(most/2, most)] {
		out[name] = fields[name]()
	}
	return out
}

// callMatch draws a match of a GRPCRoute.
func (g *generator) callMatch() object {
	method := object{}
	if !g.OneIn(4) {
		method["service"] = choice.Pick(g.Chooser, "shop.Cart", "shop.Cart2")
	}
	if g.OneIn(2) || len(method) == 0 {
		method["method"] = choice.Pick(g.Chooser, "Get", "List")
	}
	if g.OneIn(4) {
		method["type"] = "Exact"
	}
	out := object{"method": method}
	if g.OneIn(4) {
		out["headers"] = g.headerMatches()
	}
	return out
}

func (g *generator) headerMatches() []object {
	known := choice.Shuffled(g.Chooser, []string{"x-role", "X-Team", "origin", "x-b3-flags"})
	return choice.Items(g.Chooser, 1, choice.Pick(g.Chooser, 2, 2, 2, 4), func() object {
		h := object{"name": known[0], "value": choice.Pick(g.Chooser, "admin", "user")}
		known = known[1:]
		if g.OneIn(3) {
			h["type"], h["value"] = "RegularExpression", choice.Pick(g.Chooser, "adm.*", "^(admin|user)$", "t[0-9]")
		} else if g.OneIn(3) {
			h["type"] = "Exact"
		}
		return h
	})
}

// authentications draws what policies of all namespaces may require.
func (g *generator) authentications(namespace string) []resource {
	var out []resource
	for _, name := range authenticationNames[:g.Number(0, 2)] {
		p := resource{APIVersion: linkerdGroup + "/v1alpha1", Kind: "MeshTLSAuthentication", Metadata: object{"name": name, "namespace": namespace}}
		if g.OneIn(2) {
			p.Spec = object{"identities": g.linkerdIdentities()}
		} else {
			p.Spec = object{"identityRefs": choice.Items(g.Chooser, 1, g.size.upTo(2), func() object {
				if g.OneIn(3) {
					return object{"kind": "Namespace", "name": choice.Pick(g.Chooser, "a", "ab", "b")}
				}
				return g.accountRef()
			})}
		}
		out = append(out, p)
	}
	if g.OneIn(2) {
		out = append(out, resource{
			APIVersion: linkerdGroup + "/v1alpha1", Kind: "NetworkAuthentication", Metadata: object{"name": networkName, "namespace": namespace},
			Spec: object{"networks": g.networks()},
		})
	}
	return out
}

// The names of authentications. The last ones are never there.
var authenticationNames = []string{"team", "partners", "gone"}

const networkName = "office"

func (g *generator) accountRef() object {
	ref := object{"kind": "ServiceAccount", "name": choice.Pick(g.Chooser, "x", "y", "xy", "web", "api")}
	if g.OneIn(2) {
		ref["namespace"] = choice.Pick(g.Chooser, "a", "ab", "b", "default")
	}
	if g.OneIn(4) {
		ref["group"] = choice.Pick(g.Chooser, "", "core")
	}
	return ref
}

func (g *generator) linkerdIdentities() []string {
	return choice.Items(g.Chooser, 1, g.size.upTo(2), func() string {
		switch g.Choose(8) {
		case 0:
			return "*"
		case 1:
			return "*." + choice.Pick(g.Chooser, "a", "ab") + g.identityEnd
		case 2:
			return "*" + g.identityEnd
		case 3:
			return choice.Pick(g.Chooser, identities...)
		case 4:
			return choice.Pick(g.Chooser, "x.a.example.org", "*.cluster.local", "*.x.a"+g.identityEnd)
		default:
			return choice.Pick(g.Chooser, "x", "y", "xy", "web", "api") + "." + choice.Pick(g.Chooser, "a", "ab", "b", "default") + g.identityEnd
		}
	})
}

func (g *generator) networks() []object {
	return choice.Items(g.Chooser, 1, 2, func() object {
		if g.OneIn(3) {
			return g.blockWithout()
		}
		return maps.Clone(choice.Pick(g.Chooser,
			object{"cidr": "10.64.0.0/24", "except": []string{"10.64.0.0/31"}}, object{"cidr": "0.0.0.0/0", "except": []string{"192.168.0.0/16", "10.64.0.1"}},
			object{"cidr": "2001:db8::/32"}, object{"cidr": "192.168.7.7"}, object{"cidr": "10.64.0.0/24"}))
	})
}

// linkerdPolicy draws an AuthorizationPolicy about a Server, a route or a namespace. A name in its
// references may be of nothing.
func (g *generator) linkerdPolicy(known []resource) resource {
	of := choice.Pick(g.Chooser, known...)
	namespace := of.Metadata["namespace"]
	target := object{"group": linkerdGroup, "kind": "Server", "name": serverNamesOfPorts[0]}
	switch {
	case g.OneIn(5):
		target = object{"kind": "Namespace", "name": namespace}
		if g.OneIn(3) {
			target["group"] = "core"
		}
	case of.Kind == "Server":
		target["name"] = of.Metadata["name"]
	case of.Kind == "HTTPRoute" || of.Kind == "GRPCRoute":
		target = object{"group": linkerdGroup, "kind": of.Kind, "name": of.Metadata["name"]}
		if of.APIVersion[:len(gatewayGroup)] == gatewayGroup {
			target["group"] = gatewayGroup
		}
	}
	refs := []object{}
	if !g.OneIn(8) {
		switch g.Choose(4) {
		case 0:
			refs = append(refs, g.accountRef())
		case 1:
		default:
			ref := object{"group": linkerdGroup, "kind": "MeshTLSAuthentication", "name": choice.Pick(g.Chooser, authenticationNames...)}
			if g.OneIn(3) {
				ref["namespace"] = choice.Pick(g.Chooser, namespaces...)
			}
			refs = append(refs, ref)
		}
		if g.OneIn(3) {
			ref := object{"group": linkerdGroup, "kind": "NetworkAuthentication", "name": networkName}
			if g.OneIn(3) {
				ref["namespace"] = choice.Pick(g.Chooser, namespaces...)
			}
			refs = append(refs, ref)
		}
	}
	return resource{
		APIVersion: linkerdGroup + "/v1alpha1", Kind: "AuthorizationPolicy", Metadata: object{"name": g.policyName(), "namespace": namespace},
		Spec: object{"targetRef": target, "requiredAuthenticationRefs": refs},
	}
}

// serverAuthorization draws the older form of a policy.
func (g *generator) serverAuthorization() resource {
	server := object{"name": choice.Pick(g.Chooser, serverNamesOfPorts...)}
	if g.OneIn(2) {
		server = object{"selector": g.selector()}
	}
	client := object{}
	switch g.Choose(5) {
	case 0:
		client["unauthenticated"] = true
	case 1:
		client["meshTLS"] = object{"unauthenticatedTLS": true}
	case 2:
		client["meshTLS"] = object{"serviceAccounts": choice.Items(g.Chooser, 1, 2, func() object {
			account := object{"name": choice.Pick(g.Chooser, "x", "y", "web")}
			if g.OneIn(2) {
				account["namespace"] = choice.Pick(g.Chooser, "a", "ab")
			}
			return account
		})}
	default:
		client["meshTLS"] = object{"identities": g.linkerdIdentities()}
	}
	if mesh, named := client["meshTLS"].(object); named {
		// What is stated to be false is what is not stated.
		if g.OneIn(4) {
			client["unauthenticated"] = false
		}
		if mesh["unauthenticatedTLS"] == nil && g.OneIn(4) {
			mesh["unauthenticatedTLS"] = false
		}
	}
	if g.OneIn(3) {
		client["networks"] = g.networks()
	}
	return resource{
		APIVersion: linkerdGroup + "/v1beta1", Kind: "ServerAuthorization", Metadata: object{"name": g.policyName(), "namespace": choice.Pick(g.Chooser, namespaces...)},
		Spec: object{"server": server, "client": client},
	}
}
