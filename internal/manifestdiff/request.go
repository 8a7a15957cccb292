package manifestdiff

import (
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// changesRequests reports whether an object is a VirtualService by which a gateway changes requests: policies of
// the gateway judge a request as it came, and those of a workload judge what the gateway makes of it. Where
// sidecars change requests, the caller does so itself. A VirtualService without hosts is a part of another one.
func (o object) changesRequests() bool {
	if o.kind != "VirtualService" || o.group != "networking.istio.io" {
		return false
	}
	gateways, _ := fieldOf(o.fields, "spec", "gateways").([]any)
	isOfGateway := slices.ContainsFunc(gateways, func(gateway any) bool { return gateway != "mesh" }) || fieldOf(o.fields, "spec", "hosts") == nil
	changes := func(route map[string]any) bool {
		return route["rewrite"] != nil || fieldOf(route, "headers", "request") != nil
	}
	return isOfGateway && slices.ContainsFunc(mappings(fieldOf(o.fields, "spec", "http")), func(route map[string]any) bool {
		return changes(route) || slices.ContainsFunc(mappings(route["route"]), changes)
	})
}

// rewriting is the name of an annotation by which the controller of an Ingress changes the path, the host or the headers of
// requests, or runs what an author writes.
var rewriting = regexp.MustCompile(`(?i)/.*(rewrite|snippet|header|vhost|middleware|app-root|actions\.|conditions\.|transform|lua|backend-config|configuration|set-host|strip|replace|regex|plugin)`)

// rewrites reports whether an Ingress changes requests, as a VirtualService of a gateway may.
func (o object) rewrites() bool {
	annotations, _ := fieldOf(o.fields, "metadata", "annotations").(map[string]any)
	for key := range annotations {
		if o.kind == "Ingress" && !begins(key, harmlessAnnotations) && rewriting.MatchString(key) {
			return true
		}
	}
	return false
}

// isOfCluster reports whether a host is a service of a cluster, or a pattern that has one.
func isOfCluster(host string) bool {
	return !strings.Contains(host, ".") || strings.HasPrefix(host, "*") && !strings.Contains(strings.Trim(host, "*."), ".") || strings.HasSuffix(host, ".svc") || strings.Contains(host, ".svc.") || strings.HasSuffix(host, ".local")
}

// statesTLS reports whether a DestinationRule says with which TLS requests go to a service of the cluster: without mTLS a
// gateway, which sends what others ask for, has no name any more by which a policy may keep it out.
func (o object) statesTLS() bool {
	host, _ := fieldOf(o.fields, "spec", "host").(string)
	return o.kind == "DestinationRule" && o.group == "networking.istio.io" && isOfCluster(host) && anyIn(fieldOf(o.fields, "spec"), func(value any) bool {
		mode := fieldOf(value, "tls", "mode")
		return mode != nil && mode != "ISTIO_MUTUAL" // which is the mTLS that a sidecar chooses by itself
	})
}

// callsItself reports whether a kind of Kuma that is harmless otherwise has an address of the own machine: what a sidecar
// sends there by itself, such as a log that a caller sets off, passes no policy of the workload.
func (o object) callsItself() bool {
	if !strings.HasPrefix(o.kind, "Mesh") || !isAmong(harmlessKinds, o) {
		return false
	}
	found := false
	eachText(o.fields, func(text string) {
		_, rest, isURL := strings.Cut(text, "://")
		if !isURL {
			rest = text
		}
		rest, _, _ = strings.Cut(rest, "/")
		host, _, err := net.SplitHostPort(rest)
		if err != nil {
			host = strings.Trim(rest, "[]")
		}
		ip, err := netip.ParseAddr(host)
		found = found || err == nil && text != host+"/0" && (ip.Unmap().IsLoopback() || ip.IsUnspecified()) || strings.EqualFold(host, "localhost")
	})
	return found
}

// mapsUsers reports whether a ConfigMap says which users of a cloud are which users and groups of the cluster.
func (o object) mapsUsers() bool { return o.name == "aws-auth" && o.namespace == "kube-system" }

// agents are the kinds of which an agent of Cilium writes each object.
var agents = fields("CiliumEndpoint CiliumIdentity CiliumNode")

// isWritten reports whether an author writes an object for which agents are there: no API server gave it. By
// such an object an address gets the name of another caller.
func (o object) isWritten() bool {
	return o.group == "cilium.io" && agents[o.kind] && fieldOf(o.fields, "metadata", "resourceVersion") == nil
}

// hasWaypoint reports whether a ServiceEntry says to a mesh by a label who judges what is sent to it.
func (o object) hasWaypoint() bool {
	labels, _ := fieldOf(o.fields, "metadata", "labels").(map[string]any)
	for key := range labels {
		if o.kind == "ServiceEntry" && isOfMesh(key) {
			return true
		}
	}
	return false
}
