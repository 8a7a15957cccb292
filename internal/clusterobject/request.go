package clusterobject

import (
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// IsOfIngress reports whether an object says by which controller requests come, and how.
func (o Object) IsOfIngress() bool {
	return o.Group == "networking.k8s.io" && (o.Kind == "Ingress" || o.Kind == "IngressClass")
}

// ofRoute are the fields of a route of HTTP by which a gateway changes neither the path nor the headers of requests. The world is
// closed: a mirror gets another host, a rewrite another path, and another VirtualService may say anything.
var ofRoute = fieldpath.SetOf(`name match redirect directResponse timeout retries fault corsPolicy headers.response
	route[].destination route[].weight route[].headers.response`)

// changesRequests reports whether an object is a VirtualService by which a gateway may change requests: policies of
// the gateway judge a request as it came, and those of a workload judge what the gateway makes of it. Where
// sidecars change requests, the caller does so itself. A VirtualService without hosts is a part of another one.
func (o Object) changesRequests() bool {
	if o.Kind != "VirtualService" || o.Group != "networking.istio.io" {
		return false
	}
	gateways := fieldvalue.Texts(fieldvalue.Lookup(o.Fields, "spec", "gateways"))
	isOfGateway := slices.ContainsFunc(gateways, func(gateway string) bool { return gateway != "mesh" }) || len(fieldvalue.Texts(fieldvalue.Lookup(o.Fields, "spec", "hosts"))) == 0
	return isOfGateway && slices.ContainsFunc(fieldvalue.Mappings(fieldvalue.Lookup(o.Fields, "spec", "http")), func(route map[string]any) bool {
		return UnknownField("", route, ofRoute) != ""
	})
}

// idleOfIngress begin the annotations by which the controller of an Ingress changes neither the path, the host, the headers nor
// the identity of requests. The world is closed: each other one with a domain counts.
var idleOfIngress = slices.Concat(harmlessAnnotations, []string{
	"cert-manager.io/issuer", "cert-manager.io/cluster-issuer", "cert-manager.io/acme-challenge-type", "cert-manager.io/duration", "cert-manager.io/renew-before", "cert-manager.io/private-key-", "cert-manager.io/revision-history-limit",
	"kubernetes.io/ingress.", "kubernetes.io/tls-acme", "acme.cert-manager.io/", "networking.gke.io/managed-certificates", "ingress.gcp.kubernetes.io/pre-shared-cert",
	"alb.ingress.kubernetes.io/scheme", "alb.ingress.kubernetes.io/target-type", "alb.ingress.kubernetes.io/listen-ports", "alb.ingress.kubernetes.io/certificate-arn", "alb.ingress.kubernetes.io/healthcheck-",
	"alb.ingress.kubernetes.io/tags", "alb.ingress.kubernetes.io/group.", "alb.ingress.kubernetes.io/ssl-", "alb.ingress.kubernetes.io/subnets", "alb.ingress.kubernetes.io/security-groups", "alb.ingress.kubernetes.io/success-codes",
	"nginx.ingress.kubernetes.io/affinity", "nginx.ingress.kubernetes.io/session-cookie-", "nginx.ingress.kubernetes.io/canary", "nginx.ingress.kubernetes.io/client-body-buffer-size", "nginx.ingress.kubernetes.io/cors-", "nginx.ingress.kubernetes.io/enable-cors",
	"nginx.ingress.kubernetes.io/limit-", "nginx.ingress.kubernetes.io/load-balance", "nginx.ingress.kubernetes.io/proxy-body-size", "nginx.ingress.kubernetes.io/proxy-buffer", "nginx.ingress.kubernetes.io/proxy-connect-timeout",
	"nginx.ingress.kubernetes.io/proxy-next-upstream", "nginx.ingress.kubernetes.io/proxy-read-timeout", "nginx.ingress.kubernetes.io/proxy-send-timeout", "nginx.ingress.kubernetes.io/ssl-redirect", "nginx.ingress.kubernetes.io/force-ssl-redirect",
	"haproxy.org/ssl-redirect", "haproxy.org/timeout-", "traefik.ingress.kubernetes.io/router.entrypoints", "traefik.ingress.kubernetes.io/router.tls", "traefik.ingress.kubernetes.io/router.priority",
})

// rewrites reports whether an Ingress may change requests, as a VirtualService of a gateway may.
func (o Object) rewrites() bool {
	annotations := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "metadata", "annotations"))
	for key := range annotations {
		if o.Kind == "Ingress" && DomainOf(key) != "" && !fieldvalue.HasAnyPrefix(key, idleOfIngress) {
			return true
		}
	}
	return false
}

// isOfCluster reports whether a host is a service of a cluster, or a pattern that has one.
func isOfCluster(host string) bool {
	return !strings.Contains(host, ".") || strings.HasPrefix(host, "*") && !strings.Contains(strings.Trim(host, "*."), ".") || strings.HasSuffix(host, ".svc") || strings.Contains(host, ".svc.") || strings.HasSuffix(host, ".local")
}

// ofDestination are the fields of a DestinationRule that say which of the endpoints of a service get requests, and how many.
var ofDestination = fieldpath.SetOf(strings.Join([]string{`host exportTo workloadSelector subsets[].name subsets[].labels`,
	ofTraffic("trafficPolicy."), ofTraffic("trafficPolicy.portLevelSettings[]."), ofTraffic("subsets[].trafficPolicy."), ofTraffic("subsets[].trafficPolicy.portLevelSettings[].")}, " "))

func ofTraffic(place string) string {
	var b strings.Builder
	for _, field := range []string{"port", "loadBalancer", "connectionPool", "outlierDetection", "retryBudget", "tls"} {
		b.WriteString(" " + place + field)
	}
	return b.String()
}

// statesTLS reports whether a DestinationRule says with which TLS, or in which other way, requests go to a service of the cluster:
// without mTLS a gateway, which sends what others ask for, has no name any more by which a policy may keep it out. A host
// outside of the cluster may be a machine of the mesh, so plaintext and another certificate count there too.
func (o Object) statesTLS() bool {
	if o.Kind != "DestinationRule" || o.Group != "networking.istio.io" {
		return false
	}
	host, _ := fieldvalue.Lookup(o.Fields, "spec", "host").(string)
	return UnknownField("", fieldvalue.Lookup(o.Fields, "spec"), ofDestination) != "" || fieldvalue.Any(fieldvalue.Lookup(o.Fields, "spec"), func(value any) bool {
		mode := fieldvalue.Lookup(value, "tls", "mode")
		// The mTLS that a sidecar chooses by itself is ISTIO_MUTUAL.
		return mode != nil && mode != "ISTIO_MUTUAL" && (mode != "SIMPLE" || isOfCluster(host))
	})
}

// callsItself reports whether a kind of Kuma that is harmless otherwise has an address of the own machine: what a sidecar
// sends there by itself, such as a log that a caller sets off, passes no policy of the workload.
func (o Object) callsItself() bool {
	if !strings.HasPrefix(o.Kind, "Mesh") || !isAmong(harmlessKinds, o) {
		return false
	}
	found := fieldvalue.Lookup(o.Fields, "spec", "extension") != nil // what an extension does is not known
	fieldvalue.EachText(o.Fields, func(text string) {
		_, rest, isURL := strings.Cut(text, "://")
		if !isURL {
			rest = text
		}
		rest, _, _ = strings.Cut(rest, "/")
		rest = rest[strings.LastIndexByte(rest, '@')+1:]
		host, _, err := net.SplitHostPort(rest)
		if err != nil {
			host = strings.Trim(rest, "[]")
		}
		found = found || strings.HasPrefix(text, "unix:") || text != host+"/0" && isOwnMachine(host)
	})
	return found
}

// ownNumber is an address of the own machine as old resolvers read it: with fewer dots, or in another base.
var ownNumber = regexp.MustCompile(`(?i)^(127(\.\d+){1,2}|0x7f[0-9a-f.x]*|0177[0-7.]*|21307\d{5})$`)

// isOwnMachine reports whether a host is the machine on which a program asks for it, by its address or by a name.
func isOwnMachine(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback() || ip.IsUnspecified()
	}
	first, _, _ := strings.Cut(host, ".")
	ofTable := slices.Contains([]string{"ip6-localhost", "ip6-loopback", "localhost4", "localhost6"}, host)
	return ofTable || first == "localhost" || strings.HasSuffix(host, ".localhost") || ownNumber.MatchString(host)
}

// hasWaypoint reports whether a ServiceEntry says to a mesh by a label who judges what is sent to it.
func (o Object) hasWaypoint() bool {
	labels := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "metadata", "labels"))
	for key := range labels {
		if o.Kind == "ServiceEntry" && IsOfMesh(key) {
			return true
		}
	}
	return false
}
