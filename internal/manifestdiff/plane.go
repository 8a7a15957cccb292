package manifestdiff

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// planeNames begin the names of what a control plane consists of, planeNamespaces are where it runs.
var (
	planeNames      = []string{"cert-manager-csi-driver-spiffe", "cert-manager-istio-csr", "cilium", "clustermesh-", "istio-", "istiod", "kong-mesh", "kuma-", "linkerd-", "spire-", "ztunnel"}
	planeNamespaces = []string{"cilium", "cilium-system", "istio-system", "kong-mesh-system", "kuma-system", "linkerd", "linkerd-cni", "linkerd-viz", "spire", "spire-server", "spire-system"}
)

// systemNamespaces are where the control plane of a cluster runs, and where tools run that apply, change or sign objects; systemNames
// begin the names of what such a tool consists of.
var (
	systemNamespaces = []string{"argocd", "cert-manager", "gatekeeper-system", "kube-public", "kube-system", "kyverno"}
	systemNames      = []string{"argocd-", "bootstrap-token-", "gatekeeper-", "kyverno"}
)

// isOfSystem reports whether an object belongs to the control plane of a cluster, or to such a tool. Each of its fields may matter, but
// for a kind that says nothing to anybody, and for a role. What a workload made again passes before this is asked.
func (o object) isOfSystem() bool {
	return !o.universal && (slices.Contains(systemNamespaces, o.namespace) || begins(o.name, systemNames))
}

// planeLabels tell what a control plane consists of. Their values are parts of names.
var planeLabels = map[string][]string{
	"app":                                       {"cilium", "istiod", "istio-", "kuma-", "kong-mesh", "ztunnel"},
	"k8s-app":                                   {"cilium", "istio-cni"},
	"app.kubernetes.io/name":                    {"cilium", "istio", "istiod", "kuma", "kong-mesh", "linkerd", "ztunnel", "spire"},
	"app.kubernetes.io/part-of":                 {"cilium", "istio", "kuma", "kong-mesh", "Linkerd", "spire"},
	"linkerd.io/control-plane-component":        {""},
	"operator.istio.io/component":               {""},
	"install.operator.istio.io/owning-resource": {""},
}

// planeImages are parts of the images of control planes, and sidecarImages of what they put beside a
// workload.
var (
	planeImages   = []string{"istio/pilot", "istio-release/", "istio-testing/", "istio-pilot", "/pilot:", "/pilot@", "/kuma-cp", "istio/install-cni", "istio/ztunnel", "kumahq/", "kong/kuma", "kong/mesh", "l5d.io/linkerd", "linkerd/", "linkerd-io/", "cilium/cilium", "cilium/operator", "spiffe/spire", "spire-server", "spire-agent", "istio-csr", "csi-driver-spiffe"}
	sidecarImages = []string{"proxyv2", "kuma-dp", "kuma-init", "linkerd/proxy", "linkerd-io/proxy", "linkerd/proxy-init", "l5d.io/", "envoyproxy/envoy"}
)

// sidecarNames are the containers that a mesh puts beside a workload. A container with such a name takes
// the place of the mesh's own, or changes it.
var sidecarNames = []string{
	"istio-proxy", "istio-init", "istio-validation", "enable-core-dump", "kuma-sidecar", "kuma-init", "kuma-validation",
	"linkerd-proxy", "linkerd-init", "linkerd-network-validator", "linkerd-debug",
}

// isOfControlPlane reports whether an object belongs to the control plane of a mesh: by its name, its
// namespace, its labels or its images.
func (o object) isOfControlPlane() bool {
	if !o.universal && (begins(o.name, planeNames) || o.name == "istio" || o.name == "cacerts" || slices.Contains(planeNamespaces, o.namespace)) {
		return true
	}
	labels, _ := fieldvalue.Lookup(o.fields, "metadata", "labels").(map[string]any)
	for key, values := range planeLabels {
		if value, ok := labels[key].(string); ok && begins(value, values) {
			return true
		}
	}
	return slices.ContainsFunc(o.containers("containers", "initContainers"), func(container map[string]any) bool {
		return has(imageOf(container), planeImages) && !isSidecar(container)
	})
}

// containers are those of the pods of an object, of some of the lists of a pod.
func (o object) containers(lists ...string) (out []map[string]any) {
	pod := fieldvalue.Lookup(o.fields, append(strings.Split(podPlaces[o.kind], "."), "spec")...)
	for _, list := range lists {
		out = append(out, fieldvalue.Mappings(fieldvalue.Lookup(pod, list))...)
	}
	return out
}

// imageOf is the image of a container, "" where it states none.
func imageOf(container map[string]any) string {
	image, _ := container["image"].(string)
	return image
}

// isSidecar reports whether a container is what a mesh puts beside a workload.
func isSidecar(container map[string]any) bool {
	name, _ := container["name"].(string)
	return slices.Contains(sidecarNames, name) || has(imageOf(container), sidecarImages)
}

func has(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}
