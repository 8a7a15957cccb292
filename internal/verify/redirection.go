package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/dump"
)

// Istio redirects the connections of a pod to its sidecar, as annotations of the pod say (pkg/kube/inject and
// tools/istio-iptables). Istio's agent writes them into the node, and the way of interception too.
const (
	redirection      = "traffic.sidecar.istio.io/"
	interception     = "sidecar.istio.io/interceptionMode"
	interceptionMode = "INTERCEPTION_MODE"
	// interfaces has those whose connections are redirected to outbound listeners.
	interfaces = "istio.io/reroute-virtual-interfaces"
)

// redirectsOut are the annotations about connections of the pod to others.
var redirectsOut = []string{"includeOutboundIPRanges", "excludeOutboundIPRanges", "includeOutboundPorts", "excludeOutboundPorts"}

// agentPorts are the ports of Istio's agent and of its sidecar, which Istio leaves out by default.
var agentPorts = []string{"15020", "15021", "15090"}

// passedBy says which connections to a pod do not pass its sidecar, as the node of the sidecar has it. An annotation
// that is not known may be about such ones.
func passedBy(node dump.Node) (out []string) {
	annotations, isObject := node.Metadata["ANNOTATIONS"].(map[string]any)
	if has := node.Metadata["ANNOTATIONS"]; has != nil && !isObject {
		out = append(out, "the node has annotations in a form that is not known: they may let connections pass the sidecar by")
	}
	config, _ := node.Metadata["PROXY_CONFIG"].(map[string]any)
	for _, mode := range []any{node.Metadata[interceptionMode], annotations[interception], config["interceptionMode"]} {
		if mode != nil && mode != "REDIRECT" && mode != "TPROXY" {
			out = append(out, fmt.Sprintf("the node says that connections to the pod are not redirected to the sidecar (interception mode %v): callers reach the workload past it", mode))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		about, isRedirection := strings.CutPrefix(key, redirection)
		if !isRedirection && key != interfaces || slices.Contains(redirectsOut, about) {
			continue
		}
		value := fmt.Sprint(annotations[key])
		excluded := slices.DeleteFunc(strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }), func(port string) bool {
			return slices.Contains(agentPorts, port)
		})
		switch {
		case about == "includeInboundPorts" && value == "*", about == "excludeInboundPorts" && len(excluded) == 0:
		case about != "includeInboundPorts" && value == "":
		default:
			out = append(out, fmt.Sprintf("the pod has the annotation %s=%q: some connections to it do not pass the sidecar", key, value))
		}
	}
	return out
}
