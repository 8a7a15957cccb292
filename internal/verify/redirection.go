package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Istio redirects the connections of a pod to its sidecar, as annotations of the pod say (pkg/kube/inject and
// tools/istio-iptables). Istio's agent writes them into the node, and the way of interception too. The config of the proxy is
// that of the mesh, with what an annotation of the pod has of it.
const (
	redirection      = "traffic.sidecar.istio.io/"
	interception     = "sidecar.istio.io/interceptionMode"
	interceptionMode = "INTERCEPTION_MODE"
	metadataPrefix   = "ISTIO_META_"
	// interfaces has those whose connections are redirected to outbound listeners.
	interfaces = "istio.io/reroute-virtual-interfaces"
	// agentPort has the port of the agent, which the injector leaves out of the redirection.
	agentPort     = "status.sidecar.istio.io/port"
	configOfProxy = "PROXY_CONFIG"
	configOfPod   = "proxy.istio.io/config"
)

// redirectsOut are the annotations about connections of the pod to others.
var redirectsOut = []string{"includeOutboundIPRanges", "excludeOutboundIPRanges", "includeOutboundPorts", "excludeOutboundPorts"}

// agentPorts are the ports of Istio's agent and of its sidecar, which Istio leaves out by default.
var agentPorts = []string{"15020", "15021", "15090"}

// statusPort is the port of the agent to which the listener for its health leads. With another one, or with none, that listener leads to
// the workload.
const statusPort = "15020"

// tunnelPort is the port of HBONE, which istio-init always leaves out.
const tunnelPort = "15008"

// unredirected says that Istio redirects no connections to the port of a chain, which its listener does not bind itself: the workload may.
func unredirected(in sidecar.Inbound, nodes []dump.Node) string {
	// A chain for every port is asked on ports that policies name: the address has the one that is asked.
	port := fmt.Sprint(cmp.Or(in.Match.GetDestinationPort().GetValue(), uint32(in.Address.Port())))
	ofIstio := slices.ContainsFunc(nodes, func(node dump.Node) bool { return strings.HasPrefix(node.ID, "sidecar~") })
	if !ofIstio || port == fmt.Sprint(in.Socket.Port()) || port != tunnelPort && !slices.Contains(agentPorts, port) {
		return ""
	}
	return fmt.Sprintf("Istio redirects no connections to the port %s to the sidecar: callers reach a workload of this port past it", port)
}

// decoded returns what an annotation has in YAML; something that is no object where it cannot be read.
func decoded(annotation any) any {
	text, isText := annotation.(string)
	switch {
	case !isText:
		return annotation
	case strings.TrimSpace(text) == "":
		return nil
	}
	var fields map[string]any
	docs, err := manifest.Parse(configOfPod, []byte(text))
	if err != nil || len(docs) != 1 || docs[0].Decode(&fields) != nil {
		return text
	}
	return fields
}

// passedBy says which connections to a pod do not pass its sidecar, as the node of the sidecar has it. An annotation
// that is not known may be about such ones.
func passedBy(node dump.Node) (out []string) {
	annotations, isObject := node.Metadata["ANNOTATIONS"].(map[string]any)
	if has := node.Metadata["ANNOTATIONS"]; has != nil && !isObject {
		out = append(out, "the node has annotations in a form that is not known: they may let connections pass the sidecar by")
	}
	if kind, _, ofIstio := strings.Cut(node.ID, "~"); ofIstio && kind != "sidecar" {
		out = append(out, fmt.Sprintf("the node is no sidecar of Istio (%s): no connections to the pod are redirected to it", kind))
	}
	modes, ports := []any{node.Metadata[interceptionMode], annotations[interception]}, []any{annotations[agentPort]}
	var metadataOfAll []map[string]any
	for _, config := range []struct {
		name  string
		value any
	}{{configOfProxy, node.Metadata[configOfProxy]}, {configOfPod, decoded(annotations[configOfPod])}} {
		fields, isObject := config.value.(map[string]any)
		metadata, isMap := fields["proxyMetadata"].(map[string]any)
		if config.value != nil && !isObject || fields["proxyMetadata"] != nil && !isMap {
			out = append(out, fmt.Sprintf("the node has the config of the proxy (%s) in a form that is not known: it may let connections pass the sidecar by", config.name))
		}
		modes = append(modes, fields["interceptionMode"], metadata[metadataPrefix+interceptionMode])
		ports = append(ports, fields["statusPort"])
		out = append(out, passedByConfig(config.name, fields, metadata)...)
		metadataOfAll = append(metadataOfAll, metadata)
	}
	out = append(out, passedByFamily(node, metadataOfAll...)...)
	for _, mode := range modes {
		if mode != nil && mode != "REDIRECT" && mode != "TPROXY" {
			out = append(out, fmt.Sprintf("the node says that connections to the pod are not redirected to the sidecar (interception mode %v): callers reach the workload past it", mode))
		}
	}
	for _, port := range ports {
		if port != nil && port != "" && fmt.Sprint(port) != statusPort {
			out = append(out, fmt.Sprintf("the node says that Istio's agent has the port %v, and not %s: callers may reach a workload of either port past the filters", port, statusPort))
		}
	}
	labels, isObject := node.Metadata["LABELS"].(map[string]any)
	if has := node.Metadata["LABELS"]; has != nil && !isObject {
		out = append(out, "the node has labels in a form that is not known: they may let connections pass the sidecar by")
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		value, isText := labels[key].(string)
		if !isText {
			out = append(out, fmt.Sprintf("the pod has the label %s=%v, which is no text: nothing tells what it is", key, labels[key]))
		} else if !isKnown(harmlessLabels, key, value) {
			out = append(out, fmt.Sprintf("the pod has the label %s=%q, which is not known to leave the redirection as it is: some connections may not pass the sidecar", key, value))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		about, isRedirection := strings.CutPrefix(key, redirection)
		value := fmt.Sprint(annotations[key])
		if isHarmless(key, value) || slices.Contains(redirectsOut, about) && isPlain(value) {
			continue
		}
		excluded := slices.DeleteFunc(strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }), func(port string) bool {
			return slices.Contains(agentPorts, port)
		})
		switch {
		case !isRedirection && key != interfaces:
			out = append(out, fmt.Sprintf("the pod has the annotation %s=%q, which is not known to leave the redirection as it is: some connections may not pass the sidecar", key, value))
		case about == "includeInboundPorts" && value == "*", about == "excludeInboundPorts" && len(excluded) == 0:
		case about != "includeInboundPorts" && value == "":
		default:
			out = append(out, fmt.Sprintf("the pod has the annotation %s=%q: some connections to it do not pass the sidecar", key, value))
		}
	}
	return out
}
