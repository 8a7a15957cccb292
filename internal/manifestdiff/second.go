package manifestdiff

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// ofServicePort are the fields of a port of a Service.
var ofServicePort = fields(`name port targetPort protocol nodePort appProtocol`)

// judging are the groups of the policies that judge requests by the port of a workload, and not by that of a Service.
var judging = []string{"security.istio.io", "policy.linkerd.io", "cilium.io"}

// mayRepeatPorts reports whether a Service may get a second port for a port of its pods. Kuma makes an inbound of each port of a
// Service, and policies of Istio about a Service judge by its ports. A port of a balancer is reached by others.
func (c *comparison) mayRepeatPorts(was, is object) bool {
	for _, o := range []object{was, is} {
		spec := asMapping(fieldvalue.Lookup(o.fields, "spec"))
		if o.category != service || spec["type"] != nil && spec["type"] != "ClusterIP" || spec["clusterIP"] == "None" || spec["externalIPs"] != nil {
			return false
		}
	}
	if slices.ContainsFunc(slices.Concat(c.oldObjects.all, c.recentObjects.all), object.hasWaypointLabel) {
		return false
	}
	policies := c.policies()
	return len(policies) > 0 && !slices.ContainsFunc(policies, func(o object) bool {
		isAboutService := o.group == "security.istio.io" && (fieldvalue.Lookup(o.fields, "spec", "targetRef") != nil || fieldvalue.Lookup(o.fields, "spec", "targetRefs") != nil)
		return !slices.Contains(judging, o.group) || isAboutService
	})
}

// hasWaypointLabel reports whether an object sends requests to a waypoint of Istio, which judges them by the port of a Service.
func (o object) hasWaypointLabel() bool {
	waypoint := fieldvalue.Lookup(o.fields, "metadata", "labels", "istio.io/use-waypoint")
	return waypoint != nil && waypoint != "none"
}

// repeatsPort reports whether a port of a Service says the same to a mesh as one in front of it: they lead to the same port, by
// the same protocol. A mesh takes the first one.
func repeatsPort(ports []any, n int) bool {
	is := asMapping(ports[n])
	return unknownField("", is, ofServicePort) == "" && slices.ContainsFunc(ports[:n], func(port any) bool {
		was := asMapping(port)
		return reflect.DeepEqual(targetOf(was), targetOf(is)) && protocolOf(was) == protocolOf(is) && was["name"] != nil
	})
}

// protocolOf is what a port of a Service says of its protocol, by its name too.
func protocolOf(port map[string]any) string {
	name, _ := port["name"].(string)
	of, _, _ := strings.Cut(strings.ToLower(name), "-")
	if strings.HasPrefix(strings.ToLower(name), "grpc-web") {
		of = "grpc-web"
	}
	transport := port["protocol"]
	if transport == nil {
		transport = "TCP"
	}
	return fmt.Sprint(of, " ", transport, " ", port["appProtocol"])
}
