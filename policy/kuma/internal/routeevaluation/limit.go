package routeevaluation

import (
	"time"

	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy/kuma/internal/reference"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/route"
)

// kinds are the kinds that an item may be for, the weakest first.
var kinds = []string{"Mesh", "MeshService", "MeshExternalService", "MeshMultiZoneService", tcpRoute, httpRoute}

// setting is a bound that an item sets.
type setting struct {
	time   time.Duration
	weight weight
	place  [2]int
	item   int
}

// strongest keeps the stronger of two settings. Of two items of one policy for the same thing
// the later one is stronger.
func strongest(a *setting, b setting) *setting {
	if a == nil || b.weight.isStronger(a.weight, b.place, a.place) || b.weight == a.weight && b.place == a.place && b.item > a.item {
		return &b
	}
	return a
}

// limit finds the strongest policy that sets a bound on a route, which is nil for the requests
// that no route takes, and else on the port.
func (c call) limit(bound routing.Bound, on *route.Route) time.Duration {
	var ofRoute, ofPort, ofMesh *setting
	namesRoute := false
	for i := range c.Timeouts {
		t := &c.Timeouts[i]
		var refs []reference.Ref
		for _, item := range t.To {
			refs = append(refs, item.Ref)
		}
		role := c.roleOf(t.Resource, refs)
		if !applies(t.Resource, role, t.Target, c.proxy) {
			continue
		}
		for k, item := range t.To {
			isRoute := on != nil && means(item.Ref, t.Resource, on.Kind.Name, on.Resource, c.ofKind(on.Kind.Name))
			isMesh := item.Ref.Kind == "Mesh"
			isPort := c.isPort(item.Ref, t.Resource)
			namesRoute = namesRoute || isRoute
			if item.Conf[bound].Origin == "" || !isRoute && !isMesh && !isPort {
				continue
			}
			s := setting{time: item.Conf[bound].Time, weight: weightOf(t.Resource, role, t.Target), item: k}
			for place, kind := range kinds {
				if kind == item.Ref.Kind {
					s.place[0] = place
				}
			}
			if item.Ref.Kind == "MeshService" && item.Ref.Section != "" {
				s.place[1] = 1
			}
			if isRoute {
				ofRoute = strongest(ofRoute, s)
			} else {
				ofPort = strongest(ofPort, s)
			}
			if isMesh {
				ofMesh = strongest(ofMesh, s)
			}
		}
	}
	if c.Released && namesRoute {
		if ofMesh != nil {
			ofRoute = strongest(ofRoute, *ofMesh)
		}
		if bound == routing.Request {
			ofPort = nil
		}
	}
	switch {
	case ofRoute != nil:
		return ofRoute.time
	case ofPort != nil:
		return ofPort.time
	}
	return map[routing.Bound]time.Duration{
		routing.Request: 15 * time.Second, routing.StreamIdle: 30 * time.Minute, routing.Idle: time.Hour, routing.Connection: 5 * time.Second,
	}[bound]
}

// isPort reports whether a reference means the port that is called.
func (c call) isPort(ref reference.Ref, from resource.Resource) bool {
	section := sectionOf(c.port)
	return means(ref, from, c.called.Kind.Name, c.called.Resource, c.ofKind(c.called.Kind.Name)) && (ref.Section == "" || ref.Section == section)
}
