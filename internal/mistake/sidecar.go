package mistake

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/routeclasses"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
)

// Sidecar is the outbound side of a sidecar with one mistake.
type Sidecar struct {
	Kind Kind
	// Outbound is the name of the outbound; empty for a mistake in a backend.
	Outbound string
	// Where tells the place of the mistake.
	Where string
	Proxy routing.Proxy
}

// OfSidecar makes the mistakes in the outbound side of a sidecar. Some of them change nothing, and
// some cannot be said to Envoy.
func OfSidecar(original routing.Proxy) []Sidecar {
	var all []Sidecar
	for i, o := range original.Outbounds {
		add := func(kind Kind, where string, routes []routing.Route) {
			m := original
			m.Outbounds = slices.Clone(original.Outbounds)
			m.Outbounds[i].Routes = routes
			all = append(all, Sidecar{kind, o.Name, o.Name + ", " + where, m})
		}
		inOrder(o.Routes, add)
		for k := range o.Routes {
			inRoute(original, o, k, func(kind Kind, where string, r routing.Route) {
				routes := slices.Clone(o.Routes)
				routes[k] = r
				add(kind, fmt.Sprintf("route %d (%s)%s", k+1, r.Name, where), routes)
			})
		}
		for _, m := range ofLimit(o.Headers) {
			of := original
			of.Outbounds = slices.Clone(original.Outbounds)
			of.Outbounds[i].Headers = m.limit
			all = append(all, Sidecar{m.kind, o.Name, o.Name + ", " + routing.RequestHeaders.String(), of})
		}
	}
	for i, c := range original.Clusters {
		for bound := range routing.Bounds {
			for _, m := range ofLimit(c.Limits[bound]) {
				// Envoy needs a bound on the time to connect. A tcp backend has no other one: the route has
				// the idle time.
				if bound == routing.Connection && m.kind == LimitLost || bound != routing.Connection && c.Protocol.Layer() == policy.L4 {
					continue
				}
				of := original
				of.Clusters = slices.Clone(original.Clusters)
				of.Clusters[i].Limits[bound] = m.limit
				all = append(all, Sidecar{m.kind, "", fmt.Sprintf("backend %s, %s", c.Name, bound), of})
			}
		}
	}
	return all
}

// inOrder makes the mistakes in the list of the routes. The last one takes every request.
func inOrder(routes []routing.Route, add func(Kind, string, []routing.Route)) {
	for i := range len(routes) - 1 {
		where := fmt.Sprintf("route %d (%s)", i+1, routes[i].Name)
		add(RouteLost, where, slices.Delete(slices.Clone(routes), i, i+1))
		exchanged := slices.Clone(routes)
		exchanged[i], exchanged[i+1] = exchanged[i+1], exchanged[i]
		add(RoutesExchanged, where, exchanged)
	}
	if len(routes) > 2 {
		reversed := slices.Clone(routes)
		slices.Reverse(reversed[:len(routes)-1])
		add(RoutesReversed, "all routes", reversed)
	}
}

// inRoute makes the mistakes in one route of an outbound.
func inRoute(p routing.Proxy, o routing.Outbound, k int, add func(Kind, string, routing.Route)) {
	original := o.Routes[k]
	if original.When != nil {
		for _, m := range mutateCondition(original.When, nil) {
			r := original
			r.When = m.condition
			add(m.kind, "", r)
		}
		for _, when := range withoutPart(original.When) {
			r := original
			r.When = when
			add(MatchLost, "", r)
		}
	}
	for i, b := range original.Backends {
		where := fmt.Sprintf(", backend %d", i+1)
		if other := slices.IndexFunc(p.Clusters, func(c routing.Cluster) bool {
			return c.Protocol.Layer() == o.Protocol.Layer() && !slices.ContainsFunc(original.Backends, func(b routing.Backend) bool { return b.Cluster == c.Name })
		}); other >= 0 && b.Weight > 0 {
			r := original
			r.Backends = slices.Clone(original.Backends)
			r.Backends[i].Cluster = p.Clusters[other].Name
			add(BackendMistaken, where, r)
		}
	}
	if slices.ContainsFunc(original.Backends, func(b routing.Backend) bool { return b.Weight != original.Backends[0].Weight }) {
		r := original
		r.Backends = slices.Clone(original.Backends)
		for i := range r.Backends {
			r.Backends[i].Weight = 1
		}
		add(WeightLost, "", r)
	}
	last := o.Routes[len(o.Routes)-1]
	for _, of := range []struct {
		bound routing.Bound
		limit func(*routing.Route) *routing.Limit
	}{
		{routing.Request, func(r *routing.Route) *routing.Limit { return &r.Request }},
		{routing.StreamIdle, func(r *routing.Route) *routing.Limit { return &r.StreamIdle }},
		{routing.Idle, func(r *routing.Route) *routing.Limit { return &r.Idle }},
	} {
		if of.bound == routing.Idle != (o.Protocol.Layer() == policy.L4) {
			continue
		}
		mutants := ofLimit(*of.limit(&original))
		if service := *of.limit(&last); service.Time != of.limit(&original).Time {
			mutants = append(mutants, mutatedLimit{LimitOfService, service})
		}
		for _, m := range mutants {
			r := original
			*of.limit(&r) = m.limit
			add(m.kind, ", "+of.bound.String(), r)
		}
	}
}

// withoutPart returns a condition without one of its parts, nil without the only one.
func withoutPart(when policy.Condition) (out []policy.Condition) {
	all, ok := when.(policy.And)
	if !ok {
		return []policy.Condition{nil}
	}
	for i := range all {
		rest := slices.Delete(slices.Clone(all), i, i+1)
		if len(rest) == 1 {
			out = append(out, rest[0])
		} else {
			out = append(out, rest)
		}
	}
	return out
}

type mutatedLimit struct {
	kind  Kind
	limit routing.Limit
}

// ofLimit makes the mistakes in a limit that a policy sets.
func ofLimit(l routing.Limit) []mutatedLimit {
	if l.Origin == "" || l.Time == 0 {
		return nil
	}
	lost, longer := l, l
	lost.Time, longer.Time = 0, 1000*l.Time
	return []mutatedLimit{{LimitLost, lost}, {SecondsForMilliseconds, longer}}
}

// Changes reports whether the original and the mistake treat a request to an outbound differently:
// in its route, its backends, or a limit of the listener, the route or one of the backends.
func (m Sidecar) Changes(original routing.Proxy, outbound string, r policy.Request) bool {
	was, is := original.Outbound(outbound), m.Proxy.Outbound(outbound)
	if was == nil || is == nil {
		return was != is
	}
	old, recent := was.Decide(r), is.Decide(r)
	if old.Route != recent.Route || old.Limits != recent.Limits || !slices.Equal(old.Backends, recent.Backends) {
		return true
	}
	return slices.ContainsFunc(recent.Backends, func(b routing.Backend) bool {
		before, after := original.Cluster(b.Cluster), m.Proxy.Cluster(b.Cluster)
		return before != nil && after != nil && b.Weight > 0 && before.Limits != after.Limits
	})
}

// Shown returns a request to an outbound that shows the mistake. It returns false where the classes
// of the requests have none that tells it from the original.
func (m Sidecar) Shown(original routing.Proxy) (policy.Request, bool) {
	for i := range original.Outbounds {
		was, is := original.Outbounds[i], m.Proxy.Outbounds[i]
		for _, c := range routeclasses.Cut(was, is).Classes {
			if m.Changes(original, was.Name, c.Witness) {
				return c.Witness, true
			}
		}
	}
	return policy.Request{}, false
}
