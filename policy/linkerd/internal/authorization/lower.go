package authorization

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/condition"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/linkerd/internal/object"
	"github.com/meshproof/meshproof/policy/linkerd/internal/route"
)

// auditShadow is the name of the shadow of an inbound whose access policy is audit: it denies what
// passes for no other reason.
const auditShadow = "linkerd_audit_"

// localhost is the name of the rule that lets in what calls from a loopback address.
const localhost = "default/localhost"

// Lower returns the decision program of an inbound: a gate of allow rules, one for each policy. On tcp,
// and where the Server is opaque, it judges connections. Where the Server has routes, each way to take
// one of them has a gate of its own, and no request passes without a route. A Server of gRPC has one route by default, for calls.
//
// Of the rules that match, the rule whose name sorts first is the effective one.
func Lower(s Set, in policy.Inbound, o Options) policy.Program {
	layer := in.Protocol.Layer()
	access, rules := o.defaultPolicy(in.Workload), []policy.Rule(nil)
	var routes []route.Route
	if servers := s.serversOf(in); len(servers) > 0 {
		server := servers[0]
		access, rules = server.Spec.AccessPolicy, s.rulesOf(server, o)
		if routes = s.routesOf(server); len(routes) == 0 && server.kindOfRoutes() == route.GRPC {
			routes = []route.Route{route.AllCalls(server.Head)}
		}
		switch server.Spec.ProxyProtocol {
		case protocolOpaque, protocolTLS:
			layer = policy.L4
		case protocolHTTP1, protocolHTTP2, protocolGRPC:
			if layer == policy.L4 {
				// The proxy closes a connection that does not speak what the Server says.
				return policy.Program{Gates: []policy.Gate{{Layer: policy.L4, Form: policy.Named}}}
			}
		}
	}
	rules = append(rules, o.defaults(access)...)
	if layer == policy.L4 || len(routes) == 0 {
		gate, shadows := gates(layer, rules, access)
		return policy.Program{Gates: []policy.Gate{gate}, Shadows: shadows}
	}
	program := policy.Program{RoutesOnly: true}
	for _, way := range route.Alternatives(routes, s.Oldest) {
		gate, shadows := gates(layer, slices.Concat(rules, s.rulesOfRoute(way.Route, o)), access)
		program.Routes = append(program.Routes, policy.Route{Name: way.Name, When: way.When, Gates: []policy.Gate{gate}, Shadows: shadows})
	}
	return program
}

// gates returns the gate of the rules, and the shadow of an access policy that only audits.
func gates(layer policy.Layer, rules []policy.Rule, access string) (gate policy.Gate, shadows []policy.Gate) {
	rules = slices.Clone(rules)
	slices.SortStableFunc(rules, func(a, b policy.Rule) int { return strings.Compare(a.Origin, b.Origin) })
	gate = policy.Gate{Layer: layer, Form: policy.Named, Rules: rules}
	if access != audit {
		return gate, nil
	}
	own := slices.DeleteFunc(slices.Clone(rules), func(r policy.Rule) bool { return r.Origin == "default/"+audit })
	return gate, []policy.Gate{{Name: auditShadow, Layer: layer, Form: policy.Named, Rules: own}}
}

// allow returns the rule that lets callers in, unless there are none.
func allow(origin string, when policy.Condition) []policy.Rule {
	if condition.IsNever(when) {
		return nil
	}
	return []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: origin}, When: when}}
}

// defaults returns the rules of an access policy and of the installation.
func (o Options) defaults(access string) []policy.Rule {
	rules := allow("default/"+access, o.access(access))
	if o.LoopbackBypass {
		rules = append(rules, allow(localhost, loopback)...)
	}
	return rules
}

// Origin returns the name under which Envoy reports an object that lets callers in.
func Origin(h object.Head) string { return strings.ToLower(h.Kind) + "/" + h.String() }

// rulesOf returns the rules about all requests to a Server.
func (s Set) rulesOf(server Server, o Options) (out []policy.Rule) {
	for _, g := range s.Grants {
		if g.isFor(server) {
			out = append(out, allow(Origin(g.Head), g.client(o))...)
		}
	}
	for _, p := range s.Policies {
		if p.isFor(server) {
			when, _ := s.client(p, o)
			out = append(out, allow(Origin(p.Head), when)...)
		}
	}
	return out
}

func (s Set) rulesOfRoute(r route.Route, o Options) (out []policy.Rule) {
	for _, p := range s.Policies {
		if p.isForRoute(r) {
			when, _ := s.client(p, o)
			out = append(out, allow(Origin(p.Head), when)...)
		}
	}
	return out
}
