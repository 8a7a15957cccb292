package manifestdiff

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// ofServicePort are the fields of a port of a Service.
var ofServicePort = fieldpath.SetOf(`name port targetPort protocol nodePort appProtocol`)

// judging are the groups of the policies that judge requests by the port of a workload, and not by that of a Service.
var judging = []string{"security.istio.io", "policy.linkerd.io", "cilium.io"}

// mayRepeatPorts reports whether a Service may get a second port for a port of its pods. Kuma makes an inbound of each port of a
// Service, and policies of Istio about a Service judge by its ports. A port of a balancer is reached by others.
func (c *comparison) mayRepeatPorts(was, is clusterobject.Object) bool {
	for _, o := range []clusterobject.Object{was, is} {
		spec := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "spec"))
		if o.Category != clusterobject.Service || spec["type"] != nil && spec["type"] != "ClusterIP" || spec["clusterIP"] == "None" || spec["externalIPs"] != nil {
			return false
		}
	}
	if slices.ContainsFunc(c.objects(), hasWaypointLabel) {
		return false
	}
	policies := c.policies()
	return len(policies) > 0 && !slices.ContainsFunc(policies, func(o clusterobject.Object) bool {
		isAboutService := o.Group == "security.istio.io" && (fieldvalue.Lookup(o.Fields, "spec", "targetRef") != nil || fieldvalue.Lookup(o.Fields, "spec", "targetRefs") != nil)
		return !slices.Contains(judging, o.Group) || isAboutService
	})
}

// hasWaypointLabel reports whether an object sends requests to a waypoint of Istio, which judges them by the port of a Service.
func hasWaypointLabel(o clusterobject.Object) bool {
	waypoint := fieldvalue.Lookup(o.Fields, "metadata", "labels", "istio.io/use-waypoint")
	return waypoint != nil && waypoint != "none"
}

// repeatsPort reports whether a port of a Service says the same to a mesh as one in front of it: they lead to the same port, by
// the same protocol. A mesh takes the first one.
func repeatsPort(ports []any, n int) bool {
	is := fieldvalue.Mapping(ports[n])
	return clusterobject.UnknownField("", is, ofServicePort) == "" && slices.ContainsFunc(ports[:n], func(port any) bool {
		was := fieldvalue.Mapping(port)
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
