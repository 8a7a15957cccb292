package outbound

import (
	"cmp"
	"slices"

	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/destination"
	"github.com/meshproof/meshproof/policy/kuma/internal/reference"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/route"
	"github.com/meshproof/meshproof/policy/kuma/internal/scope"
	"github.com/meshproof/meshproof/policy/kuma/internal/timeout"
)

// entry is an item of a policy that applies to the proxy.
type entry struct {
	policy *timeout.Timeout
	item   *timeout.Item
	rank   scope.Rank
	// kind is the place of the item's kind in the order of strength, section is 1 for an item
	// of one port of a MeshService.
	kind, section int
}

// strength are the kinds of items, the weakest first.
var strength = []string{
	reference.Mesh, destination.MeshService.Name, destination.MeshExternalService.Name, destination.MeshMultiZoneService.Name,
	route.MeshTCPRoute.Name, route.MeshHTTPRoute.Name,
}

// compare orders the weakest first: by what the policies weigh, then by what their items are
// for, then by name.
func (e entry) compare(f entry) int {
	return cmp.Or(e.rank.CompareWeight(f.rank), cmp.Compare(e.kind, f.kind), cmp.Compare(e.section, f.section), e.rank.CompareName(f.rank))
}

// Rule is what the timeouts of a proxy come to on one resource: a port of a destination, or a
// route.
type Rule struct {
	// ID is the identifier of the resource, with the section of a port.
	ID   kri.KRI
	Conf timeout.Conf
	// Origins are the policies that have a part in the conf, the weakest first.
	Origins []string
}

// rules are the ResourceRules of a proxy (seed 003, "Merging and applying configurations").
type rules struct {
	// mesh are the entries for the whole mesh, resources those that name a resource. Both are in
	// the order of strength.
	mesh      []entry
	resources map[kri.KRI][]entry
}

// rulesFor resolves the timeouts that apply to a proxy.
func (r *Resources) rulesFor(proxy *policy.Inbound) rules {
	var entries []entry
	for i := range r.timeouts {
		t := &r.timeouts[i]
		if s := selectorOf(t); s.Miss(proxy) == nil {
			rank := s.Rank()
			for k := range t.To {
				item := &t.To[k]
				entries = append(entries, entry{policy: t, item: item, rank: rank, kind: slices.Index(strength, item.Ref.Kind), section: sectionWeight(item.Ref)})
			}
		}
	}
	slices.SortStableFunc(entries, entry.compare)
	out := rules{resources: map[kri.KRI][]entry{}}
	for _, e := range entries {
		if e.item.Ref.Kind == reference.Mesh {
			out.mesh = append(out.mesh, e)
			continue
		}
		r.eachMeant(e, func(id kri.KRI) { out.resources[id] = append(out.resources[id], e) })
	}
	return out
}

// sectionWeight is 1 for one port of a MeshService, which weighs more than the whole service. Of other kinds
// a port weighs no more.
func sectionWeight(ref reference.Ref) int {
	if ref.Kind == destination.MeshService.Name && ref.Section != "" {
		return 1
	}
	return 0
}

func selectorOf(t *timeout.Timeout) scope.Selector {
	return scope.Selector{Resource: &t.Resource, Target: &t.Target, Role: t.Role}
}

// eachMeant calls yield for each resource that an entry means: the ports of a destination, or
// a route.
func (r *Resources) eachMeant(e entry, yield func(kri.KRI)) {
	ref, from := e.item.Ref, &e.policy.Resource
	switch ref.Kind {
	case route.MeshHTTPRoute.Name, route.MeshTCPRoute.Name:
		for _, meant := range r.routesMeant(ref, from) {
			yield(meant.ID)
		}
	default:
		for _, d := range r.destinationsMeant(ref, from) {
			for _, p := range d.Ports {
				if ref.Section == "" || ref.Section == p.Section() {
					yield(d.PortID(p))
				}
			}
		}
	}
}

func (r *Resources) routesMeant(ref reference.Ref, from *resource.Resource) []*route.Route {
	return meant(r, r.routes, ref, from, func(of *route.Route) (resource.Kind, *resource.Resource) { return of.Kind, &of.Resource })
}

func (r *Resources) destinationsMeant(ref reference.Ref, from *resource.Resource) []*destination.Destination {
	return meant(r, r.destinations, ref, from, func(of *destination.Destination) (resource.Kind, *resource.Resource) { return of.Kind, &of.Resource })
}

// meant returns which resources of a list a reference means, in the order of their identifiers. Where a
// name may mean one of several, it is the first, see [Resources.unclear].
func meant[T any](r *Resources, all []T, ref reference.Ref, from *resource.Resource, head func(*T) (resource.Kind, *resource.Resource)) (out []*T) {
	if ref.Labels == nil {
		if found := r.find(ref, from); len(found) > 0 {
			out = append(out, &all[found[0]])
		}
		return out
	}
	for i := range all {
		if kind, of := head(&all[i]); kind.Name == ref.Kind && ref.Selects(of, from) {
			out = append(out, &all[i])
		}
	}
	return out
}

// merge merges what applies to a resource: its own entries, and those for the whole mesh.
func merge(id kri.KRI, own, mesh []entry) Rule {
	out := Rule{ID: id}
	for len(own)+len(mesh) > 0 {
		var next entry
		if len(mesh) == 0 || len(own) > 0 && own[0].compare(mesh[0]) < 0 {
			next, own = own[0], own[1:]
		} else {
			next, mesh = mesh[0], mesh[1:]
		}
		out.Conf.Merge(next.item.Conf)
		if origin := next.policy.Origin; !slices.Contains(out.Origins, origin) {
			out.Origins = append(out.Origins, origin)
		}
	}
	return out
}
