package policyset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// need is a feature, and what a set has that needs it.
type need struct {
	feature feature.Name
	profile feature.Profile
	field
}

// field is a field of a policy, or an option. Its value is "" for any value. A key with a dot is that of a field in an object under a key.
type field struct{ key, value string }

// needs are the features that only some of the drawn sets need.
var needs = []need{
	{"MTPTargetRef", feature.KumaMTP, field{"targetRef", ""}},
	{"MTPScope", feature.KumaMTP, field{"labels", ""}},
	{"MTPScope", feature.KumaMTP, field{"namespace", ""}},
	{"MTPSpiffeID", feature.KumaMTP, field{"spiffeId", ""}},
	{"MTPSpiffeID", feature.KumaMTP, field{"spiffeID", ""}},
	{"MTPPath", feature.KumaMTP, field{"path", ""}},
	{"MTPMethod", feature.KumaMTP, field{"method", ""}},
	{"MTPServerName", feature.KumaMTP, field{"sni", ""}},
	{"MTPShadow", feature.KumaMTP, field{"allowWithShadowDeny", ""}},
	{"MTPShadow", feature.KumaMTP, field{"action", "AllowWithShadowDeny"}},
	{"MTPShadow", feature.KumaMTP, field{"kuma.io/effect", ""}},
	{"MTPOption2", feature.KumaMTP, field{"kumaOption", "2"}},
	{"MTPOption3", feature.KumaMTP, field{"kumaOption", "3"}},
	{"MTPPreciseShadow", feature.KumaMTP, field{"shadowForm", "precise"}},

	{"LegacyFrom", feature.KumaMTPLegacy, field{"from", ""}},
	{"LegacyActions", feature.KumaMTPLegacy, field{"action", ""}},
	{"LegacyCertificates", feature.KumaMTPLegacy, field{"tags", ""}},
	{"LegacyRoutes", feature.KumaMTPLegacy, field{"kind", "MeshHTTPRoute"}},
	{"LegacyCrossMesh", feature.KumaMTPLegacy, field{"targetRef.mesh", ""}},
	{"LegacyFullView", feature.KumaMTPLegacy, field{"legacyCompiler", "full"}},
	{"LegacyPreciseShadow", feature.KumaMTPLegacy, field{"shadowForm", "precise"}},

	{"AuthorizationPolicySPIFFESource", feature.GEP3779, field{"type", "SPIFFE"}},
	{"AuthorizationPolicyServiceAccountSource", feature.GEP3779, field{"type", "ServiceAccount"}},
	{"AuthorizationPolicyPorts", feature.GEP3779, field{"ports", ""}},

	{"IstioDeny", feature.IstioAuthz, field{"action", "DENY"}},
	{"IstioSource", feature.IstioAuthz, field{"from", ""}},
	{"IstioOperation", feature.IstioAuthz, field{"to", ""}},
	{"IstioTrustDomain", feature.IstioAuthz, field{"trustDomainAliases", ""}},
	{"IstioTrustDomain", feature.IstioAuthz, field{"key", "source.trustDomain"}},
	{"IstioHosts", feature.IstioAuthz, field{"hosts", ""}},
	{"IstioHosts", feature.IstioAuthz, field{"notHosts", ""}},
	{"IstioAddresses", feature.IstioAuthz, field{"ipBlocks", ""}},
	{"IstioAddresses", feature.IstioAuthz, field{"remoteIpBlocks", ""}},
	{"IstioAddresses", feature.IstioAuthz, field{"key", "source.ip"}},
	{"IstioAddresses", feature.IstioAuthz, field{"key", "destination.ip"}},
	{"IstioAddresses", feature.IstioAuthz, field{"notIpBlocks", ""}},
	{"IstioAddresses", feature.IstioAuthz, field{"notRemoteIpBlocks", ""}},
	{"IstioAddresses", feature.IstioAuthz, field{"key", "remote.ip"}},
	{"IstioTokens", feature.IstioAuthz, field{"kind", "RequestAuthentication"}},
	{"IstioTokens", feature.IstioAuthz, field{"requestPrincipals", ""}},
	{"IstioTokens", feature.IstioAuthz, field{"notRequestPrincipals", ""}},
	{"IstioServerName", feature.IstioAuthz, field{"key", "connection.sni"}},
	{"IstioCustom", feature.IstioAuthz, field{"action", "CUSTOM"}},
	{"IstioPeerAuthentication", feature.IstioAuthz, field{"kind", "PeerAuthentication"}},
	{"IstioAudit", feature.IstioAuthz, field{"action", "AUDIT"}},
	{"IstioDryRun", feature.IstioAuthz, field{"istio.io/dry-run", "true"}},

	{"CiliumEndpoints", feature.CiliumIngress, field{"fromEndpoints", ""}},
	{"CiliumEntities", feature.CiliumIngress, field{"fromEntities", ""}},
	{"CiliumDeny", feature.CiliumIngress, field{"ingressDeny", ""}},
	{"CiliumPorts", feature.CiliumIngress, field{"toPorts", ""}},
	{"CiliumHTTP", feature.CiliumIngress, field{"http", ""}},
	{"CiliumAddresses", feature.CiliumIngress, field{"fromCIDR", ""}},
	{"CiliumAddresses", feature.CiliumIngress, field{"fromCIDRSet", ""}},
	{"CiliumAuthentication", feature.CiliumIngress, field{"authentication", ""}},
	{"CiliumAudit", feature.CiliumIngress, field{"policyAuditMode", "true"}},
	{"CiliumEnforcement", feature.CiliumIngress, field{"policyEnforcement", "always"}},
	{"CiliumEnforcement", feature.CiliumIngress, field{"policyEnforcement", "never"}},

	{"LinkerdAccessPolicy", feature.LinkerdAuthz, field{"accessPolicy", ""}},
	{"LinkerdPolicy", feature.LinkerdAuthz, field{"kind", "AuthorizationPolicy"}},
	{"LinkerdMeshTLS", feature.LinkerdAuthz, field{"kind", "MeshTLSAuthentication"}},
	{"LinkerdNetworks", feature.LinkerdAuthz, field{"kind", "NetworkAuthentication"}},
	{"LinkerdNetworks", feature.LinkerdAuthz, field{"networks", ""}},
	{"LinkerdRoutes", feature.LinkerdAuthz, field{"parentRefs", ""}},
	{"LinkerdMatches", feature.LinkerdAuthz, field{"matches", ""}},
	{"LinkerdServerAuthorization", feature.LinkerdAuthz, field{"kind", "ServerAuthorization"}},
	{"LinkerdGRPC", feature.LinkerdAuthz, field{"kind", "GRPCRoute"}},
	{"LinkerdAudit", feature.LinkerdAuthz, field{"accessPolicy", "audit"}},
	{"LinkerdAudit", feature.LinkerdAuthz, field{"defaultInboundPolicy", "audit"}},
	{"LinkerdAudit", feature.LinkerdAuthz, field{"config.linkerd.io/default-inbound-policy", "audit"}},
	{"LinkerdLoopback", feature.LinkerdAuthz, field{"loopbackBypass", "true"}},
}

// partNeeds are needs by a part of a value, whose names may be others than those of the drawn set.
var partNeeds = []need{
	{"IstioHeaders", feature.IstioAuthz, field{"key", "request.headers["}},
	{"IstioTokens", feature.IstioAuthz, field{"key", "request.auth."}},
	{"IstioTemplates", feature.IstioAuthz, field{"paths", "{*"}},
	{"IstioTemplates", feature.IstioAuthz, field{"notPaths", "{*"}},
}

// permissive are the features that a permissive inbound needs.
var permissive = map[feature.Profile]feature.Name{
	feature.KumaMTP: "MTPPermissiveMTLS", feature.KumaMTPLegacy: "LegacyPermissiveMTLS", feature.GEP3779: "AuthorizationPolicyPermissiveMTLS",
	feature.IstioAuthz: "IstioPermissiveMTLS", feature.CiliumIngress: "CiliumPermissiveMTLS", feature.LinkerdAuthz: "LinkerdPermissiveMTLS",
}

// always are the features that each set of a profile needs. What a text leaves open is among them: almost any drawn
// set meets it, so a compiler with another reading is asked about no drawn policies.
var always = map[feature.Profile][]feature.Name{
	feature.KumaMTP:       {"MTPOrder"},
	feature.KumaMTPLegacy: {"LegacyFrom"},
	feature.GEP3779:       {"AuthorizationPolicyTargetRefs", "AuthorizationPolicyAllow", "AuthorizationPolicyNetworkEnforcement", "AuthorizationPolicyUnwritten"},
	feature.IstioAuthz:    {"IstioAllow", "IstioSelection", "IstioTCP", "IstioUnwritten"},
	feature.CiliumIngress: {"CiliumSelection", "CiliumDefaultDeny", "CiliumNetworkEnforcement", "CiliumUnwritten"},
	feature.LinkerdAuthz:  {"LinkerdServer", "LinkerdDefaultPolicy", "LinkerdTCP", "LinkerdUnwritten"},
}

// Core returns a feature of the core of a profile that each set of the profile needs.
func Core(p feature.Profile) feature.Name { return always[p][0] }

// Profile returns the profile of the policies of the form.
func (f Form) Profile() feature.Profile {
	switch f {
	case KumaFrom:
		return feature.KumaMTPLegacy
	case GatewayAPI:
		return feature.GEP3779
	case Istio:
		return feature.IstioAuthz
	case Cilium:
		return feature.CiliumIngress
	case Linkerd:
		return feature.LinkerdAuthz
	default:
		return feature.KumaMTP
	}
}

// Forms returns the forms of the policies of a profile. There is none for a profile whose
// policies cannot be drawn.
func Forms(p feature.Profile) []Form {
	var out []Form
	for f := range Form(len(formNames)) {
		if f.Profile() == p {
			out = append(out, f)
		}
	}
	return out
}

// Needs returns the features that a compiler must have for a drawn set, each once. A set of
// the legacy form may have a policy of the other form.
func Needs(c cases.Case) []feature.Name {
	has := map[field]bool{}
	profiles := map[feature.Profile]bool{}
	for _, doc := range append(slices.Clone(c.Policies), c.Options.Document) {
		var v any
		if doc.Decode(&v) == nil {
			collect("", v, has)
		}
	}
	for _, p := range c.Policies {
		profiles[tree.Profile(p)] = true
	}
	var out []feature.Name
	add := func(name feature.Name) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, p := range feature.Profiles() {
		if !profiles[p] {
			continue
		}
		for _, name := range always[p] {
			add(name)
		}
		for _, n := range needs {
			if n.profile == p && has[n.field] {
				add(n.feature)
			}
		}
		for _, n := range partNeeds {
			for of := range has {
				if n.profile == p && of.key == n.key && strings.Contains(of.value, n.value) {
					add(n.feature)
				}
			}
		}
		if slices.ContainsFunc(c.Inbounds, func(in cases.Inbound) bool { return in.MTLS == mtls.Permissive }) {
			add(permissive[p])
		}
	}
	return out
}

// collect adds the fields of a value that stands under a key.
func collect(key string, v any, has map[field]bool) {
	has[field{key, ""}] = true
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			collect(key, item, has)
		}
	case map[string]any:
		for inner, value := range v {
			has[field{key + "." + inner, ""}] = true
			collect(inner, value, has)
		}
	case nil:
	default:
		has[field{key, fmt.Sprint(v)}] = true
	}
}
