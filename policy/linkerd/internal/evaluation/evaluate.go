// Package evaluation judges one request straight from the text of the policies, as the proxy of
// Linkerd does: it picks a route by comparing how much of the request each one covers.
//
// It is the second opinion on the packages authorization and route, and on [policy.Decide].
//
// It guarantees that it shares the parsed text with them and nothing else: it selects and matches
// by itself, and calls no function of theirs. A test in internal/architecture holds that.
package evaluation

import (
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/linkerd/internal/authorization"
	"github.com/meshproof/meshproof/policy/linkerd/internal/object"
	"github.com/meshproof/meshproof/policy/linkerd/internal/route"
	"github.com/meshproof/meshproof/policy/manifest"
)

// ForInbound selects the policies of the inbound, and returns a function that judges requests.
func ForInbound(s authorization.Set, in policy.Inbound, o authorization.Options) func(policy.Request) policy.Decision {
	q := questionOf(s, in, o)
	return func(r policy.Request) policy.Decision {
		d, _, _ := q.judge(r)
		return d
	}
}

// Locate returns a function that says "file:line" of the policy that decides a request, and of
// the policy that decides in the shadow; "" where none does.
func Locate(s authorization.Set, in policy.Inbound, o authorization.Options) func(policy.Request) (decides, shadow string) {
	q := questionOf(s, in, o)
	return func(r policy.Request) (string, string) {
		_, decides, shadow := q.judge(r)
		return decides, shadow
	}
}

// question is an inbound with what the text says about it.
type question struct {
	set     authorization.Set
	inbound policy.Inbound
	opts    authorization.Options
	server  *authorization.Server
	// access is the access policy of the Server, or the default inbound policy.
	access string
	routes []route.Route
}

func questionOf(s authorization.Set, in policy.Inbound, o authorization.Options) question {
	q := question{set: s, inbound: in, opts: o}
	namespace := in.Workload.Namespace
	if namespace == "" {
		namespace = "default"
	}
	for i := range s.Servers {
		server := &s.Servers[i]
		if q.server == nil && server.Metadata.Namespace == namespace && selects(server.Spec.PodSelector, in.Workload.Labels) && isPort(server.Spec.Port, in) {
			q.server = server
		}
	}
	if q.server == nil {
		q.access = o.DefaultInboundPolicy
		for _, of := range []string{namespace, namespace + "/" + in.Workload.Name} {
			if says, ok := o.Annotations[of]["config.linkerd.io/default-inbound-policy"]; ok {
				q.access = says
			}
		}
		return q
	}
	q.access = q.server.Spec.AccessPolicy
	wants := "HTTPRoute"
	if q.server.Spec.ProxyProtocol == "gRPC" {
		wants = "GRPCRoute"
	}
	calls := false
	for _, r := range s.Routes {
		for _, name := range r.Servers {
			if name != q.server.Metadata.Name || r.Head.Metadata.Namespace != namespace {
				continue
			}
			calls = calls || r.Head.Kind == "GRPCRoute"
			if r.Head.Kind == wants {
				q.routes = append(q.routes, r)
			}
			break
		}
	}
	if calls && wants == "HTTPRoute" {
		// The two kinds are in conflict, and those of HTTP are not accepted.
		q.routes = nil
	}
	return q
}

func isPort(port manifest.Document, in policy.Inbound) bool {
	var number int
	if port.Decode(&number) == nil {
		return number == int(in.Port)
	}
	var name string
	return port.Decode(&name) == nil && name == in.Name
}

// selects reports whether labels meet all that a selector asks for.
func selects(s *object.Selector, labels map[string]string) bool {
	for key, want := range s.MatchLabels {
		if value, ok := labels[key]; !ok || value != want {
			return false
		}
	}
	for _, e := range s.MatchExpressions {
		value, ok := labels[e.Key]
		listed := false
		for _, v := range e.Values {
			listed = listed || ok && v == value
		}
		if e.Operator == "In" && !listed || e.Operator == "NotIn" && listed || e.Operator == "Exists" && !ok || e.Operator == "DoesNotExist" && ok {
			return false
		}
	}
	return true
}

// permit is something that lets the caller in.
type permit struct{ origin, place string }

// leastName returns the permit whose name sorts first, nil for none.
func leastName(permits []permit) *permit {
	var found *permit
	for i := range permits {
		if found == nil || permits[i].origin < found.origin {
			found = &permits[i]
		}
	}
	return found
}

// judge follows the proxy: the route first, then who may use it.
func (q question) judge(r policy.Request) (d policy.Decision, decides, shadow string) {
	connection := q.inbound.Protocol == policy.TCP
	if q.server != nil {
		switch says := q.server.Spec.ProxyProtocol; {
		case says == "opaque" || says == "TLS":
			connection = true
		case connection && (says == "HTTP/1" || says == "HTTP/2" || says == "gRPC"):
			return policy.Decision{}, "", ""
		}
	}
	d.Layer = policy.L7
	if connection {
		d.Layer = policy.L4
	}
	var taken *route.Route
	if !connection && len(q.routes) > 0 {
		if taken = q.pick(r); taken == nil {
			d.Effect = policy.NoRoute
			return d, "", ""
		}
	}
	if !connection && len(q.routes) == 0 && q.server != nil && q.server.Spec.ProxyProtocol == "gRPC" && !isCall(r) {
		d.Effect = policy.NoRoute
		return d, "", ""
	}
	permits := q.permits(r, taken)
	if q.access == "audit" {
		d.Shadowed = true
		if found := leastName(permits); found != nil {
			d.Shadow, shadow = policy.Verdict{Effect: policy.Allow, Origin: found.origin}, found.place
		}
		permits = append(permits, permit{origin: "default/audit"})
	}
	if found := leastName(permits); found != nil {
		d.Effect, d.Origin, decides = policy.Allow, found.origin, found.place
	}
	return d, decides, shadow
}

// permits are all that let the caller in, without the access policy audit.
func (q question) permits(r policy.Request, taken *route.Route) (out []permit) {
	who := caller{q.opts, r}
	add := func(lets bool, origin, place string) {
		if lets {
			out = append(out, permit{origin, place})
		}
	}
	if q.access != "audit" && q.access != "" {
		add(who.access(q.access), "default/"+q.access, "")
	}
	if q.opts.LoopbackBypass {
		// An address of IPv4 that is written as one of IPv6 is no loopback address to Envoy.
		add(who.hasAddress("127.0.0.1") || who.hasAddress("::1"), "default/localhost", "")
	}
	if q.server == nil {
		return out
	}
	namespace := q.server.Metadata.Namespace
	for _, g := range q.set.Grants {
		choice := g.Spec.Server
		about := choice.Name == q.server.Metadata.Name
		if choice.Selector != nil {
			about = selects(choice.Selector, q.server.Metadata.Labels)
		}
		if about && g.Metadata.Namespace == namespace {
			add(who.client(g), "serverauthorization/"+namespace+"/"+g.Metadata.Name, g.Place(""))
		}
	}
	for _, p := range q.set.Policies {
		target := p.Spec.TargetRef
		about := strings.EqualFold(target.Kind, "Namespace")
		switch {
		case strings.EqualFold(target.Kind, "Server"):
			about = target.Name == q.server.Metadata.Name
		case !about && taken != nil:
			group, _, _ := strings.Cut(taken.Head.APIVersion, "/")
			about = strings.EqualFold(target.Kind, taken.Head.Kind) && strings.EqualFold(target.Group, group) && target.Name == taken.Head.Metadata.Name
		}
		if about && p.Metadata.Namespace == namespace {
			add(q.requires(p, who), "authorizationpolicy/"+namespace+"/"+p.Metadata.Name, p.Place(""))
		}
	}
	return out
}

// requires reports whether the caller has all that a policy requires.
func (q question) requires(p authorization.Policy, who caller) bool {
	for _, ref := range *p.Spec.RequiredAuthenticationRefs {
		namespace := p.Metadata.Namespace
		if ref.Namespace != nil {
			namespace = *ref.Namespace
		}
		has := false
		switch strings.ToLower(ref.Kind) {
		case "serviceaccount":
			has = who.isAccount(namespace, ref.Name)
		case "meshtlsauthentication":
			for _, m := range q.set.MeshTLS {
				has = has || m.Metadata.Namespace == namespace && m.Metadata.Name == ref.Name && who.named(m)
			}
		default:
			for _, n := range q.set.Networks {
				has = has || n.Metadata.Namespace == namespace && n.Metadata.Name == ref.Name && who.inNetworks(n.Spec.Networks)
			}
		}
		if !has {
			return false
		}
	}
	return true
}
