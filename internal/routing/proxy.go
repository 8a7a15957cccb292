package routing

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// Proxy is the outbound side of one sidecar. It is a value: it never changes after it was
// built.
type Proxy struct {
	// Outbounds are the destinations, in the order of their names.
	Outbounds []Outbound
	// Clusters are the backends that routes name, in the order of their names.
	Clusters []Cluster
}

// Outbound is one destination of a sidecar: a port of a service.
type Outbound struct {
	// Name identifies the destination. Envoy's listener, route configuration and virtual
	// host have it.
	Name     string
	Service  Service
	Port     uint16
	Protocol policy.Protocol
	// Place is "file:line" of the service.
	Place string
	// Routes are in the order in which Envoy tries them. The last route takes every request. A
	// tcp outbound has no other.
	Routes []Route
	// Headers is the limit of [RequestHeaders].
	Headers Limit
}

// Route is a part of the requests to a destination.
type Route struct {
	// Name identifies the route; several routes of one rule share it.
	Name string
	// Place is "file:line: field" of the rule, and empty for the requests that no rule takes.
	// Sends is that of its backends, and empty where they are the destination itself.
	Place, Sends string
	// When tells the requests of the route; nil takes every request.
	When policy.Condition
	// Backends share the requests by weight. Without any, the sidecar answers 500 itself.
	Backends []Backend
	// Request and StreamIdle are the limits of the same names. A tcp route has Idle instead.
	Request, StreamIdle, Idle Limit
}

// Backend is one of the places that a route sends requests to.
type Backend struct {
	// Cluster is the name of the cluster; empty for a backend that does not exist, whose
	// share of the requests is answered 500.
	Cluster string
	// Weight is the share of the backend among those of the route.
	Weight uint32
}

// Cluster is a port of a service as a backend.
type Cluster struct {
	// Name identifies the service and its port. Envoy's cluster has it.
	Name     string
	Protocol policy.Protocol
	// Limits are those of the level [OfCluster]; the others are zero.
	Limits Limits
}

// Decision is what becomes of a request on its way out.
type Decision struct {
	// Route is the name of the route; empty where no route takes the request, which is then
	// answered 404.
	Route string
	// Backends are those of the route.
	Backends []Backend
	// Limits are those of the listener and of the route; those of a cluster are zero. On tcp
	// Idle is the route's.
	Limits Limits
}

// Decide returns the first route that takes the request.
func (o Outbound) Decide(r policy.Request) Decision {
	for _, route := range o.Routes {
		if route.When == nil || route.When.Holds(&r) {
			d := Decision{Route: route.Name, Backends: route.Backends}
			d.Limits[Request], d.Limits[StreamIdle], d.Limits[Idle], d.Limits[RequestHeaders] = route.Request, route.StreamIdle, route.Idle, o.Headers
			return d
		}
	}
	return Decision{}
}

// Cluster returns a cluster by its name, nil where there is none.
func (p Proxy) Cluster(name string) *Cluster {
	for i := range p.Clusters {
		if p.Clusters[i].Name == name {
			return &p.Clusters[i]
		}
	}
	return nil
}

// Outbound returns an outbound by its name, nil where there is none.
func (p Proxy) Outbound(name string) *Outbound {
	for i := range p.Outbounds {
		if p.Outbounds[i].Name == name {
			return &p.Outbounds[i]
		}
	}
	return nil
}

// String returns the text form: a line for each outbound, route, backend and limit.
func (p Proxy) String() string {
	var b strings.Builder
	for _, o := range p.Outbounds {
		fmt.Fprintf(&b, "outbound %s: %s on port %d\n", o.Name, o.Protocol, o.Port)
		if o.Protocol.Layer() == policy.L7 {
			fmt.Fprintf(&b, "  %s %s\n", RequestHeaders, o.Headers)
		}
		for _, r := range o.Routes {
			when := "always"
			if r.When != nil {
				when = r.When.String()
			}
			fmt.Fprintf(&b, "  route %s when %s\n", r.Name, when)
			if o.Protocol.Layer() == policy.L7 {
				fmt.Fprintf(&b, "    %s %s\n    %s %s\n", Request, r.Request, StreamIdle, r.StreamIdle)
			} else {
				fmt.Fprintf(&b, "    %s %s\n", Idle, r.Idle)
			}
			for _, backend := range r.Backends {
				name := backend.Cluster
				if name == "" {
					name = "nothing, 500"
				}
				fmt.Fprintf(&b, "    to %s, weight %d\n", name, backend.Weight)
			}
			if len(r.Backends) == 0 {
				b.WriteString("    answers 500\n")
			}
		}
	}
	for _, c := range p.Clusters {
		fmt.Fprintf(&b, "cluster %s: %s\n", c.Name, c.Protocol)
		for bound := range Bounds {
			if bound.Level() == OfCluster && (c.Protocol.Layer() == policy.L7 || bound == Connection) {
				fmt.Fprintf(&b, "  %s %s\n", bound, c.Limits[bound])
			}
		}
	}
	return b.String()
}
