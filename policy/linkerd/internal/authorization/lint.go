package authorization

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/condition"
	"github.com/meshproof/meshproof/internal/spelling"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/linkerd/internal/object"
	"github.com/meshproof/meshproof/policy/linkerd/internal/route"
	"github.com/meshproof/meshproof/policy/manifest"
)

// linter collects warnings.
type linter struct {
	Set
	opts     Options
	warnings []policy.Warning
}

func (l *linter) warn(doc manifest.Document, of fmt.Stringer, kind warning.Kind, field, format string, args ...any) {
	l.warnings = append(l.warnings, policy.Warning{Kind: kind, Place: doc.Place(field), Policy: of.String(), Message: fmt.Sprintf(format, args...)})
}

// Lint warns of what is legal and hardly meant, kind by kind and each in its order. The inbounds are
// all that there are.
func Lint(s Set, inbounds []policy.Inbound, o Options) []policy.Warning {
	l := &linter{Set: s, opts: o}
	for _, server := range s.Servers {
		l.server(server, inbounds)
	}
	for _, g := range s.Grants {
		l.grant(g)
	}
	for _, p := range s.Policies {
		l.policy(p)
	}
	for _, m := range s.MeshTLS {
		l.identities(m.doc, m, "spec.identities", m.Spec.Identities)
		for i, ref := range m.Spec.IdentityRefs {
			if ref.Is("", "ServiceAccount") {
				l.gateway(m.doc, m, object.Item("spec.identityRefs", i), l.opts.account(ref.NamespaceIn(m.Metadata.Namespace), ref.Name))
			}
		}
	}
	for _, r := range s.Routes {
		l.route(r)
	}
	return l.warnings
}

func (l *linter) server(server Server, inbounds []policy.Inbound) {
	nearest, reason, least := policy.Workload{}, "", 0
	selected, taken := false, false
	for i, in := range inbounds {
		own := server.missWorkload(in.Workload)
		selected, taken = selected || own == "", taken || server.miss(in) == ""
		if far := l.distance(server, in.Workload); i == 0 || far < least {
			nearest, reason, least = in.Workload, own, far
		}
	}
	routes := l.routesOf(server)
	about := func(p Policy) bool { return p.isFor(server) || slices.ContainsFunc(routes, p.isForRoute) }
	switch {
	case len(inbounds) > 0 && !selected:
		l.warn(server.doc, server, warning.SelectsNothing, "spec.podSelector", "the Server selects no workload (%s: %s)%s", nearest.Name, reason, l.rivalOf(server, inbounds[0]))
	case len(inbounds) > 0 && !taken:
		l.warn(server.doc, server, warning.PortOfNoInbound, "spec.port", "no selected workload has an inbound on the port: a port is the workload's, not that of a Service%s", l.rivalOf(server, inbounds[0]))
	case slices.ContainsFunc(inbounds, server.closes):
		l.warn(server.doc, server, warning.HTTPOnTCP, "spec.proxyProtocol", "the inbound speaks no HTTP, and the proxy closes each connection that is not %s: write unknown, opaque or TLS", server.Spec.ProxyProtocol)
	case len(l.opts.defaults(server.Spec.AccessPolicy)) == 0 && !slices.ContainsFunc(l.Grants, func(g Grant) bool { return g.isFor(server) }) && !slices.ContainsFunc(l.Policies, about):
		l.warn(server.doc, server, warning.NothingOpens, "", "the Server closes its port, and nothing lets a caller in")
	}
	switch taken := func(in policy.Inbound) bool { return server.miss(in) == "" }; {
	case !slices.ContainsFunc(inbounds, taken), slices.ContainsFunc(inbounds, func(in policy.Inbound) bool { return taken(in) && in.Protocol != policy.TCP }):
		l.probes(server, routes)
		l.paths(server, routes)
		l.expressions(server, routes)
	case len(routes) > 0:
		l.warn(server.doc, server, warning.HTTPOnTCP, "spec.port", "the inbound speaks no HTTP: the routes of the Server have no part there")
	}
	if route.AreSettled(routes) {
		return
	}
	for a, b := range route.Ties(routes) {
		l.warn(server.doc, server, warning.RoutesTie, "", "%s and %s take the same requests: Linkerd takes the older one, and no file says which that is; here it is %s", b.Route, a.Route, b.Route)
	}
}

// closes reports whether the Server takes the inbound, and lets no connection to it in: the inbound is on
// tcp, and the Server says that it speaks HTTP.
func (s Server) closes(in policy.Inbound) bool {
	says := []string{protocolHTTP1, protocolHTTP2, protocolGRPC}
	return s.miss(in) == "" && in.Protocol == policy.TCP && slices.Contains(says, s.Spec.ProxyProtocol)
}

// probes warns of a Server with routes that lets no caller without an identity use any of them. Without a
// route Linkerd lets the probes of the kubelet in by itself.
func (l *linter) probes(server Server, routes []route.Route) {
	if len(routes) == 0 || server.kindOfRoutes() != route.HTTP {
		return
	}
	rules := append(l.rulesOf(server, l.opts), l.opts.defaults(server.Spec.AccessPolicy)...)
	for _, r := range routes {
		rules = append(rules, l.rulesOfRoute(r, l.opts)...)
	}
	if len(rules) > 0 && !slices.ContainsFunc(rules, func(r policy.Rule) bool { return !asksWhoCalls(r.When) }) {
		l.warn(server.doc, server, warning.ProbesRefused, "", "the Server has routes, so that Linkerd lets the probes of the kubelet in no more, and no policy lets a caller without an identity in: write a route for them, and a policy of it with a NetworkAuthentication")
	}
}

// asksWhoCalls reports whether a condition asks for the identity of the caller.
func asksWhoCalls(when policy.Condition) bool {
	for c := range policy.Walk(when) {
		if is, ok := c.(policy.Is); ok && is.Attribute == attribute.URISAN {
			return true
		}
	}
	return false
}

// distance is how far a workload is from what a Server selects.
func (l *linter) distance(server Server, w policy.Workload) int {
	far := spelling.Distance(server.Metadata.Namespace, cmp.Or(w.Namespace, object.DefaultNamespace))
	for _, e := range server.Spec.PodSelector.Misses(w.Labels) {
		far += 1000
		if len(e.Values) > 0 {
			far += spelling.Distance(e.Values[0], w.Labels[e.Key])
		}
	}
	return far
}

func (l *linter) grant(g Grant) {
	if !slices.ContainsFunc(l.Servers, g.isFor) {
		l.warn(g.doc, g, warning.DanglingReference, "spec.server", "there is no such Server in the namespace %s: the grant lets nobody in", g.Metadata.Namespace)
	}
	if mesh := g.Spec.Client.MeshTLS; mesh != nil {
		l.identities(g.doc, g, "spec.client.meshTLS.identities", mesh.Identities)
		for i, ref := range mesh.ServiceAccounts {
			l.gateway(g.doc, g, object.Item("spec.client.meshTLS.serviceAccounts", i), l.opts.account(object.Reference{Namespace: ref.Namespace}.NamespaceIn(g.Metadata.Namespace), ref.Name))
		}
	}
}

func (l *linter) policy(p Policy) {
	target, at := p.Spec.TargetRef, "spec.targetRef"
	ofRoute := !target.Is("", "Namespace") && !target.Is(object.Group, kindServer)
	found := slices.IndexFunc(l.Routes, p.isForRouteOfServer)
	switch {
	case !ofRoute && !slices.ContainsFunc(l.Servers, p.isFor), ofRoute && found < 0:
		l.warn(p.doc, p, warning.DanglingReference, at, "no Server or route is there that the policy is about: it lets nobody in%s", l.namesake(p))
	case ofRoute:
		l.opened(p, l.Routes[found])
	}
	if _, missing := l.client(p, l.opts); missing != "" {
		l.warn(p.doc, p, warning.DanglingReference, "spec.requiredAuthenticationRefs", "there is no %s: the policy lets nobody in", missing)
	}
	for i, ref := range *p.Spec.RequiredAuthenticationRefs {
		if ref.Is("", "ServiceAccount") {
			l.gateway(p.doc, p, object.Item("spec.requiredAuthenticationRefs", i), l.opts.account(ref.NamespaceIn(p.Metadata.Namespace), ref.Name))
		}
	}
	if len(*p.Spec.RequiredAuthenticationRefs) == 0 {
		l.warn(p.doc, p, warning.RuleForEverybody, "spec.requiredAuthenticationRefs", "the policy requires nothing: it lets everybody in, callers without an identity too")
	}
}

// namesake says what a route of the name of the target is, "" where there is none.
func (l *linter) namesake(p Policy) string {
	for _, r := range l.Routes {
		if p.isForRoute(r) {
			return fmt.Sprintf(" (%s has no Server among its parents: it is about the callers of a Service)", r)
		}
		if r.Head.Metadata.Namespace == p.Metadata.Namespace && r.Head.Metadata.Name == p.Spec.TargetRef.Name {
			return fmt.Sprintf(" (the %s %s is of the group %s)", r.Head.Kind, r.Head.Metadata.Name, r.Head.Group())
		}
	}
	return ""
}

// opened warns of a policy of a route whose Server is open to others for all routes.
func (l *linter) opened(p Policy, r route.Route) {
	for _, server := range l.Servers {
		if !slices.ContainsFunc(l.routesOf(server), func(own route.Route) bool { return own.Key() == r.Key() }) {
			continue
		}
		rules := append(l.rulesOf(server, l.opts), l.opts.defaults(server.Spec.AccessPolicy)...)
		rules = slices.DeleteFunc(rules, func(r policy.Rule) bool { return r.Origin == localhost })
		if len(rules) > 0 {
			l.warn(p.doc, p, warning.RouteOpened, "spec.targetRef", "%s lets callers use every route of the Server %s: a policy of a route adds to that, and narrows nothing", rules[0].Origin, server)
		}
	}
}

func (l *linter) identities(doc manifest.Document, of fmt.Stringer, field string, identities []string) {
	for i, text := range identities {
		l.gateway(doc, of, object.Item(field, i), l.opts.identity(text))
		// Where somebody writes the ID of an account as in Istio, its trust domain is mostly this one.
		isOfMesh := func(td spiffeid.TrustDomain) bool { return td == l.opts.TrustDomain || td.Name() == "cluster.local" }
		if id, err := spiffeid.FromString(text); err == nil && isOfMesh(id.TrustDomain()) && isAccount.MatchString(id.Path()) {
			l.warn(doc, of, warning.SPIFFEOfAccount, object.Item(field, i), "Linkerd knows a service account by a name that ends in %s, and takes a SPIFFE ID for that of a workload outside of the cluster: write the name", l.opts.accountSuffix())
		}
		if condition.IsNever(l.opts.identity(text)) {
			l.warn(doc, of, warning.UnknownIdentity, object.Item(field, i), "no service account of this mesh has the name %s: they end in %s, behind the account and its namespace", text, l.opts.accountSuffix())
		}
	}
}

// rivalOf names another Server that may take the port of a Server too, "" where there is none. No workload is made that two Servers take.
func (l *linter) rivalOf(server Server, in policy.Inbound) string {
	for _, other := range l.Servers {
		if both := other.fit(server.fit(in)); other.String() != server.String() && server.miss(both) == "" && other.miss(both) == "" {
			return fmt.Sprintf("; and Server %s may take that port of its workloads too: Linkerd takes the older one, and no file says which that is", other)
		}
	}
	return ""
}

// isAccount is met by the path of the SPIFFE ID of a service account.
var isAccount = regexp.MustCompile(`^/ns/[^/]+/sa/[^/]+$`)

// The service account of the gateway between clusters, as Linkerd installs it.
const (
	gatewayNamespace = "linkerd-multicluster"
	gatewayAccount   = "linkerd-gateway"
)

// gateway warns of the identity that the gateway between clusters shows for all of its callers.
func (l *linter) gateway(doc manifest.Document, of fmt.Stringer, field string, who policy.Condition) {
	if reflect.DeepEqual(who, l.opts.account(gatewayNamespace, gatewayAccount)) {
		l.warn(doc, of, warning.GatewayIdentity, field, "every caller of another cluster has the identity of the gateway: this lets all of them in")
	}
}

func (l *linter) route(r route.Route) {
	for _, name := range r.Servers {
		i := slices.IndexFunc(l.Servers, func(s Server) bool {
			return s.Metadata.Namespace == r.Head.Metadata.Namespace && s.Metadata.Name == name
		})
		switch {
		case i < 0:
			l.warnings = append(l.warnings, policy.Warning{Kind: warning.DanglingReference, Place: r.Place("spec.parentRefs"), Policy: r.String(), Message: fmt.Sprintf("there is no Server %s in the namespace %s", name, r.Head.Metadata.Namespace)})
		case l.Servers[i].kindOfRoutes() != r.Head.Kind:
			l.warnings = append(l.warnings, policy.Warning{Kind: warning.RouteNotServed, Place: r.Place("spec.parentRefs"), Policy: r.String(), Message: fmt.Sprintf(
				"the Server %s has the protocol %s: requests to it take no %s, so that the route has no part in who is let in", name, cmp.Or(l.Servers[i].Spec.ProxyProtocol, protocolUnknown), r.Head.Kind)})
		default:
			if calls := l.routesOfKind(l.Servers[i], route.GRPC); r.Head.Kind == route.HTTP && len(calls) > 0 {
				l.warnings = append(l.warnings, policy.Warning{Kind: warning.RouteNotServed, Place: r.Place("spec.parentRefs"), Policy: r.String(), Message: fmt.Sprintf(
					"the Server %s has %s too, beside which Linkerd accepts no HTTPRoute: no request takes this route, and the policies of the Server decide about every path", name, calls[0])})
			}
		}
	}
}
