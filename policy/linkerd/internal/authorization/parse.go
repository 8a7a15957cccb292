package authorization

import (
	"errors"
	"net/netip"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/meshproof/meshproof/internal/policylist"
	"github.com/meshproof/meshproof/policy/linkerd/internal/object"
	"github.com/meshproof/meshproof/policy/linkerd/internal/route"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Set is what the documents say, each kind in their order. It is immutable.
type Set struct {
	Servers  []Server
	Grants   []Grant
	Policies []Policy
	MeshTLS  []MeshTLSAuthentication
	Networks []NetworkAuthentication
	Routes   []route.Route
	// Oldest is the key of the route that is older than the others, and empty where that is not known.
	Oldest string
}

// Owns reports whether the document is a policy of Linkerd or a route of a Server, in any version.
func Owns(doc manifest.Document) bool {
	head := doc.Type()
	group, _, _ := strings.Cut(head.APIVersion, "/")
	return head.Type == "" && group == object.Group && versions[head.Kind] != nil || route.Owns(doc)
}

// Parse reads each document, and refuses an object that is there twice. Where there is an error it
// returns an empty set, and all errors joined, one line each.
func Parse(docs []manifest.Document) (Set, error) {
	var out Set
	var errs []error
	names := policylist.FirstPlaces{}
	for _, doc := range docs {
		name, err := out.add(doc)
		if err == nil {
			err = names.Add(doc, name)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return Set{}, err
	}
	return out, nil
}

// add reads one document, and returns what to call the object.
func (s *Set) add(doc manifest.Document) (name string, err error) {
	var head object.Head
	r := &object.Reader{Doc: doc}
	switch kind := doc.Type().Kind; kind {
	case kindServer:
		head, err = read(r, &s.Servers, func(of *Server) *object.Head { of.doc = doc; return &of.Head }, checkServer)
	case kindGrant:
		head, err = read(r, &s.Grants, func(of *Grant) *object.Head { of.doc = doc; return &of.Head }, checkGrant)
	case kindPolicy:
		head, err = read(r, &s.Policies, func(of *Policy) *object.Head { of.doc = doc; return &of.Head }, checkPolicy)
	case kindMeshTLS:
		head, err = read(r, &s.MeshTLS, func(of *MeshTLSAuthentication) *object.Head { of.doc = doc; return &of.Head }, checkMeshTLS)
	case kindNetwork:
		head, err = read(r, &s.Networks, func(of *NetworkAuthentication) *object.Head { of.doc = doc; return &of.Head }, checkNetwork)
	default:
		var own route.Route
		own, err = route.Parse(doc)
		head, s.Routes = own.Head, append(s.Routes, own)
		return own.Key(), err
	}
	return head.Kind + " " + head.String(), err
}

// read decodes a document, completes its head, and adds the object to a list.
func read[T any](r *object.Reader, to *[]T, headOf func(*T) *object.Head, check func(*object.Reader, *T)) (object.Head, error) {
	var of T
	if err := r.Doc.Decode(&of); err != nil {
		return object.Head{}, err
	}
	head := headOf(&of)
	r.Complete(head, versions[head.Kind])
	check(r, &of)
	*to = append(*to, of)
	return *head, r.Err()
}

// The protocols of a Server; "" means unknown.
const (
	protocolUnknown = "unknown"
	protocolHTTP1   = "HTTP/1"
	protocolHTTP2   = "HTTP/2"
	protocolGRPC    = "gRPC"
	protocolOpaque  = "opaque"
	protocolTLS     = "TLS"
)

var protocols = []string{"", protocolUnknown, protocolHTTP1, protocolHTTP2, protocolGRPC, protocolOpaque, protocolTLS}

func checkServer(r *object.Reader, s *Server) {
	switch spec := s.Spec; {
	case object.IsSet(spec.ExternalWorkloadSelector):
		r.Refuse("spec.externalWorkloadSelector", "meshproof knows no workload outside of the cluster: the workloads of a case are pods")
	case spec.PodSelector == nil:
		r.Refuse("spec.podSelector", "the selector is missing: write {} to select all pods of the namespace")
	default:
		r.CheckSelector("spec.podSelector", *spec.PodSelector)
	}
	if err := s.Spec.Port.Decode(&s.port); err != nil || s.port == 0 {
		s.port = 0
		if s.Spec.Port.Decode(&s.portName) != nil || validation.IsValidPortName(s.portName) != nil {
			r.Refuse("spec.port", "the port is neither a number from 1 to 65535 nor the name of a port")
		}
	}
	if !slices.Contains(protocols, s.Spec.ProxyProtocol) {
		r.Refuse("spec.proxyProtocol", "%q is unknown: use one of %s", s.Spec.ProxyProtocol, strings.Join(protocols[1:], ", "))
	}
	if s.Spec.AccessPolicy == "" {
		return
	}
	if _, version, _ := strings.Cut(s.APIVersion, "/"); version != versions[kindServer][0] {
		r.Refuse("spec.accessPolicy", "version %s of a Server has no access policy: use %s", version, versions[kindServer][0])
	}
	checkAccess(r, "spec.accessPolicy", s.Spec.AccessPolicy)
}

func checkGrant(r *object.Reader, g *Grant) {
	server, client := g.Spec.Server, g.Spec.Client
	switch {
	case server.Name != "" && server.Selector != nil:
		r.Refuse("spec.server.selector", "a ServerAuthorization names a Server or selects some, not both")
	case server.Selector != nil:
		r.CheckSelector("spec.server.selector", *server.Selector)
	default:
		r.CheckName("spec.server.name", server.Name)
	}
	checkNetworks(r, "spec.client.networks", client.Networks)
	if client.MeshTLS == nil {
		if !client.Unauthenticated {
			r.Refuse("spec.client", "the client is missing: write meshTLS, or unauthenticated: true")
		}
		return
	}
	mesh, named := client.MeshTLS, len(client.MeshTLS.Identities)+len(client.MeshTLS.ServiceAccounts) > 0
	switch {
	case client.Unauthenticated:
		r.Refuse("spec.client.unauthenticated", "it must be false beside meshTLS: leave one of them out")
	case mesh.UnauthenticatedTLS && named:
		r.Refuse("spec.client.meshTLS.unauthenticatedTLS", "it must be false beside identities and serviceAccounts: leave one of them out")
	case !mesh.UnauthenticatedTLS && !named:
		r.Refuse("spec.client.meshTLS", "it names no client: write identities or serviceAccounts")
	}
	for i, identity := range mesh.Identities {
		checkIdentity(r, object.Item("spec.client.meshTLS.identities", i), identity)
	}
	for i, account := range mesh.ServiceAccounts {
		at := object.Item("spec.client.meshTLS.serviceAccounts", i)
		r.CheckName(at+".name", account.Name)
		if account.Namespace != nil {
			r.CheckNamespace(at+".namespace", *account.Namespace)
		}
	}
}

func checkPolicy(r *object.Reader, p *Policy) {
	target := p.Spec.TargetRef
	checkGroup(r, "spec.targetRef", target)
	switch {
	case target.Is("", "Namespace"):
		if target.Name != p.Metadata.Namespace {
			r.Refuse("spec.targetRef.name", "the policy is of the namespace %s: it cannot be about %s", p.Metadata.Namespace, target.Name)
		}
	case target.Is(object.Group, kindServer), target.Is(object.Group, route.HTTP), target.Is(object.GatewayGroup, route.HTTP), target.Is(object.GatewayGroup, route.GRPC):
		r.CheckName("spec.targetRef.name", target.Name)
	default:
		r.Refuse("spec.targetRef.kind", "%q of the group %q is no target: use Server, HTTPRoute, GRPCRoute or Namespace", target.Kind, target.Group)
	}
	if target.Namespace != nil {
		r.Refuse("spec.targetRef.namespace", "a target is of the policy's own namespace: leave the field out")
	}
	if p.Spec.RequiredAuthenticationRefs == nil {
		r.Refuse("spec.requiredAuthenticationRefs", "the list is missing: write [] to let everybody in")
		return
	}
	identities, networks := 0, 0
	for i, ref := range *p.Spec.RequiredAuthenticationRefs {
		at := object.Item("spec.requiredAuthenticationRefs", i)
		checkGroup(r, at, ref)
		r.CheckName(at+".name", ref.Name)
		if ref.Namespace != nil {
			r.CheckNamespace(at+".namespace", *ref.Namespace)
		}
		switch {
		case ref.Is(object.Group, kindMeshTLS), ref.Is("", "ServiceAccount"):
			if identities++; identities > 1 {
				r.Refuse(at, "a policy has one MeshTLSAuthentication or ServiceAccount: put the identities into one MeshTLSAuthentication")
			}
		case ref.Is(object.Group, kindNetwork):
			if networks++; networks > 1 {
				r.Refuse(at, "a policy has one NetworkAuthentication: put the networks into one")
			}
		default:
			r.Refuse(at+".kind", "%q of the group %q is no authentication: use MeshTLSAuthentication, NetworkAuthentication or ServiceAccount", ref.Kind, ref.Group)
		}
	}
}

// checkGroup refuses a version behind the group, which names no group.
func checkGroup(r *object.Reader, field string, ref object.Reference) {
	if group, version, ok := strings.Cut(ref.Group, "/"); ok {
		r.Refuse(field+".group", "a reference names a group without its version: write %s, and leave %s out", group, version)
	}
}

func checkMeshTLS(r *object.Reader, m *MeshTLSAuthentication) {
	switch spec := m.Spec; {
	case spec.Identities != nil && spec.IdentityRefs != nil:
		r.Refuse("spec.identityRefs", "an authentication has identities or identityRefs, not both")
	case len(spec.Identities)+len(spec.IdentityRefs) == 0:
		r.Refuse("spec", "the authentication names no identity: write identities or identityRefs")
	}
	for i, identity := range m.Spec.Identities {
		checkIdentity(r, object.Item("spec.identities", i), identity)
	}
	for i, ref := range m.Spec.IdentityRefs {
		at := object.Item("spec.identityRefs", i)
		checkGroup(r, at, ref)
		switch {
		case ref.Is("", "Namespace"):
			r.CheckNamespace(at+".name", ref.Name)
			if ref.Namespace != nil {
				r.Refuse(at+".namespace", "a Namespace is of no namespace: leave the field out")
			}
		case ref.Is("", "ServiceAccount"):
			r.CheckName(at+".name", ref.Name)
			if ref.Namespace != nil {
				r.CheckNamespace(at+".namespace", *ref.Namespace)
			}
		default:
			r.Refuse(at+".kind", "%q of the group %q is no identity: use ServiceAccount or Namespace", ref.Kind, ref.Group)
		}
	}
}

func checkNetwork(r *object.Reader, n *NetworkAuthentication) {
	if len(n.Spec.Networks) == 0 {
		r.Refuse("spec.networks", "the authentication names no network")
	}
	checkNetworks(r, "spec.networks", n.Spec.Networks)
}

func checkNetworks(r *object.Reader, field string, networks []Network) {
	for i, network := range networks {
		at := object.Item(field, i)
		of, err := blockOf(network.CIDR)
		if err != nil {
			r.Refuse(at+".cidr", "%q is neither an address nor a block of addresses such as 10.0.0.0/8", network.CIDR)
			continue
		}
		for k, text := range network.Except {
			at := object.Item(at+".except", k)
			except, err := blockOf(text)
			switch {
			case err != nil:
				r.Refuse(at, "%q is neither an address nor a block of addresses such as 10.0.0.0/8", text)
			case except.Bits() <= of.Bits() && except.Contains(of.Addr()):
				r.Refuse(at, "the block %s leaves nothing of %s", text, network.CIDR)
			case !of.Contains(except.Addr()):
				r.Refuse(at, "the block %s is not in %s", text, network.CIDR)
			}
		}
	}
}

// blockOf reads a block of addresses, or one address.
func blockOf(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	of, err := netip.ParsePrefix(text)
	return of.Masked(), err
}

// checkIdentity refuses what is neither a name, with or without a wildcard in front, nor a SPIFFE ID.
func checkIdentity(r *object.Reader, field, identity string) {
	switch {
	case identity == "*":
	case strings.HasPrefix(identity, "spiffe://"):
		if id, err := spiffeid.FromString(identity); err != nil {
			r.Refuse(field, "not a SPIFFE ID: %v", err)
		} else if id.Path() == "" {
			r.Refuse(field, "%s names a trust domain and no workload: write the path of the workload behind it", identity)
		}
	default:
		if reasons := validation.IsDNS1123Subdomain(strings.TrimPrefix(identity, "*.")); reasons != nil {
			r.Refuse(field, "%q is no identity: write a name, *. and the end of a name, or a SPIFFE ID", identity)
		}
	}
}
