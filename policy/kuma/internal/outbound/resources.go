// Package outbound makes the routing program of a proxy out of the routes, the timeouts and
// the destinations of its mesh.
//
// It guarantees that the result does not depend on the order of the documents, that each
// limit names the policy and the field that it comes from, and that what has no effect has
// its reason. It follows seed 003, and where released Kuma differs, [Released] follows that.
// It reads no YAML and knows no Envoy.
package outbound

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/destination"
	"github.com/meshproof/meshproof/policy/kuma/internal/reference"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/route"
	"github.com/meshproof/meshproof/policy/kuma/internal/timeout"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Design says what the limits of a route come from.
type Design uint8

// The designs.
const (
	// Seed takes a limit that no policy sets on the route from the policies of the service,
	// bound by bound: seed 003, "Overriding configuration".
	Seed Design = iota
	// Released does as Kuma 2.14: where a policy names the route, the service's
	// requestTimeout does not count, and the default of 15 s stands in its place. The
	// service's streamIdleTimeout does count. Of the limits of a backend only the connectionTimeout
	// counts where the backend speaks gRPC.
	Released
)

var designNames = [...]string{Seed: "seed", Released: "released"}

// String returns the name used in case files.
func (d Design) String() string { return designNames[d] }

// leavesOut reports whether the design sets no such limit on a backend of the protocol.
func (d Design) leavesOut(bound routing.Bound, protocol policy.Protocol) bool {
	return d == Released && protocol == policy.GRPC && bound.Level() == routing.OfCluster && bound != routing.Connection
}

// UnmarshalText reads the name used in case files. An unknown name is an error that lists
// the known ones.
func (d *Design) UnmarshalText(text []byte) error {
	i := slices.Index(designNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("kumaRoutes %q is unknown: use %s", text, strings.Join(designNames[:], " or "))
	}
	*d = Design(i)
	return nil
}

// Resources are the destinations, routes and timeouts of a folder. They are immutable;
// [Parse] makes them. The zero value has none.
type Resources struct {
	destinations []destination.Destination
	routes       []route.Route
	timeouts     []timeout.Timeout
	design       Design
	// byName has the places of destinations and of routes in their lists: several where a name is there
	// in several zones.
	byName map[nameKey][]int
}

// nameKey is what a reference by name says of the resource that it means.
type nameKey struct{ kind, mesh, namespace, name string }

// SpecFields returns the fields that routes, timeouts and services may have in their spec.
func SpecFields() []string {
	return slices.Concat(route.SpecFields(), timeout.SpecFields(), destination.SpecFields())
}

// Owns reports whether a document is one of the resources.
func Owns(doc manifest.Document) bool {
	return destination.Owns(doc) || route.Owns(doc) || timeout.Kind.Owns(doc)
}

// Parse reads the documents that [Owns] tells. Policies of the system namespace apply to the
// callers of all namespaces. All errors are joined, one line each with its place.
func Parse(docs []manifest.Document, systemNamespace string, design Design) (*Resources, error) {
	var services, routes, timeouts []manifest.Document
	for _, doc := range docs {
		switch {
		case destination.Owns(doc):
			services = append(services, doc)
		case route.Owns(doc):
			routes = append(routes, doc)
		default:
			timeouts = append(timeouts, doc)
		}
	}
	r := &Resources{design: design}
	var errs [3]error
	r.destinations, errs[0] = destination.ParseAll(services)
	r.routes, errs[1] = route.ParseAll(routes, systemNamespace)
	r.timeouts, errs[2] = timeout.ParseAll(timeouts, systemNamespace)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	r.index()
	return r, nil
}

// index fills byName, in the order of the identifiers.
func (r *Resources) index() {
	slices.SortFunc(r.destinations, func(a, b destination.Destination) int { return strings.Compare(a.Origin, b.Origin) })
	slices.SortFunc(r.routes, func(a, b route.Route) int { return strings.Compare(a.Origin, b.Origin) })
	slices.SortFunc(r.timeouts, func(a, b timeout.Timeout) int { return strings.Compare(a.Origin, b.Origin) })
	r.byName = make(map[nameKey][]int, len(r.destinations)+len(r.routes))
	add := func(kind resource.Kind, id kri.KRI, i int) {
		key := nameKey{kind.Name, id.Mesh, id.Namespace, id.Name}
		r.byName[key] = append(r.byName[key], i)
	}
	for i := range r.destinations {
		add(r.destinations[i].Kind, r.destinations[i].ID, i)
	}
	for i := range r.routes {
		add(r.routes[i].Kind, r.routes[i].ID, i)
	}
}

// Parsed returns the documents as they were parsed, for a second opinion.
func (r *Resources) Parsed() ([]destination.Destination, []route.Route, []timeout.Timeout) {
	return r.destinations, r.routes, r.timeouts
}

// Targets returns the targets of the routes and of the timeouts.
func (r *Resources) Targets() (out []capability.Target) {
	for i := range r.routes {
		out = append(out, routeSelector(&r.routes[i]).AsTarget())
	}
	for i := range r.timeouts {
		if len(r.timeouts[i].To) > 0 {
			out = append(out, selectorOf(&r.timeouts[i]).AsTarget())
		}
	}
	return out
}

// find returns the places of the resources that a reference by name may mean, see [resource.Resource.MayName]: that of
// the zone of the policy, or else the one that states no zone. A policy that states no zone may be of any.
func (r *Resources) find(ref reference.Ref, from *resource.Resource) []int {
	var all []int
	for _, i := range r.named(ref, from) {
		if from.MayName(r.head(ref.Kind, i)) {
			all = append(all, i)
		}
	}
	for _, zone := range []string{from.ID.Zone, ""} {
		for _, i := range all {
			if r.head(ref.Kind, i).ID.Zone == zone {
				return []int{i}
			}
		}
	}
	return all
}

// named returns the places of the resources that have the name of a reference, of all zones.
func (r *Resources) named(ref reference.Ref, from *resource.Resource) []int {
	return r.byName[nameKey{ref.Kind, from.ID.Mesh, cmp.Or(ref.Namespace, from.ID.Namespace), ref.Name}]
}

// head returns the head of a route or of a destination, by its place.
func (r *Resources) head(kind string, i int) resource.Resource {
	if kind == route.MeshHTTPRoute.Name || kind == route.MeshTCPRoute.Name {
		return r.routes[i].Resource
	}
	return r.destinations[i].Resource
}

// absent says that there is no such resource, and where one of another zone has the name.
func (r *Resources) absent(ref reference.Ref, from *resource.Resource) string {
	if ref.Labels == nil && len(r.named(ref, from)) > 0 {
		return fmt.Sprintf("there is no %s of the policy's own zone (Kuma looks for a name in no other: select by labels)", ref)
	}
	return fmt.Sprintf("there is no %s", ref)
}

// Inbounds returns the inbounds behind a cluster of a proxy: those that its name identifies.
func (r *Resources) Inbounds(cluster string, inbounds []policy.Inbound) []policy.Inbound {
	for i := range r.destinations {
		d := &r.destinations[i]
		for _, p := range d.Ports {
			if d.PortID(p).String() == cluster {
				return d.Inbounds(p, r.destinations, inbounds)
			}
		}
	}
	return nil
}

// HasDestinations reports whether a mesh has something to send requests to.
func (r *Resources) HasDestinations(mesh string) bool {
	return slices.ContainsFunc(r.destinations, func(d destination.Destination) bool { return d.ID.Mesh == mesh })
}
