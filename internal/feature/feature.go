// Package feature names the features of a compiler, so that a report can say which part
// of a specification was proven, and which part was left out.
//
// It follows the model of Gateway API. A [Profile] is a specification. Every
// compiler that claims the profile supports its core features. Its extended features are a
// choice. A case names the features that it needs; a case that needs an extended
// feature counts as extended.
//
// The package is data: it decides nothing and knows no case.
package feature

import (
	"fmt"
	"slices"
	"strings"
)

// Name is the name of a feature, in Gateway API's spelling, such as
// "AuthorizationPolicyPorts".
type Name string

// UnmarshalText implements [encoding.TextUnmarshaler]; it refuses a name that is not
// registered.
func (n *Name) UnmarshalText(text []byte) error {
	if _, ok := Lookup(Name(text)); !ok {
		return fmt.Errorf("feature %q is unknown: meshproof features lists those there are", text)
	}
	*n = Name(text)
	return nil
}

// Profile is the name of a specification, in the spelling of a conformance report.
type Profile string

// The profiles.
const (
	// KumaMTP is Kuma's MeshTrafficPermission by SPIFFE ID, all three options.
	KumaMTP Profile = "KUMA-MTP"
	// KumaMTPLegacy is MeshTrafficPermission's first design, with from.
	KumaMTPLegacy Profile = "KUMA-MTP-LEGACY"
	// GEP3779 is Gateway API's AuthorizationPolicy.
	GEP3779 Profile = "GEP-3779"
	// IstioAuthz is Istio's AuthorizationPolicy, as a sidecar enforces it.
	IstioAuthz Profile = "ISTIO-AUTHZ"
	// CiliumIngress is the ingress of Cilium's network policies, as far as an Envoy can show it.
	CiliumIngress Profile = "CILIUM-INGRESS"
	// LinkerdAuthz are the policies of Linkerd about inbound requests, as far as an Envoy can show them.
	LinkerdAuthz Profile = "LINKERD-AUTHZ"
	// KumaRoutes are Kuma's routes and timeouts, in the sidecar of the caller.
	KumaRoutes Profile = "KUMA-ROUTES"
)

// UnmarshalText implements [encoding.TextUnmarshaler]; it refuses a profile that does
// not exist.
func (p *Profile) UnmarshalText(text []byte) error {
	if !slices.Contains(Profiles(), Profile(text)) {
		return fmt.Errorf("profile %q is unknown: use one of %s", text, ProfileNames())
	}
	*p = Profile(text)
	return nil
}

// ProfileNames returns the names of all profiles, with commas between them.
func ProfileNames() string {
	var names []string
	for _, p := range Profiles() {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}

// Level is the level of a feature: core or extended.
type Level string

const (
	// Core features are supported by every compiler that claims the profile.
	Core Level = "core"
	// Extended features are a choice.
	Extended Level = "extended"
)

// Feature is something that a compiler supports or does not support.
type Feature struct {
	Name    Name    `json:"name"`
	Profile Profile `json:"profile"`
	Level   Level   `json:"level"`
	// About is a sentence about a compiler with the feature.
	About string `json:"about"`
}

// Profiles returns all profiles, in the order of a report.
func Profiles() []Profile {
	return []Profile{KumaMTP, KumaMTPLegacy, GEP3779, IstioAuthz, CiliumIngress, LinkerdAuthz, KumaRoutes}
}

// All returns all features, profile by profile, and the core features of a profile first.
func All() []Feature { return slices.Clone(registry) }

// Lookup returns a feature by its name, and whether there is one.
func Lookup(name Name) (Feature, bool) {
	i := slices.IndexFunc(registry, func(f Feature) bool { return f.Name == name })
	if i < 0 {
		return Feature{}, false
	}
	return registry[i], true
}

// registry has all features. The user stories of a specification come first, with the
// numbers of Kuma's design; then come the features that the stories need.
var registry = []Feature{
	{"MeshOperator1", KumaMTP, Core, "All requests in the mesh are denied by default."},
	{"MeshOperator2", KumaMTP, Core, "A deny of the mesh operator cannot be overridden by a service owner."},
	{"MeshOperator3", KumaMTP, Core, "A group of clients may access all services, and a service owner can opt out."},
	{"MeshOperator4", KumaMTP, Core, "A group of clients may access one path of all services, and no other."},
	{"ServiceOwner1", KumaMTP, Core, "A service owner grants access to any client that no mesh operator denies."},
	{"ServiceOwner2", KumaMTP, Core, "A service owner opts out of what the mesh operator allows."},
	{"ServiceOwner3", KumaMTP, Core, "A service owner blocks a client that was allowed before."},
	{"ServiceOwner4", KumaMTP, Core, "A service owner allows one method to everybody and another to a group."},
	{"ServiceOwner5", KumaMTP, Core, "A policy applies to one inbound of several."},
	{"MTPTargetRef", KumaMTP, Core, "A targetRef selects a mesh, workloads by name or labels, and one of their inbounds."},
	{"MTPScope", KumaMTP, Core, "Mesh, namespace, zone, origin and role bound how far a policy reaches."},
	{"MTPOrder", KumaMTP, Core, "Rules of several policies are concatenated in the documented order, and the policy that decided is named."},
	{"MTPSpiffeID", KumaMTP, Core, "Exact and Prefix match SPIFFE IDs byte by byte, however many there are."},
	{"MTPPath", KumaMTP, Core, "A path is judged as the upstream will see it, segment by segment."},
	{"MTPMethod", KumaMTP, Core, "A method is compared as it stands."},
	{"MTPShadow", KumaMTP, Core, "allowWithShadowDeny lets a request pass and tells that it would be denied."},
	{"MTPStrictMTLS", KumaMTP, Core, "Only callers with a sound certificate of a trusted domain are judged."},
	{"MTPValidation", KumaMTP, Core, "What is not a policy is refused."},
	{"MTPOption2", KumaMTP, Extended, "The lists of all policies are one conf (option 2 of the design)."},
	{"MTPOption3", KumaMTP, Extended, "Rules have conditions and an action, and are a decision tree (option 3 of the design)."},
	{"MTPPreciseShadow", KumaMTP, Extended, "The shadow allows what is plainly allowed, so that its counters count what would change."},
	{"MTPServerName", KumaMTP, Extended, "The server name of the handshake is compared as a whole, and Envoy learns it from a TLS inspector."},
	{"MTPPermissiveMTLS", KumaMTP, Extended, "A permissive inbound lets plaintext pass unjudged, and judges TLS as a strict one does."},

	{"LegacyFrom", KumaMTPLegacy, Core, "The last from item that meets a client decides."},
	{"LegacyActions", KumaMTPLegacy, Core, "All four actions in both spellings, the shadowing ones included."},
	{"LegacyCertificates", KumaMTPLegacy, Core, "A client with several URI SANs is met by any of its tags."},
	{"LegacyScale", KumaMTPLegacy, Core, "Many independent tags compile to a filter that Envoy takes."},
	{"LegacyValidation", KumaMTPLegacy, Core, "What is not a policy is refused."},
	{"LegacyRoutes", KumaMTPLegacy, Extended, "A policy targets a route."},
	{"LegacyCrossMesh", KumaMTPLegacy, Extended, "Clients of another mesh are known by that mesh's certificates."},
	{"LegacyFullView", KumaMTPLegacy, Extended, "The rules list every combination of tags, as the design's text does."},
	{"LegacyPreciseShadow", KumaMTPLegacy, Extended, "The shadow allows what is plainly allowed, so that its counters count what would change."},
	{"LegacyPermissiveMTLS", KumaMTPLegacy, Extended, "A permissive inbound lets plaintext pass unjudged, and judges TLS as a strict one does."},

	{"AuthorizationPolicyTargetRefs", GEP3779, Core, "Labels select pods of the policy's own namespace; a pod that none selects takes everybody."},
	{"AuthorizationPolicySPIFFESource", GEP3779, Core, "A SPIFFE source is one identity, compared as a whole."},
	{"AuthorizationPolicyServiceAccountSource", GEP3779, Core, "A service account stands for its identity in the mesh's own trust domain."},
	{"AuthorizationPolicyPorts", GEP3779, Core, "Ports narrow a rule."},
	{"AuthorizationPolicyAllow", GEP3779, Core, "Policies only allow and add up; an absent list, an empty one and a set one differ."},
	{"AuthorizationPolicyNetworkEnforcement", GEP3779, Core, "A refusal closes the connection, on inbounds of HTTP too."},
	{"AuthorizationPolicyValidation", GEP3779, Core, "What the API forbids is refused."},
	{"AuthorizationPolicyUnwritten", GEP3779, Core, "What the text of GEP-3779 leaves open is read as docs/unwritten.md says."},
	{"AuthorizationPolicyPermissiveMTLS", GEP3779, Extended, "A caller in plaintext is judged as one without an identity."},

	{"IstioAllow", IstioAuthz, Core, "Where an ALLOW applies, a caller needs a rule that matches it; an absent list, an empty one and an empty rule differ."},
	{"IstioDeny", IstioAuthz, Core, "A DENY that matches refuses the request, whatever an ALLOW says."},
	{"IstioSelection", IstioAuthz, Core, "A policy applies to its namespace, one of the root namespace to all, and a selector narrows both."},
	{"IstioSource", IstioAuthz, Core, "Principals, namespaces and service accounts are compared as they stand, with a star at one end."},
	{"IstioOperation", IstioAuthz, Core, "Methods, paths and ports are compared with a star at one end, and fields that begin with not exclude."},
	{"IstioTCP", IstioAuthz, Core, "On tcp a field of HTTP takes its rule out of an ALLOW, and only itself out of a DENY."},
	{"IstioStrictMTLS", IstioAuthz, Core, "Only callers with a sound certificate of a trusted domain are judged."},
	{"IstioValidation", IstioAuthz, Core, "What the webhook refuses is refused."},
	{"IstioHosts", IstioAuthz, Core, "A host is compared in any case, with the port that the caller sends."},
	{"IstioHeaders", IstioAuthz, Core, "A condition on a header is met by one of its lines."},
	{"IstioAddresses", IstioAuthz, Core, "Addresses of callers, and of the workload, are compared with blocks, in source and in when."},
	{"IstioServerName", IstioAuthz, Core, "A condition on the server name is met by callers that send one."},
	{"IstioTemplates", IstioAuthz, Core, "In a path {*} is one segment, and {**} any number of them."},
	{"IstioUnwritten", IstioAuthz, Core, "What Istio's documents leave open, or its code does otherwise, is read as docs/unwritten.md says."},
	{"IstioPermissiveMTLS", IstioAuthz, Extended, "A caller in plaintext is judged as one without an identity."},
	{"IstioPeerAuthentication", IstioAuthz, Extended, "A PeerAuthentication says whether an inbound takes mTLS, plaintext, or both."},
	{"IstioCustom", IstioAuthz, Extended, "A CUSTOM asks an authorizer about what its rules match, before all other policies."},
	{"IstioTrustDomain", IstioAuthz, Extended, "A principal of the mesh's trust domain stands for those of its aliases too."},
	{"IstioTokens", IstioAuthz, Extended, "A RequestAuthentication refuses a bad token, and policies ask for the claims of a sound one."},
	{"IstioAudit", IstioAuthz, Extended, "An AUDIT marks the access log and refuses nothing."},
	{"IstioDryRun", IstioAuthz, Extended, "A dry run observes, and refuses nothing."},
	{"IstioLimits", IstioAuthz, Extended, "What meshproof cannot judge is refused. It says nothing about another compiler, which exempts it."},

	{"CiliumSelection", CiliumIngress, Core, "An endpointSelector selects workloads of the policy's own namespace, and a clusterwide one those of all."},
	{"CiliumDefaultDeny", CiliumIngress, Core, "A rule of ingress closes what no rule allows, unless the spec says otherwise; absent, empty and {} differ."},
	{"CiliumEndpoints", CiliumIngress, Core, "Peers are named by the labels of their workloads, in the policy's own namespace unless the selector names another."},
	{"CiliumEntities", CiliumIngress, Core, "The world, the cluster and all are peers."},
	{"CiliumDeny", CiliumIngress, Core, "A deny rule that matches closes the connection, whatever another rule allows."},
	{"CiliumPorts", CiliumIngress, Core, "A rule names ports by number, range and name, and the protocol of each."},
	{"CiliumValidation", CiliumIngress, Core, "What Cilium refuses is refused."},
	{"CiliumHTTP", CiliumIngress, Core, "HTTP rules compare path, method, host and headers, and bound only the peers that they name."},
	{"CiliumAddresses", CiliumIngress, Core, "Blocks of addresses, with exceptions, name peers that are no workload."},
	{"CiliumStrictMTLS", CiliumIngress, Core, "Only callers with a sound certificate of a trusted domain are judged."},
	{"CiliumNetworkEnforcement", CiliumIngress, Core, "What Cilium drops in silence is a closed connection, on inbounds of HTTP too."},
	{"CiliumUnwritten", CiliumIngress, Core, "What Cilium's documents leave open, or its code does otherwise, is read as docs/unwritten.md says."},
	{"CiliumAuthentication", CiliumIngress, Extended, "A rule demands that its peers prove their identity."},
	{"CiliumAudit", CiliumIngress, Extended, "In audit mode, rules on connections observe."},
	{"CiliumEnforcement", CiliumIngress, Extended, "The agent enforces always, never, or where a policy selects the workload."},
	{"CiliumLimits", CiliumIngress, Extended, "What meshproof cannot judge is refused. It says nothing about another compiler, which exempts it."},
	{"CiliumPermissiveMTLS", CiliumIngress, Extended, "A caller in plaintext is judged as the world."},

	{"LinkerdServer", LinkerdAuthz, Core, "A Server takes a port of the workloads of its namespace that it selects, and closes it."},
	{"LinkerdDefaultPolicy", LinkerdAuthz, Core, "Where no Server takes a port, the default inbound policy of the workload, its namespace or the cluster decides alone."},
	{"LinkerdAccessPolicy", LinkerdAuthz, Core, "The access policy of a Server lets callers in beside its policies."},
	{"LinkerdPolicy", LinkerdAuthz, Core, "A policy is about a Server or about all Servers of its namespace, and lets in who has all that it requires; a missing reference lets nobody in."},
	{"LinkerdMeshTLS", LinkerdAuthz, Core, "Identities are names of service accounts, whole or by their last labels, SPIFFE IDs, and references."},
	{"LinkerdNetworks", LinkerdAuthz, Core, "Addresses of callers are compared with blocks, and with the blocks in them that are left out."},
	{"LinkerdRoutes", LinkerdAuthz, Core, "Where a Server has routes, a request needs one before anybody is judged, and policies of a route add to those of its Server."},
	{"LinkerdMatches", LinkerdAuthz, Core, "A route matches host, path, method, headers and parameters, and the one that covers most of a request is taken."},
	{"LinkerdTCP", LinkerdAuthz, Core, "On tcp, and where a Server is opaque, connections are judged."},
	{"LinkerdValidation", LinkerdAuthz, Core, "What the webhook refuses is refused."},
	{"LinkerdStrictMTLS", LinkerdAuthz, Core, "Only callers with a sound certificate of a trusted domain are judged."},
	{"LinkerdUnwritten", LinkerdAuthz, Core, "What Linkerd's documents leave open, or its code does otherwise, is read as docs/unwritten.md says."},
	{"LinkerdServerAuthorization", LinkerdAuthz, Extended, "A ServerAuthorization lets clients use the Servers that it names or selects, from the networks of the cluster unless it states others."},
	{"LinkerdGRPC", LinkerdAuthz, Extended, "A Server of gRPC has GRPCRoutes, which match service and method."},
	{"LinkerdAudit", LinkerdAuthz, Extended, "The access policy audit lets everybody in, and tells who passes by it alone."},
	{"LinkerdLoopback", LinkerdAuthz, Extended, "Callers on a loopback address are let in, where the installation says so."},
	{"LinkerdLimits", LinkerdAuthz, Extended, "What meshproof cannot judge is refused. It says nothing about another compiler, which exempts it."},
	{"LinkerdPermissiveMTLS", LinkerdAuthz, Extended, "A caller in plaintext is judged as one without an identity."},

	{"RouteRequestTimeout", KumaRoutes, Core, "A request has a time from its end to the end of its answer."},
	{"RouteStreamIdleTimeout", KumaRoutes, Core, "A stream without a byte is ended."},
	{"RouteIdleTimeout", KumaRoutes, Core, "A connection without requests, or without bytes, is closed."},
	{"RouteConnectionTimeout", KumaRoutes, Core, "A connection that does not come about is given up."},
	{"RouteMaxStreamDuration", KumaRoutes, Core, "A stream ends after its longest time, though bytes flow."},
	{"RouteMaxConnectionDuration", KumaRoutes, Core, "A connection is used for its longest time at most."},
	{"RouteRequestHeadersTimeout", KumaRoutes, Core, "The headers of a request have a time."},
	{"RouteGRPC", KumaRoutes, Core, "Calls of gRPC have all bounds of http."},
	{"RouteTCP", KumaRoutes, Core, "Connections of tcp have routes and bounds."},
	{"RoutePriorities", KumaRoutes, Core, "A route goes before a service, and a consumer before a producer."},
	{"RouteMerge", KumaRoutes, Core, "Policies on one target are merged field by field, and those of a route with those of its service."},
	{"RouteUniversal", KumaRoutes, Core, "Without namespaces the more specific target counts."},
	{"RouteMismatch", KumaRoutes, Core, "A time of a route that other workloads have has no effect, and a warning."},
	{"RouteMatches", KumaRoutes, Core, "Paths, methods, headers and parameters of a match are compared as Gateway API says."},
	{"RouteOrder", KumaRoutes, Core, "Matches are tried from the narrow one to the wide one."},
	{"RouteBackends", KumaRoutes, Core, "Backends share requests by weight, and one that does not exist answers 500."},
	{"RouteAuthorization", KumaRoutes, Core, "A refused request consumes no time, and one that times out was allowed."},
	{"RouteReleased", KumaRoutes, Extended, "A route with a time of its own has the default of 15 s, and a gRPC backend has no bound of streams and connections, as in released Kuma."},
}
