package outbound

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/destination"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/route"
	"github.com/meshproof/meshproof/policy/kuma/internal/scope"
	"github.com/meshproof/meshproof/policy/kuma/internal/timeout"
)

// defaults are the limits of Kuma where no policy sets one.
var defaults = routing.Limits{
	routing.Connection: {Time: 5 * time.Second},
	routing.Request:    {Time: 15 * time.Second},
	routing.StreamIdle: {Time: 30 * time.Minute},
	routing.Idle:       {Time: time.Hour},
}

// Proxy is the outbound side of one proxy, with what led to it.
type Proxy struct {
	routing.Proxy
	// Rules are what the timeouts come to on each port of a destination and on each route
	// that the proxy has, in the order of their identifiers. A resource without a limit by
	// policy has none.
	Rules []Rule
	// Ignored are the policies, and items of policies, that have no effect on the proxy.
	Ignored []routing.Ignored
}

// builder builds a proxy.
type builder struct {
	*Resources
	proxy    policy.Inbound
	mesh     string
	timeouts rules
	// routes are those that apply, the strongest first. Items are what they say about each
	// port.
	routes []*route.Route
	items  map[kri.KRI][]item
	// used are the ports that a route sends requests to.
	used map[kri.KRI]bool
	// confs are what portConf has found.
	confs  map[kri.KRI]timeout.Conf
	result Proxy
}

// ProxyOf returns the outbound side of a workload's proxy. The inbound is one of the workload's,
// which gives its tags to a MeshSubset; a workload without inbounds has an empty one.
func (r *Resources) ProxyOf(proxy policy.Inbound) Proxy {
	b := &builder{
		Resources: r, proxy: proxy, mesh: scope.WorkloadLabel(&proxy.Workload, resource.LabelMesh), timeouts: r.rulesFor(&proxy),
		items: map[kri.KRI][]item{}, used: map[kri.KRI]bool{}, confs: map[kri.KRI]timeout.Conf{},
	}
	b.selectRoutes()
	for i := range r.destinations {
		if d := &r.destinations[i]; d.ID.Mesh == b.mesh {
			for _, p := range d.Ports {
				b.addOutbound(d, p)
			}
		}
	}
	b.addClusters()
	b.addRules()
	b.result.Ignored = b.ignored()
	return b.result
}

// selectRoutes finds the routes that apply to the proxy.
func (b *builder) selectRoutes() {
	type ranked struct {
		route *route.Route
		rank  scope.Rank
	}
	var all []ranked
	for i := range b.Resources.routes {
		r := &b.Resources.routes[i]
		if s := routeSelector(r); s.Miss(&b.proxy) == nil {
			all = append(all, ranked{r, s.Rank()})
		}
	}
	slices.SortStableFunc(all, func(x, y ranked) int { return y.rank.Compare(x.rank) })
	for _, r := range all {
		b.routes = append(b.routes, r.route)
		b.addItems(r.route, r.rank)
	}
	for _, items := range b.items {
		slices.SortFunc(items, item.compare)
	}
}

// item is what a route says about a port.
type item struct {
	route *route.Route
	rules []route.Rule
	rank  scope.Rank
	// section is 1 for an item of one port, place the place of the item in its route.
	section, place int
}

// compare orders the strongest first: by what the routes weigh, then by whether the item is of one port, then
// by name. Of two items of one route the later one is stronger.
func (i item) compare(j item) int {
	return cmp.Or(j.rank.CompareWeight(i.rank), cmp.Compare(j.section, i.section), j.rank.CompareName(i.rank), cmp.Compare(j.place, i.place))
}

// addItems finds the ports that a route is for: those of its layer.
func (b *builder) addItems(r *route.Route, rank scope.Rank) {
	for place, to := range r.To {
		for _, d := range b.destinationsMeant(to.Ref, &r.Resource) {
			for _, p := range d.Ports {
				if isForPort(r, to, p) {
					id := d.PortID(p)
					b.items[id] = append(b.items[id], item{r, to.Rules, rank, sectionWeight(to.Ref), place})
				}
			}
		}
	}
}

// layerOf is the layer of the requests that a route is for.
func layerOf(r *route.Route) policy.Layer {
	if r.Kind == route.MeshTCPRoute {
		return policy.L4
	}
	return policy.L7
}

func routeSelector(r *route.Route) scope.Selector {
	return scope.Selector{Resource: &r.Resource, Target: &r.Target, Role: r.Role}
}

// limits returns the limits of a resource: those of the first rule that sets a bound, or the
// default.
func limits(confs ...timeout.Conf) routing.Limits {
	out := defaults
	for bound := range routing.Bounds {
		for i := range confs {
			if confs[i].Set(bound) {
				out[bound] = confs[i][bound]
				break
			}
		}
	}
	return out
}

// portConf is what the timeouts say about a port of a destination.
func (b *builder) portConf(d *destination.Destination, p destination.Port) timeout.Conf {
	id := d.PortID(p)
	conf, ok := b.confs[id]
	if !ok {
		conf = merge(id, b.timeouts.resources[id], b.timeouts.mesh).Conf
		b.confs[id] = conf
	}
	return conf
}

// routeLimits are the limits of the requests of a route to a port.
func (b *builder) routeLimits(id kri.KRI, port timeout.Conf) routing.Limits {
	id.Section = ""
	own := b.timeouts.resources[id]
	switch {
	case len(own) == 0:
		return limits(port)
	case b.design == Released:
		conf := merge(id, own, b.timeouts.mesh).Conf
		// Released Kuma overwrites the timeout of the route, and keeps the rest of what it
		// wrote for the service.
		rest := port
		rest[routing.Request] = routing.Limit{}
		return limits(conf, rest)
	}
	return limits(merge(id, own, nil).Conf, port)
}

// addOutbound adds the outbound of a port.
func (b *builder) addOutbound(d *destination.Destination, p destination.Port) {
	conf := b.portConf(d, p)
	own := limits(conf)
	id := d.PortID(p)
	out := routing.Outbound{
		Name: id.String(), Port: p.Number, Protocol: p.Protocol, Place: d.Place(),
		Service: routing.Service{Kind: d.Kind.Name, Namespace: id.Namespace, Name: id.Name, Section: id.Section},
	}
	if p.Protocol.Layer() == policy.L7 {
		out.Headers = own[routing.RequestHeaders]
	}
	itself := []routing.Backend{{Cluster: id.String(), Weight: 1}}
	add := func(id kri.KRI, r routing.Route) {
		l := own
		if id.Type != d.ID.Type {
			l = b.routeLimits(id, conf)
		}
		if r.Name = id.String(); p.Protocol.Layer() == policy.L7 {
			r.Request, r.StreamIdle = l[routing.Request], l[routing.StreamIdle]
		} else {
			r.Idle = l[routing.Idle]
		}
		out.Routes = append(out.Routes, r)
	}
	catchesAll := false
	for _, m := range b.matches(d, p) {
		r := routing.Route{When: m.match.Condition(), Backends: itself, Place: m.named.Doc.Place(m.rule.Field)}
		if len(m.backends) > 0 {
			r.Backends, r.Sends = b.resolve(m, p), m.sends
		} else {
			b.used[id] = true
		}
		add(m.rule.ID, r)
		if r.When == nil {
			catchesAll = true
			break
		}
	}
	if !catchesAll {
		b.used[id] = true
		add(id, routing.Route{Backends: itself})
	}
	b.result.Outbounds = append(b.result.Outbounds, out)
}

// match is a match of a rule that applies to a port.
type match struct {
	// named gives the name, route the backends.
	named, route *route.Route
	rule         *route.Rule
	match        route.Match
	backends     []route.Backend
	// sends is the place of the backends.
	sends string
}

// matches returns the matches of the routes to a port in the order of their trial. Of two rules with
// the same matches, the stronger route gives the name, and the backends where it states any. Of two
// rules that have some matches alike, the stronger route takes the requests of these, with or
// without backends of its own.
func (b *builder) matches(d *destination.Destination, p destination.Port) []match {
	var out []match
	known := map[string]bool{}
	for _, m := range b.rulesTo(d, p) {
		matches := m.rule.Matches
		if matches == nil {
			matches = []route.Match{{}}
		}
		for _, one := range matches {
			if key := one.Key(); !known[key] {
				known[key] = true
				m.match = one
				out = append(out, m)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y match) int { return route.Compare(x.match, y.match) })
	return out
}

// rulesTo returns the rules of the routes to a port, the strongest first and each without a match. Those
// with the same matches are one.
func (b *builder) rulesTo(d *destination.Destination, p destination.Port) []match {
	var out []match
	places := map[string]int{}
	for _, item := range b.items[d.PortID(p)] {
		for k := range item.rules {
			rule, sends := &item.rules[k], ""
			if rule.Backends != nil {
				sends = item.route.Doc.Place(rule.Field + ".default.backendRefs")
			}
			key := rule.Key()
			place, ok := places[key]
			switch {
			case !ok:
				places[key] = len(out)
				out = append(out, match{item.route, item.route, rule, route.Match{}, rule.Backends, sends})
			case out[place].backends == nil:
				out[place].route, out[place].backends, out[place].sends = item.route, rule.Backends, sends
			}
		}
	}
	return out
}

// resolve finds the clusters of the backends. None is left where no backend exists.
func (b *builder) resolve(m match, from destination.Port) []routing.Backend {
	out := make([]routing.Backend, len(m.backends))
	exists := false
	// Of two rules that are one, released Kuma resolves the backends where the rule with the name stands.
	of := m.route
	if b.design == Released {
		of = m.named
	}
	for i, backend := range m.backends {
		out[i].Weight = backend.Weight
		d, p, ok := b.backend(of, backend, from)
		if ok {
			exists = true
			id := d.PortID(p)
			out[i].Cluster = id.String()
			b.used[id] = true
		}
	}
	if !exists {
		return nil
	}
	return out
}

// backend finds the port that a backend means. Without a port the backend means the port that
// the request was sent to. A MeshExternalService has one port, which Kuma takes whatever is written.
func (r *Resources) backend(of *route.Route, backend route.Backend, from destination.Port) (*destination.Destination, destination.Port, bool) {
	meant := r.destinationsMeant(backend.Ref, &of.Resource)
	if len(meant) == 0 {
		return nil, destination.Port{}, false
	}
	section := backend.Ref.Section
	switch {
	case meant[0].Kind == destination.MeshExternalService:
		return meant[0], meant[0].Ports[0], true
	case backend.Port != 0:
		section = strconv.Itoa(int(backend.Port))
	case section == "":
		section = strconv.Itoa(int(from.Number))
	}
	p, ok := meant[0].Port(section)
	return meant[0], p, ok
}

func (b *builder) addClusters() {
	for i := range b.destinations {
		d := &b.destinations[i]
		for _, p := range d.Ports {
			id := d.PortID(p)
			if !b.used[id] {
				continue
			}
			c := routing.Cluster{Name: id.String(), Protocol: p.Protocol}
			all := limits(b.portConf(d, p))
			for bound := range routing.Bounds {
				switch {
				case bound.Level() != routing.OfCluster:
				case b.design.leavesOut(bound, p.Protocol):
					c.Limits[bound] = defaults[bound]
				default:
					c.Limits[bound] = all[bound]
				}
			}
			b.result.Clusters = append(b.result.Clusters, c)
		}
	}
}

// addRules adds the rules of all resources that the proxy has.
func (b *builder) addRules() {
	ids := map[kri.KRI]bool{}
	for i := range b.destinations {
		d := &b.destinations[i]
		if d.ID.Mesh != b.mesh {
			continue
		}
		for _, p := range d.Ports {
			if id := d.PortID(p); len(b.timeouts.resources[id])+len(b.timeouts.mesh) > 0 {
				ids[id] = true
			}
		}
	}
	for _, r := range b.routes {
		if len(b.timeouts.resources[r.ID]) > 0 {
			ids[r.ID] = true
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(ids), func(x, y kri.KRI) int { return strings.Compare(x.String(), y.String()) }) {
		mesh := b.timeouts.mesh
		if isRoute := id.Type == kri.MeshHTTPRoute || id.Type == kri.MeshTCPRoute; isRoute && b.design == Seed {
			mesh = nil
		}
		b.result.Rules = append(b.result.Rules, merge(id, b.timeouts.resources[id], mesh))
	}
}
