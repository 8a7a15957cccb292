package podtemplate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// A bypass is a label or an annotation of pods by which connections come to them past the proxy of a mesh.
type bypass struct {
	key string
	// isLabel is true where a label has the key too: it counts before an annotation then.
	isLabel bool
	// disabled is the value of a pod without a proxy; "" for a list of ports that the proxy does not see, or, with only, sees alone.
	disabled string
	only     bool
}

// bypasses are those of each mesh, by the API group of its policies. Cilium has no proxy in a pod, and no endpoint for one with the network of its host.
var bypasses = map[string][]bypass{
	"security.istio.io": {
		{key: "sidecar.istio.io/inject", isLabel: true, disabled: "false"},
		{key: "traffic.sidecar.istio.io/excludeInboundPorts"},
		{key: "traffic.sidecar.istio.io/includeInboundPorts", only: true},
	},
	"policy.linkerd.io": {
		{key: "linkerd.io/inject", disabled: "disabled"},
		{key: "config.linkerd.io/skip-inbound-ports"},
	},
	"kuma.io": {
		{key: "kuma.io/sidecar-injection", isLabel: true, disabled: "disabled"},
		{key: "traffic.kuma.io/exclude-inbound-ports"},
	},
	"cilium.io": nil,
}

// injections say where a Namespace refuses its pods a proxy, by the API group of the policies of a mesh. What the pods say by a key of their own comes first; in
// Istio the Namespace does.
var injections = map[string]struct{ field, key, ofPods string }{
	"security.istio.io": {field: "labels", key: "istio-injection"},
	"policy.linkerd.io": {field: "annotations", key: "linkerd.io/inject", ofPods: "linkerd.io/inject"},
	"kuma.io":           {field: "labels", key: "kuma.io/sidecar-injection", ofPods: "kuma.io/sidecar-injection"},
}

// isPast reports whether a value lets connections to all of some ports pass the proxy by.
func (b bypass) isPast(value string, ports []uint16) bool {
	if b.disabled != "" || b.only && value == "*" {
		return b.disabled != "" && b.disabled == value
	}
	isListed := func(port uint16) bool {
		return slices.ContainsFunc(strings.Split(value, ","), func(item string) bool {
			first, last, isRange := strings.Cut(strings.TrimSpace(item), "-")
			if !isRange {
				last = first
			}
			from, err := strconv.ParseUint(first, 10, 16)
			to, err2 := strconv.ParseUint(last, 10, 16)
			return err == nil && err2 == nil && uint64(port) >= from && uint64(port) <= to
		})
	}
	return len(ports) > 0 && !slices.ContainsFunc(ports, func(port uint16) bool { return isListed(port) == b.only })
}

// ambientMode is the label of pods and namespaces whose connections Istio judges without a sidecar.
const ambientMode = "istio.io/dataplane-mode"

// Bypass says which field lets connections to the pods pass their proxy by, under a policy of some document; "" for none. The policy asks for a port, or, where that is
// 0, for all that the containers of the pods state.
func (t Template) Bypass(of manifest.Document, port uint16, others []manifest.Document) string {
	keys, known := bypasses[metadata.IdentityOf(of).Group]
	if !known || t.Labels[ambientMode] == "ambient" || slices.ContainsFunc(others, func(doc manifest.Document) bool { return isAmbient(doc, t.Namespace) }) {
		return ""
	}
	if len(keys) > 0 && t.isProxy() {
		return "" // connections to it need no redirection
	}
	ports := []uint16{port}
	if port == 0 {
		ports = nil
		for stated := range t.containerPorts {
			if number, ok := portOf(stated["containerPort"]); ok {
				ports = append(ports, number)
			}
		}
	}
	for _, b := range keys {
		value, has := t.pods.Annotations[b.key]
		if label, both := t.pods.Labels[b.key]; b.isLabel && both {
			value, has = label, true
		}
		if has && !(b.disabled != "" && t.hasProxy()) && b.isPast(fmt.Sprint(value), ports) {
			return fmt.Sprintf("%s: %v", b.key, value)
		}
	}
	if t.pods.Spec["hostNetwork"] == true {
		return "hostNetwork: true"
	}
	return t.withoutInjection(metadata.IdentityOf(of).Group, others)
}

// withoutInjection names the label or the annotation of a Namespace by which its pods get no proxy, "" where there is none.
func (t Template) withoutInjection(group string, others []manifest.Document) string {
	in, known := injections[group]
	own := t.pods.Labels[in.ofPods] != nil || t.pods.Annotations[in.ofPods] != nil
	if !known || t.hasProxy() || in.ofPods != "" && own {
		return ""
	}
	for _, doc := range others {
		if d := read(doc); d.isOfCore("Namespace") && d.Name == t.Namespace && fieldvalue.Lookup(d.fields, "metadata", in.field, in.key) == "disabled" {
			return fmt.Sprintf("a Namespace with %s: disabled", in.key)
		}
	}
	return ""
}

// hasProxy reports whether the workload itself states a proxy of a mesh, as a gateway does, and one whose proxy was put in by hand.
func (t Template) hasProxy() bool {
	return slices.ContainsFunc(slices.Concat(fieldvalue.Mappings(t.pods.Spec["containers"]), fieldvalue.Mappings(t.pods.Spec["initContainers"])), isProxy)
}

// isProxy reports whether the pods are a proxy of a mesh and nothing else, as a gateway is.
func (t Template) isProxy() bool {
	containers := fieldvalue.Mappings(t.pods.Spec["containers"])
	return len(containers) > 0 && !slices.ContainsFunc(containers, func(container map[string]any) bool { return !isProxy(container) })
}

// isProxy reports whether a container is the proxy of a mesh, by its name.
func isProxy(container map[string]any) bool {
	name := container["name"]
	return name == "istio-proxy" || name == "linkerd-proxy" || name == "kuma-sidecar"
}

// isAmbient reports whether a document is the Namespace of this name, in ambient mode.
func isAmbient(doc manifest.Document, namespace string) bool {
	d := read(doc)
	return d.isOfCore("Namespace") && d.Name == namespace && fieldvalue.Lookup(d.fields, "metadata", "labels", ambientMode) == "ambient"
}
