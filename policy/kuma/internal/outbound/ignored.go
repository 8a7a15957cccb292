package outbound

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/destination"
	"github.com/meshproof/meshproof/policy/kuma/internal/reference"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/route"
	"github.com/meshproof/meshproof/policy/kuma/internal/scope"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
	"github.com/meshproof/meshproof/policy/kuma/internal/timeout"
)

// ignored returns what has no effect on the proxy: routes, then timeouts, in their order.
func (b *builder) ignored() []routing.Ignored {
	out := append(b.circles(), b.unprovenLimits()...)
	misses := map[kri.KRI]string{}
	for i := range b.Resources.routes {
		r := &b.Resources.routes[i]
		out = append(out, overwritten(&r.Resource, r.Overwritten)...)
		if miss := routeSelector(r).Miss(&b.proxy).String(); miss != "" {
			misses[r.ID] = miss
			out = append(out, routing.Ignored{Origin: r.Origin, Place: r.Place(), Policy: r.Place(), Reason: miss, Kind: warning.SelectsNothing})
			continue
		}
		out = append(out, b.unclearBackends(r)...)
		for k := range r.To {
			item := routing.Ignored{Origin: r.Origin, Place: r.Doc.Place(r.To[k].Ref.Field), Policy: r.Place()}
			if item.Reason = cmp.Or(b.unclear(r.To[k].Ref, &r.Resource), b.unprovenPort(r, r.To[k]), writtenHeader(r.To[k])); item.Reason != "" {
				item.Kind, item.Unproven = warning.RouteNotReached, true
				out = append(out, item)
			} else if reason, missing := b.routeMiss(r, r.To[k]); reason != "" {
				kind := warning.RouteNotReached
				if missing {
					kind = warning.DanglingReference
				}
				item.Reason, item.Missing, item.Kind = reason, missing, kind
				out = append(out, item)
			}
		}
	}
	for i := range b.destinations {
		d := &b.destinations[i]
		for k, p := range d.Ports {
			if d.Kind == destination.MeshService && p.Target() == "" {
				out = append(out, routing.Ignored{Origin: d.PortID(p).String(), Place: d.Doc.Place(fmt.Sprintf("spec.ports[%d]", k)), Policy: d.Place(), Kind: warning.MissingBackend,
					Reason: "the port has no targetPort, for which Kuma has no default, so that no inbound is behind it: write the number or the name of the inbound"})
			}
		}
		if d.Unavailable {
			out = append(out, routing.Ignored{Origin: d.Origin, Place: d.Doc.Place("spec.state"), Policy: d.Place(), Kind: warning.MissingBackend,
				Reason: "its state is Unavailable, which is not read: requests are sent to it, also those to a service of several zones, which a mesh sends elsewhere"})
		}
	}
	for i := range b.Resources.timeouts {
		t := &b.Resources.timeouts[i]
		if t.Inbound != "" {
			out = append(out, routing.Ignored{Origin: t.Origin, Place: t.Doc.Place(t.Inbound), Policy: t.Place(), Reason: "bounds on the requests that a workload gets are not proven: only those under to are"})
		}
		out = append(out, overwritten(&t.Resource, t.Overwritten)...)
		miss := selectorOf(t).Miss(&b.proxy).String()
		if miss != "" {
			out = append(out, routing.Ignored{Origin: t.Origin, Place: t.Place(), Policy: t.Place(), Reason: miss, Kind: warning.SelectsNothing})
			continue
		}
		for k := range t.To {
			out = append(out, b.ignoredItem(t, &t.To[k], misses)...)
		}
	}
	return out
}

// circles are the policies of one kind of which each may be stronger than the next one: their order depends on how a
// control plane sorts them.
func (b *builder) circles() (out []routing.Ignored) {
	all := map[string][]scope.Selector{}
	for _, r := range b.routes {
		all[r.Kind.Name] = append(all[r.Kind.Name], routeSelector(r))
	}
	for i := range b.Resources.timeouts {
		if s := selectorOf(&b.Resources.timeouts[i]); s.Miss(&b.proxy) == nil {
			all[timeout.Kind.Name] = append(all[timeout.Kind.Name], s)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		selectors := all[kind]
		ranks := make([]scope.Rank, len(selectors))
		for i, s := range selectors {
			ranks[i] = s.Rank()
		}
		if !scope.IsCircle(ranks) {
			continue
		}
		for i, s := range selectors {
			if ranks[i].IsOfEveryDataplane() {
				out = append(out, routing.Ignored{
					Origin: s.Resource.Origin, Place: s.Resource.Doc.Place("spec.targetRef"), Policy: s.Resource.Place(), Kind: warning.Overridden, Unproven: true,
					Reason: "beside a policy that names a Dataplane, and one that selects it by labels, Kuma has no order for one of every Dataplane: write kind Mesh",
				})
			}
		}
	}
	return out
}

// overwritten is the role that a policy states and that does not stay.
func overwritten(of *resource.Resource, reason string) []routing.Ignored {
	if reason == "" {
		return nil
	}
	return []routing.Ignored{{Origin: of.Origin, Place: of.Doc.Place(of.LabelRoleField()), Policy: of.Place(), Reason: reason, Kind: warning.StatedRole}}
}

// ignoredItem says why an item of a timeout that applies has no effect. Misses are the routes
// that do not apply to the proxy, and why.
func (b *builder) ignoredItem(t *timeout.Timeout, item *timeout.Item, misses map[kri.KRI]string) (out []routing.Ignored) {
	add := func(format string, a ...any) {
		out = append(out, routing.Ignored{Origin: t.Origin, Place: t.Doc.Place(item.Ref.Field), Policy: t.Place(), Reason: fmt.Sprintf(format, a...), Kind: warning.LimitWithoutEffect})
	}
	missing := func() {
		add("%s", b.absent(item.Ref, &t.Resource))
		out[len(out)-1].Missing, out[len(out)-1].Kind = true, warning.DanglingReference
	}
	if reason := b.unclear(item.Ref, &t.Resource); reason != "" {
		add("%s", reason)
		out[len(out)-1].Unproven = true
	}
	switch item.Ref.Kind {
	case reference.Mesh:
	case route.MeshHTTPRoute.Name, route.MeshTCPRoute.Name:
		named := b.routesMeant(item.Ref, &t.Resource)
		if len(named) == 0 {
			missing()
		}
		if item.Ref.Kind == route.MeshTCPRoute.Name && b.design == Released {
			add("released Kuma refuses a %s for a %s: name the service", timeout.Kind.Name, item.Ref.Kind)
			out[len(out)-1].Unproven = true
		}
		for _, r := range named {
			if miss, missed := misses[r.ID]; missed {
				add("the route %s does not apply to the proxy: %s", r, miss)
			}
		}
	default:
		meant := b.destinationsMeant(item.Ref, &t.Resource)
		if len(meant) == 0 {
			missing()
		}
		for _, d := range meant {
			b.ignoredBounds(d, item, add)
		}
	}
	return out
}

// ignoredBounds tells of bounds that a port of a destination does not have.
func (b *builder) ignoredBounds(d *destination.Destination, item *timeout.Item, add func(format string, a ...any)) {
	if item.Ref.Section != "" {
		p, ok := d.Port(item.Ref.Section)
		if !ok || p.Section() != item.Ref.Section {
			add("%s has no port %q", d, item.Ref.Section)
			return
		}
	}
	for _, p := range d.Ports {
		if item.Ref.Section != "" && item.Ref.Section != p.Section() {
			continue
		}
		for bound := range routing.Bounds {
			switch {
			case !item.Conf.Set(bound):
			case p.Protocol.Layer() == policy.L4 && bound.NeedsHTTP():
				add("port %s of %s is tcp, which has no %s", p.Section(), d, bound)
			case b.design.leavesOut(bound, p.Protocol):
				add("port %s of %s is grpc, on which released Kuma sets no %s", p.Section(), d, bound)
			}
		}
	}
}

// routeMiss says why an item of a route that applies has no effect, "" where it has one. Missing
// is true where there is no such destination.
func (b *builder) routeMiss(r *route.Route, item route.Item) (reason string, missing bool) {
	meant := b.destinationsMeant(item.Ref, &r.Resource)
	if len(meant) == 0 {
		return b.absent(item.Ref, &r.Resource), true
	}
	for _, d := range meant {
		for _, p := range d.Ports {
			if isForPort(r, item, p) {
				return "", false
			}
		}
	}
	return fmt.Sprintf("%s has no port for a %s", item.Ref, r.Kind.Name), false
}

// unprovenPort names a port of requests that a MeshTCPRoute is for, "" where there is none. Released
// Kuma sends connections to such a port by the MeshTCPRoute unless a MeshHTTPRoute is for it too.
func (b *builder) unprovenPort(r *route.Route, item route.Item) string {
	if r.Kind != route.MeshTCPRoute {
		return ""
	}
	for _, d := range b.destinationsMeant(item.Ref, &r.Resource) {
		for _, p := range d.Ports {
			if p.Protocol.Layer() == policy.L7 && (item.Ref.Section == "" || item.Ref.Section == p.Section()) && len(b.items[d.PortID(p)]) == 0 {
				return fmt.Sprintf("port %s of %s is %s, on which no MeshTCPRoute is proven: write a MeshHTTPRoute, or name another port", p.Section(), item.Ref, p.Protocol)
			}
		}
	}
	return ""
}

// unclear says why nobody knows which resource a reference means, "" where that is known. Kuma looks for a name
// in the zone of the policy.
func (r *Resources) unclear(ref reference.Ref, from *resource.Resource) string {
	if ref.Labels != nil {
		return r.unstated(ref, from)
	}
	if ref.Kind == reference.Mesh || len(r.find(ref, from)) < 2 {
		return ""
	}
	return fmt.Sprintf("%s is there in several zones, and the policy states none: select it by labels, or give the policy the label %s", ref, resource.LabelZone)
}

// unstated is [Resources.unclear] for a reference by labels.
func (r *Resources) unstated(ref reference.Ref, from *resource.Resource) string {
	ask := func(kind string, of *resource.Resource) string {
		if key := ref.Unstated(of, from); key != "" && kind == ref.Kind {
			return fmt.Sprintf("%s asks for the label %s, which a control plane computes, and %s (%s) does not state it: write it into the labels there", ref, key, of, of.Place())
		}
		return ""
	}
	for i := range r.destinations {
		if reason := ask(r.destinations[i].Kind.Name, &r.destinations[i].Resource); reason != "" {
			return reason
		}
	}
	for i := range r.routes {
		if reason := ask(r.routes[i].Kind.Name, &r.routes[i].Resource); reason != "" {
			return reason
		}
	}
	return ""
}

// writtenHeader names a header that an item compares and that a sidecar writes before it looks for a route, ""
// where there is none. The sidecars of the lab write others of these headers than those of a mesh.
func writtenHeader(item route.Item) string {
	for _, rule := range item.Rules {
		for _, m := range rule.Matches {
			for _, h := range m.Headers {
				if h.Name == "x-request-id" || strings.HasPrefix(h.Name, "x-forwarded-") || strings.HasPrefix(h.Name, "x-envoy-") {
					return fmt.Sprintf("it compares the header %s, which a sidecar writes itself before it looks for a route: compare a header of the application", h.Name)
				}
			}
		}
	}
	return ""
}

// unclearBackends returns the backends of a route of which nobody knows which service they mean. Of several
// services with the labels of a backend, Kuma takes the oldest. Released Kuma takes a service without a port for
// something else, and gives the share of a backend that does not exist to the others, or to the next rule.
func (r *Resources) unclearBackends(of *route.Route) (out []routing.Ignored) {
	for _, item := range of.To {
		for _, rule := range item.Rules {
			for _, backend := range rule.Backends {
				reason := r.unclear(backend.Ref, &of.Resource)
				switch n := len(r.destinationsMeant(backend.Ref, &of.Resource)); {
				case n > 1:
					reason = fmt.Sprintf("%d services are a %s, and Kuma takes the oldest: add a label that one of them has", n, backend.Ref)
				case r.design == Released && backend.Ref.Kind == destination.MeshService.Name && backend.Port == 0 && backend.Ref.Section == "":
					reason = fmt.Sprintf("released Kuma takes a %s without a port for the value of the tag %s: write the port", backend.Ref, target.TagService)
				case reason == "" && r.isTCP(of, item, backend):
					reason = fmt.Sprintf("%s%s is tcp, whose share of the requests Kuma gives to the other backends of the rule, or to the next rule that takes the request: give the port the protocol that its workloads speak", backend.Ref, withPort(backend))
				case r.design == Released && reason == "" && !r.exists(of, backend):
					reason = fmt.Sprintf("there is no %s%s, whose share released Kuma gives to the other backends of the rule, or to the next rule that takes the request: describe the service", backend.Ref, withPort(backend))
				}
				if reason != "" {
					out = append(out, routing.Ignored{Origin: of.Origin, Place: of.Doc.Place(backend.Ref.Field), Policy: of.Place(), Kind: warning.MissingBackend, Reason: reason, Unproven: true})
				}
			}
		}
	}
	return out
}

// isTCP reports whether a backend of a MeshHTTPRoute is a port of connections, for any port that its item is for.
func (r *Resources) isTCP(of *route.Route, item route.Item, backend route.Backend) bool {
	if of.Kind != route.MeshHTTPRoute {
		return false
	}
	for _, d := range r.destinationsMeant(item.Ref, &of.Resource) {
		for _, from := range d.Ports {
			if !isForPort(of, item, from) {
				continue
			}
			if _, p, ok := r.backend(of, backend, from); ok && p.Protocol.Layer() == policy.L4 {
				return true
			}
		}
	}
	return false
}

// exists reports whether a backend that states its port, or has only one, is described.
func (r *Resources) exists(of *route.Route, backend route.Backend) bool {
	meant := r.destinationsMeant(backend.Ref, &of.Resource)
	if len(meant) == 0 || len(meant[0].Ports) == 0 {
		return false
	}
	_, _, ok := r.backend(of, backend, meant[0].Ports[0])
	return ok
}

// Mismatches returns the items of timeouts that name a route and apply to other proxies than
// the route does, so that they have no effect anywhere (seed 003, "Merging and applying
// configurations"). The proxies are all that the mesh has, each as [Resources.For] takes it.
func (r *Resources) Mismatches(mesh string, proxies []policy.Inbound) []routing.Ignored {
	var out []routing.Ignored
	for i := range r.timeouts {
		t := &r.timeouts[i]
		if t.ID.Mesh != mesh {
			continue
		}
		for k := range t.To {
			item := &t.To[k]
			if item.Ref.Kind != route.MeshHTTPRoute.Name && item.Ref.Kind != route.MeshTCPRoute.Name {
				continue
			}
			for _, named := range r.routesMeant(item.Ref, &t.Resource) {
				if reason := mismatch(t, named, proxies); reason != "" {
					out = append(out, routing.Ignored{Origin: t.Origin, Place: t.Doc.Place(item.Ref.Field), Policy: t.Place(), Reason: reason, Kind: warning.SelectsNothing})
				}
			}
		}
	}
	return out
}

// mismatch says that no proxy has both the timeout and the route, "" where one has.
func mismatch(t *timeout.Timeout, named *route.Route, proxies []policy.Inbound) string {
	timed, routed := 0, 0
	for i := range proxies {
		isTimed, isRouted := selectorOf(t).Miss(&proxies[i]) == nil, routeSelector(named).Miss(&proxies[i]) == nil
		if isTimed && isRouted {
			return ""
		}
		if isTimed {
			timed++
		}
		if isRouted {
			routed++
		}
	}
	return fmt.Sprintf("it has no effect: of %d proxies %d have the policy and %d the route %s, none has both", len(proxies), timed, routed, named)
}
