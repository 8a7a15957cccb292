package manifestdiff

import (
	"maps"
	"reflect"
	"slices"
)

// isOtherPort reports whether a port of a container may be another one for a mesh: a policy or a Service
// names it, it is a port of the node, or it is there no more, and Linkerd judges the ports that it knows. A new
// port without such a name tells nobody anything.
func (w *walker) isOtherPort(was, is map[string]any) bool {
	for _, field := range []string{"hostPort", "hostIP"} {
		if !reflect.DeepEqual(was[field], is[field]) {
			return true
		}
	}
	old, _ := was["name"].(string)
	recent, _ := is["name"].(string)
	return is == nil || old != recent && (w.named.Has(old) || w.named.Has(recent))
}

// withPorts returns the fields of a pod with the ports of the node that an API server writes where the pod has
// its network.
func withPorts(spec map[string]any) map[string]any {
	containers, isList := spec["containers"].([]any)
	if !isList || !isTrue(spec["hostNetwork"]) {
		return spec
	}
	containers = slices.Clone(containers)
	for i, item := range containers {
		container, _ := item.(map[string]any)
		ports, isList := container["ports"].([]any)
		if !isList {
			continue
		}
		ports = slices.Clone(ports)
		for n, item := range ports {
			if port, ok := item.(map[string]any); ok && port["hostPort"] == nil {
				port = maps.Clone(port)
				port["hostPort"], ports[n] = port["containerPort"], port
			}
		}
		container = maps.Clone(container)
		container["ports"], containers[i] = ports, container
	}
	spec["containers"] = containers
	return spec
}
