package tree

import (
	"strings"

	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/policy/manifest"
)

// The API groups of the policies of Linkerd, and of the routes that they share with Gateway API.
const (
	LinkerdGroup = "policy.linkerd.io"
	GatewayGroup = "gateway.networking.k8s.io"
)

// Profile returns the profile of a policy.
func Profile(p manifest.Document) feature.Profile {
	if strings.HasPrefix(p.Type().APIVersion, "security.istio.io/") {
		return feature.IstioAuthz
	}
	if strings.HasPrefix(p.Type().APIVersion, "cilium.io/") {
		return feature.CiliumIngress
	}
	if strings.HasPrefix(p.Type().APIVersion, LinkerdGroup+"/") || strings.HasPrefix(p.Type().APIVersion, GatewayGroup+"/") && strings.HasSuffix(p.Type().Kind, "Route") {
		return feature.LinkerdAuthz
	}
	if strings.HasSuffix(p.Type().Kind, "AuthorizationPolicy") {
		return feature.GEP3779
	}
	if _, legacy := p.Lookup("spec.from"); legacy {
		return feature.KumaMTPLegacy
	}
	return feature.KumaMTP
}
