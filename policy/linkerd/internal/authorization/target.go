package authorization

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/linkerd/internal/object"
	"github.com/meshproof/meshproof/policy/linkerd/internal/route"
)

// Targets returns what the Servers take, in order: the other objects are about Servers. An object
// without a Server of the set has a target of its own, which is elsewhere.
func Targets(s Set) (out []capability.Target) {
	for _, server := range s.Servers {
		t := capability.Target{
			Policy: server.String(), Name: server.Metadata.Name, Place: server.doc.Place(""), Key: fmt.Sprint(server.Metadata.Namespace, server.Spec.PodSelector.Requirements(), server.port, server.portName, server.Spec.ProxyProtocol),
			Miss:    func(in policy.Inbound) capability.Reason { return capability.ReasonOf(server.miss(in)) },
			Refuses: server.refusal, Fit: server.fit, Vary: server.vary, Linked: true, Sole: true,
		}
		out = append(out, t)
	}
	return append(out, s.elsewhere()...)
}

// elsewhere returns the objects that are about no Server of the set.
func (s Set) elsewhere() (out []capability.Target) {
	add := func(of object.Head, place, lacks string, inert bool, outside string) {
		t := capability.Elsewhere(Origin(of), of.Metadata.Name, place, lacks+" is not among the documents", inert)
		t.OutsideText = outside
		out = append(out, t)
	}
	for _, g := range s.Grants {
		if !slices.ContainsFunc(s.Servers, g.isFor) {
			outside := ""
			if g.Spec.Server.Selector == nil {
				outside = outsideServer(g.Metadata.Namespace, g.Spec.Server.Name)
			}
			add(g.Head, g.Place(""), "the Server that it is about", false, outside)
		}
	}
	for _, r := range s.Routes {
		if len(r.Servers) == 0 {
			out = append(out, capability.Elsewhere(Origin(r.Head), r.Head.Metadata.Name, r.Place(""), "it is about the callers of a Service, and meshproof proves what Servers let in", true))
		}
		if !s.hasServers(r) {
			add(r.Head, r.Place(""), "a Server that it names", false, "")
		}
	}
	var absent []Policy
	for _, p := range s.Policies {
		if !s.hasTarget(p) {
			absent = append(absent, p)
			outside := ""
			if target := p.Spec.TargetRef; target.Is(object.Group, kindServer) {
				outside = outsideServer(p.Metadata.Namespace, target.Name)
			}
			add(p.Head, p.Place(""), "the Server or the route that it is about", false, outside)
		}
	}
	// An authentication decides by the policies that name it.
	unnamed := func(of object.Head, kind string) bool {
		names := func(p Policy) bool {
			return slices.ContainsFunc(*p.Spec.RequiredAuthenticationRefs, func(ref object.Reference) bool {
				return ref.Is(object.Group, kind) && ref.NamespaceIn(p.Metadata.Namespace)+"/"+ref.Name == of.String()
			})
		}
		return slices.ContainsFunc(absent, names) || !slices.ContainsFunc(s.Policies, names)
	}
	for _, m := range s.MeshTLS {
		if unnamed(m.Head, kindMeshTLS) {
			add(m.Head, m.doc.Place(""), "a policy of a Server that names it", true, outsidePolicy(kindMeshTLS, m.Head))
		}
	}
	for _, n := range s.Networks {
		if unnamed(n.Head, kindNetwork) {
			add(n.Head, n.doc.Place(""), "a policy of a Server that names it", true, outsidePolicy(kindNetwork, n.Head))
		}
	}
	return out
}

// hasTarget reports whether the Server or the route is there that the policy is about.
func (s Set) hasTarget(p Policy) bool {
	return slices.ContainsFunc(s.Servers, p.isFor) || slices.ContainsFunc(s.Routes, func(r route.Route) bool { return p.isForRouteOfServer(r) && s.hasServers(r) })
}

// hasServers reports whether all Servers are there that a route names.
func (s Set) hasServers(r route.Route) bool {
	return !slices.ContainsFunc(r.Servers, func(name string) bool {
		return !slices.ContainsFunc(s.Servers, func(server Server) bool {
			return server.Metadata.Namespace == r.Head.Metadata.Namespace && server.Metadata.Name == name
		})
	})
}

// vary returns the inbound with other labels of its workload that the selector tells apart, and on
// the port next to the Server's, which the Server does not take.
func (s Server) vary(in policy.Inbound) (out []policy.Inbound) {
	for _, labels := range s.Spec.PodSelector.Vary(in.Workload.Labels) {
		varied := in
		varied.Workload.Labels = labels
		out = append(out, varied)
	}
	if s.port != 0 && in.Port == s.port {
		in.Port = in.Port%65535 + 1
		out = append(out, in)
	}
	return out
}

// fit changes the namespace, the labels, the port and the protocol of the inbound so that the
// Server takes it.
func (s Server) fit(in policy.Inbound) policy.Inbound {
	in.Workload.Namespace, in.Workload.Labels = s.Metadata.Namespace, s.Spec.PodSelector.Fit(in.Workload.Labels)
	if s.portName != "" {
		in.Name = s.portName
	} else {
		in.Port = s.port
	}
	switch is, says := in.Protocol, s.Spec.ProxyProtocol; {
	case says == protocolHTTP1 && is != policy.TCP:
		in.Protocol = policy.HTTP
	case says == protocolHTTP2 && is == policy.HTTP:
		in.Protocol = policy.HTTP2
	case says == protocolGRPC && is == policy.HTTP:
		in.Protocol = policy.GRPC
	}
	return in
}
