package clusterobject

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/podtemplate"
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

// IsOfSystem reports whether an object belongs to the control plane of a cluster, or to such a tool. Each of its fields may matter, but
// for a kind that says nothing to anybody, and for a role. What a workload made again passes before this is asked.
func (o Object) IsOfSystem() bool {
	return !o.Universal && (IsOfSystem(o.Namespace) || fieldvalue.HasAnyPrefix(o.Name, systemNames))
}

// IsOfSystem reports whether the control plane of a cluster, or a tool that applies, changes or signs objects, runs in a namespace.
func IsOfSystem(namespace string) bool { return slices.Contains(systemNamespaces, namespace) }

// IsOfPlane reports whether a namespace is that of a control plane, or of a tool that applies or signs objects.
func IsOfPlane(namespace string) bool {
	return slices.Contains(planeNamespaces, namespace) || IsOfSystem(namespace)
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

// IsOfControlPlane reports whether an object belongs to the control plane of a mesh: by its name, its
// namespace, its labels or its images.
func (o Object) IsOfControlPlane() bool {
	if !o.Universal && (fieldvalue.HasAnyPrefix(o.Name, planeNames) || o.Name == "istio" || o.Name == "cacerts" || slices.Contains(planeNamespaces, o.Namespace)) {
		return true
	}
	labels := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "metadata", "labels"))
	for key, values := range planeLabels {
		if value, ok := labels[key].(string); ok && fieldvalue.HasAnyPrefix(value, values) {
			return true
		}
	}
	return slices.ContainsFunc(o.Containers("containers", "initContainers"), func(container map[string]any) bool {
		return fieldvalue.HasAnyPart(ImageOf(container), planeImages) && !IsSidecar(container)
	})
}

// PodPlace is what stands in front of a field of the pods of an object, such as "spec.template.": "" for a pod, and for what has none.
func (o Object) PodPlace() string {
	place, _ := podtemplate.PlaceOf(o.Kind)
	return place
}

// Containers are those of the pods of an object, of some of the lists of a pod.
func (o Object) Containers(lists ...string) (out []map[string]any) {
	pod := fieldvalue.Lookup(o.Fields, append(strings.Split(o.PodPlace(), "."), "spec")...)
	for _, list := range lists {
		out = append(out, fieldvalue.Mappings(fieldvalue.Lookup(pod, list))...)
	}
	return out
}

// ImageOf is the image of a container, "" where it states none.
func ImageOf(container map[string]any) string {
	image, _ := container["image"].(string)
	return image
}

// IsOfMeshImage reports whether an image is one of a control plane, or of what a mesh puts beside a workload.
func IsOfMeshImage(image string) bool {
	return fieldvalue.HasAnyPart(image, planeImages) || fieldvalue.HasAnyPart(image, sidecarImages)
}

// IsSidecar reports whether a container is what a mesh puts beside a workload.
func IsSidecar(container map[string]any) bool {
	name, _ := container["name"].(string)
	return slices.Contains(sidecarNames, name) || fieldvalue.HasAnyPart(ImageOf(container), sidecarImages)
}
