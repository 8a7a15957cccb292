package authorization

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/condition"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/linkerd/internal/object"
	"github.com/meshproof/meshproof/policy/linkerd/internal/route"
)

// accountSuffix is the end of the name of every service account.
func (o Options) accountSuffix() string { return identityOfAccount + o.domain() }

// identityOfAccount stands between the name of a service account and the domain of its mesh.
const identityOfAccount = "serviceaccount.identity."

// domain is that of the mesh: of the own one, with the namespace of its control plane, or of the caller's.
func (o Options) domain() string {
	return cmp.Or(o.Foreign.Name, o.ControlPlaneNamespace+"."+o.IdentityDomain)
}

// account returns the condition that the caller is an account of the own mesh.
func (o Options) account(namespace, name string) policy.Condition {
	if o.Foreign.Name != "" {
		return policy.Never
	}
	return o.named(namespace, name)
}

// accountsOf returns the condition that the caller is an account of a namespace of the own mesh.
func (o Options) accountsOf(namespace string) policy.Condition {
	if o.Foreign.Name != "" {
		return policy.Never
	}
	return o.namedIn(namespace)
}

func (o Options) named(namespace, name string) policy.Condition {
	return attribute.URISAN.Exact(o.TrustDomain.IDString() + "/ns/" + namespace + "/sa/" + name)
}

func (o Options) namedIn(namespace string) policy.Condition {
	return attribute.URISAN.Prefix(o.TrustDomain.IDString() + "/ns/" + namespace + "/sa/")
}

// everyAccount is what a wildcard without a namespace takes.
func (o Options) everyAccount() policy.Condition {
	return attribute.URISAN.Prefix(o.TrustDomain.IDString() + "/ns/")
}

// identity returns the condition that the caller has an identity. It is Never for a name that no
// service account of the mesh has.
func (o Options) identity(written string) policy.Condition {
	end, wild := strings.CutPrefix(written, "*.")
	if o.Foreign.WholeName {
		if written == "*" || written == o.Foreign.Name || wild && strings.HasSuffix(o.Foreign.Name, "."+end) {
			return o.everyAccount()
		}
		return policy.Never
	}
	switch {
	case written == "*", wild && strings.HasSuffix("."+o.accountSuffix(), "."+end):
		return o.everyAccount()
	case strings.HasPrefix(written, "spiffe://"):
		return attribute.URISAN.Exact(written)
	}
	own, ok := strings.CutSuffix(end, "."+o.accountSuffix())
	if !ok {
		return policy.Never
	}
	// The name of an account may have dots, a namespace has none.
	at := strings.LastIndexByte(own, '.')
	name, namespace := own[:max(at, 0)], own[at+1:]
	switch {
	case wild && name == "":
		return o.namedIn(namespace)
	case wild:
		return policy.Is{Attribute: attribute.URISAN, Match: policy.Match{
			Kind: policy.Regex, Value: regexp.QuoteMeta(o.TrustDomain.IDString()+"/ns/"+namespace+"/sa/") + `.*\.` + regexp.QuoteMeta(name),
		}}
	case name == "":
		return policy.Never
	default:
		return o.named(namespace, name)
	}
}

// Strangers says of each identity that no service account of the mesh has who names it: a workload of
// another cluster may have it.
func Strangers(s Set, o Options) (out []string) {
	add := func(of object.Head, identities []string) {
		for _, text := range identities {
			if condition.IsNever(o.identity(text)) {
				out = append(out, fmt.Sprintf("%s names %s, which no service account of this mesh has", Origin(of), text))
			}
		}
	}
	for _, m := range s.MeshTLS {
		add(m.Head, m.Spec.Identities)
	}
	for _, g := range s.Grants {
		if mesh := g.Spec.Client.MeshTLS; mesh != nil {
			add(g.Head, mesh.Identities)
		}
	}
	return append(out, ties(s, o)...)
}

// ties says of each two routes that take the same requests that Linkerd takes the older one. No file says
// which that is: a route with another name may be the younger one now.
func ties(s Set, o Options) (out []string) {
	for _, server := range s.Servers {
		for a, b := range route.Ties(s.routesOf(server)) {
			text := fmt.Sprintf("of %s and %s, which take the same requests of %s (%s), the older one counts", b.Route, a.Route, server, a.When)
			if lets := append(s.grantsOf(b.Route, o), s.grantsOf(a.Route, o)...); len(lets) > 0 {
				text += ", with what lets callers in there: " + strings.Join(lets, "; ")
			}
			out = append(out, text)
		}
	}
	return out
}

// grantsOf returns a text for each policy of a route: its name, and whom it lets in.
func (s Set) grantsOf(r route.Route, o Options) (out []string) {
	for _, p := range s.Policies {
		if p.isForRoute(r) {
			when, _ := s.client(p, o)
			out = append(out, fmt.Sprintf("%s (%s)", Origin(p.Head), when))
		}
	}
	return out
}

// identities returns the condition that the caller is one that an authentication names.
func (m MeshTLSAuthentication) identities(o Options) policy.Condition {
	var any []policy.Condition
	for _, text := range m.Spec.Identities {
		any = append(any, o.identity(text))
	}
	for _, ref := range m.Spec.IdentityRefs {
		if ref.Is("", "Namespace") {
			any = append(any, o.accountsOf(ref.Name))
		} else {
			any = append(any, o.account(ref.NamespaceIn(m.Metadata.Namespace), ref.Name))
		}
	}
	return anyOf(any)
}

// client returns the condition that a ServerAuthorization lets the caller in. Without networks it is
// about those of the cluster.
func (g Grant) client(o Options) policy.Condition {
	var who policy.Condition = policy.Always
	if mesh := g.Spec.Client.MeshTLS; mesh != nil {
		var any []policy.Condition
		for _, text := range mesh.Identities {
			any = append(any, o.identity(text))
		}
		for _, ref := range mesh.ServiceAccounts {
			any = append(any, o.account(object.Reference{Namespace: ref.Namespace}.NamespaceIn(g.Metadata.Namespace), ref.Name))
		}
		if who = anyOf(any); mesh.UnauthenticatedTLS {
			// Every caller over TLS shows a certificate here.
			who = attribute.URISAN.Prefix("spiffe://")
		}
	}
	networks := inNetworks(g.Spec.Client.Networks)
	if len(g.Spec.Client.Networks) == 0 {
		networks = o.inCluster()
	}
	return condition.Both(who, networks)
}

// client returns the condition that an AuthorizationPolicy lets the caller in: all that it requires
// holds. Missing says what a reference names and is not there: then the policy lets nobody in.
func (s Set) client(p Policy, o Options) (when policy.Condition, missing string) {
	when = policy.Always
	for _, ref := range *p.Spec.RequiredAuthenticationRefs {
		namespace := ref.NamespaceIn(p.Metadata.Namespace)
		switch {
		case ref.Is("", "ServiceAccount"):
			when = condition.Both(when, o.account(namespace, ref.Name))
			continue
		case ref.Is(object.Group, kindMeshTLS):
			if i := slices.IndexFunc(s.MeshTLS, func(m MeshTLSAuthentication) bool { return m.String() == namespace+"/"+ref.Name }); i >= 0 {
				when = condition.Both(when, s.MeshTLS[i].identities(o))
				continue
			}
		default:
			if i := slices.IndexFunc(s.Networks, func(n NetworkAuthentication) bool { return n.String() == namespace+"/"+ref.Name }); i >= 0 {
				when = condition.Both(when, inNetworks(s.Networks[i].Spec.Networks))
				continue
			}
		}
		return policy.Never, ref.Kind + " " + namespace + "/" + ref.Name
	}
	return when, ""
}

// access returns the condition that an access policy lets the caller in.
func (o Options) access(policyName string) policy.Condition {
	switch policyName {
	case allUnauthenticated, audit:
		return policy.Always
	case allAuthenticated:
		return o.everyAccount()
	case clusterUnauthenticated:
		return o.inCluster()
	case clusterAuthenticated:
		return condition.Both(o.everyAccount(), o.inCluster())
	default:
		return policy.Never
	}
}

func (o Options) inCluster() policy.Condition {
	var networks []Network
	for _, text := range o.ClusterNetworks {
		networks = append(networks, Network{CIDR: text})
	}
	return inNetworks(networks)
}

// inNetworks returns the condition that the caller's address is in one of the networks.
func inNetworks(networks []Network) policy.Condition {
	in := func(text string) policy.Condition {
		of, _ := blockOf(text)
		if of.IsSingleIP() {
			return attribute.SourceAddress.Exact(of.Addr().String())
		}
		return policy.Is{Attribute: attribute.SourceAddress, Match: policy.Match{Kind: policy.CIDR, Value: of.String()}}
	}
	var any []policy.Condition
	for _, network := range networks {
		var except []policy.Condition
		for _, text := range network.Except {
			except = append(except, in(text))
		}
		any = append(any, condition.Both(in(network.CIDR), condition.None(except)))
	}
	return anyOf(any)
}

// loopback are the addresses from which the proxy lets in what calls beside it (ServerPolicy of linkerd2-proxy): no others of 127.0.0.0/8.
var loopback = inNetworks([]Network{{CIDR: "127.0.0.1"}, {CIDR: "::1"}})

// anyOf leaves out conditions that condition.IsNever hold.
func anyOf(conditions []policy.Condition) policy.Condition {
	return condition.Any(slices.DeleteFunc(conditions, condition.IsNever))
}
