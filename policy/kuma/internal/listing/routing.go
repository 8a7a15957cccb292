package listing

import (
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy/kuma/internal/destination"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/route"
	"github.com/meshproof/meshproof/policy/kuma/internal/timeout"
	"github.com/meshproof/meshproof/policy/manifest"
)

// RoutingKinds are the kinds of services, routes and timeouts.
var RoutingKinds = slices.Concat(destination.Kinds, []resource.Kind{route.MeshHTTPRoute, route.MeshTCPRoute, timeout.Kind})

// noTarget stands for the target of a service, which selects no proxy.
const noTarget = "-"

// RoutingObject reads a document of one of [RoutingKinds]. One that is refused is an object too.
func RoutingObject(doc manifest.Document) (capability.Object, error) {
	i := slices.IndexFunc(RoutingKinds, func(k resource.Kind) bool { return k.Owns(doc) })
	o := capability.Object{Kind: RoutingKinds[i].Name, Target: "{kind: Mesh}"}
	o.Rules = len(items(doc, "spec.to")) + len(items(doc, "spec.from")) + len(items(doc, "spec.rules"))
	namespace := permission.Options{}.ControlPlaneNamespace()
	var head resource.Resource
	var invalid error
	switch {
	case route.Owns(doc):
		var of route.Route
		of, invalid = route.Parse(doc, namespace)
		head, o.Role = of.Resource, of.Role
	case timeout.Kind.Owns(doc):
		var of timeout.Timeout
		of, invalid = timeout.Parse(doc, namespace)
		head, o.Role = of.Resource, of.Role
	default:
		var of destination.Destination
		of, invalid = destination.Parse(doc)
		head, o.Target = of.Resource, noTarget
	}
	return complete(o, doc, head, invalid)
}
