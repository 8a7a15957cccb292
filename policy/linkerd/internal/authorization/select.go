package authorization

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/linkerd/internal/object"
	"github.com/meshproof/meshproof/policy/linkerd/internal/route"
)

// miss says why a Server does not take the inbound, "" where it does.
func (s Server) miss(in policy.Inbound) string {
	if reason := s.missWorkload(in.Workload); reason != "" {
		return reason
	}
	switch {
	case s.portName != "" && in.Name == "":
		return fmt.Sprintf("it takes the port %s, the inbound has no name", s.portName)
	case s.portName != "" && s.portName != in.Name:
		return fmt.Sprintf("it takes the port %s, the inbound has the name %q", s.portName, in.Name)
	case s.portName == "" && s.port != in.Port:
		return fmt.Sprintf("it takes the port %d, the inbound has %d", s.port, in.Port)
	default:
		return ""
	}
}

func (s Server) missWorkload(w policy.Workload) string {
	if namespace := cmp.Or(w.Namespace, object.DefaultNamespace); namespace != s.Metadata.Namespace {
		return fmt.Sprintf("it is of namespace %q, the workload of namespace %q", s.Metadata.Namespace, namespace)
	}
	if misses := s.Spec.PodSelector.Misses(w.Labels); len(misses) > 0 {
		return misses[0].Reason(w.Labels)
	}
	return ""
}

// serversOf returns the Servers that take the inbound.
func (s Set) serversOf(in policy.Inbound) (out []Server) {
	for _, server := range s.Servers {
		if server.miss(in) == "" {
			out = append(out, server)
		}
	}
	return out
}

// isFor reports whether the grant is about a Server.
func (g Grant) isFor(s Server) bool {
	switch {
	case g.Metadata.Namespace != s.Metadata.Namespace:
		return false
	case g.Spec.Server.Selector != nil:
		return len(g.Spec.Server.Selector.Misses(s.Metadata.Labels)) == 0
	default:
		return g.Spec.Server.Name == s.Metadata.Name
	}
}

// isFor reports whether the policy is about a Server, by its name or by its namespace.
func (p Policy) isFor(s Server) bool {
	target := p.Spec.TargetRef
	return p.Metadata.Namespace == s.Metadata.Namespace && (target.Is("", "Namespace") || target.Is(object.Group, kindServer) && target.Name == s.Metadata.Name)
}

// isForRoute reports whether the policy is about a route.
func (p Policy) isForRoute(r route.Route) bool {
	target := p.Spec.TargetRef
	return target.Is(r.Head.Group(), r.Head.Kind) && p.Metadata.Namespace == r.Head.Metadata.Namespace && target.Name == r.Head.Metadata.Name
}

// isForRouteOfServer reports whether the policy is about a route of a Server. A route of Services alone is about their callers: no policy
// judges what takes it.
func (p Policy) isForRouteOfServer(r route.Route) bool { return len(r.Servers) > 0 && p.isForRoute(r) }

// routesOf returns the routes that requests to a Server need. A Server of gRPC has GRPCRoutes only,
// and another one HTTPRoutes, unless a GRPCRoute names it too.
func (s Set) routesOf(server Server) []route.Route {
	kind := server.kindOfRoutes()
	if kind == route.HTTP && len(s.routesOfKind(server, route.GRPC)) > 0 {
		// The controller accepts no HTTPRoute beside a GRPCRoute of one parent (parent_has_conflicting_routes of linkerd2, since 2.17).
		return nil
	}
	return s.routesOfKind(server, kind)
}

// routesOfKind returns the routes of a kind that name a Server.
func (s Set) routesOfKind(server Server, kind string) (out []route.Route) {
	for _, r := range s.Routes {
		if r.Head.Metadata.Namespace == server.Metadata.Namespace && slices.Contains(r.Servers, server.Metadata.Name) && r.Head.Kind == kind {
			out = append(out, r)
		}
	}
	return out
}

// Rivals are the keys of routes of an inbound of which the older one counts.
func Rivals(s Set, in policy.Inbound) []string {
	var routes []route.Route
	for _, server := range s.serversOf(in) {
		routes = append(routes, s.routesOf(server)...)
	}
	return route.Rivals(routes)
}

func (s Server) kindOfRoutes() string {
	switch s.Spec.ProxyProtocol {
	case protocolGRPC:
		return route.GRPC
	case protocolOpaque, protocolTLS:
		return ""
	default:
		return route.HTTP
	}
}

// Check refuses an inbound that gives no program: two Servers take it, of which the older counts, or
// it speaks another protocol than its Server says.
func Check(s Set, in policy.Inbound) error {
	servers := s.serversOf(in)
	var errs []error
	for _, other := range servers[min(1, len(servers)):] {
		errs = append(errs, other.doc.Errorf("spec.port", "the Server at %s takes %s too, and the older one of the two counts: select other workloads or another port", servers[0].doc.Place(""), in))
	}
	if len(servers) == 0 {
		return nil
	}
	if says := servers[0].Spec.ProxyProtocol; servers[0].saysOtherwise(in) {
		errs = append(errs, servers[0].doc.Errorf("spec.proxyProtocol", "the Server says %s, and %s speaks %s: give both the same protocol", says, in, in.Protocol))
	}
	return errors.Join(errs...)
}

// saysOtherwise reports whether the inbound speaks another HTTP than the Server says. What the proxies make of its requests depends on
// those who call: one of two meshed proxies may translate.
func (s Server) saysOtherwise(in policy.Inbound) bool {
	says, one := s.Spec.ProxyProtocol, in.Protocol == policy.HTTP
	return says == protocolHTTP1 && !one && in.Protocol != policy.TCP || (says == protocolHTTP2 || says == protocolGRPC) && one
}

// refusal says why nothing can be asked on an inbound, "" where something can.
func (s Server) refusal(in policy.Inbound) string {
	if !s.saysOtherwise(in) {
		return ""
	}
	return fmt.Sprintf("it says %s, and another Server for the same inbound does not: what it does with requests of %s is not asked", s.Spec.ProxyProtocol, in.Protocol)
}

// Ignored has a line for each object that has no part in the decision of an inbound.
// Authentications have a part by the policies that name them.
func Ignored(s Set, in policy.Inbound, o Options) (out []string) {
	add := func(kind string, of fmt.Stringer, reason string) {
		if reason != "" {
			out = append(out, strings.TrimSpace(kind+" "+of.String())+": "+reason)
		}
	}
	for _, server := range s.Servers {
		add(kindServer, server, server.miss(in))
	}
	var server Server
	without := "no Server takes the inbound, so that its default inbound policy decides alone"
	if servers := s.serversOf(in); len(servers) > 0 {
		server, without = servers[0], ""
	}
	other := cmp.Or(without, "it is about another Server")
	for _, g := range s.Grants {
		if without != "" || !g.isFor(server) {
			add(kindGrant, g, other)
		}
	}
	routes := s.routesOf(server)
	for _, p := range s.Policies {
		_, missing := s.client(p, o)
		switch {
		case without == "" && (p.isFor(server) || slices.ContainsFunc(routes, p.isForRoute)):
			if missing != "" {
				add(kindPolicy, p, "it requires the "+missing+", which is not there: it lets nobody in")
			}
		case p.Spec.TargetRef.Is("", "Namespace") || p.Spec.TargetRef.Is(object.Group, kindServer):
			add(kindPolicy, p, other)
		default:
			add(kindPolicy, p, cmp.Or(without, "it is about a route that requests to this Server do not take"))
		}
	}
	for _, r := range s.Routes {
		if without != "" || !slices.ContainsFunc(routes, func(own route.Route) bool { return own.Key() == r.Key() }) {
			add("", r, cmp.Or(without, "requests to this Server do not take it"))
		}
	}
	return out
}
