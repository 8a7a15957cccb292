// Package routeevaluation says where one request of a proxy goes, and how long it may take,
// straight from the text of the routes and timeouts.
//
// It is the second opinion on package outbound, and shares nothing with it but the parsing of
// the documents: it selects, ranks, matches and merges by itself, for one request at a time.
// It guarantees no speed, and names no place in a file.
package routeevaluation

import (
	"strconv"
	"time"

	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/destination"
	"github.com/meshproof/meshproof/policy/kuma/internal/route"
	"github.com/meshproof/meshproof/policy/kuma/internal/timeout"
)

// Text are the documents of a mesh.
type Text struct {
	Destinations []destination.Destination
	Routes       []route.Route
	Timeouts     []timeout.Timeout
	// Released reads the limits of a route as Kuma 2.14 does, and else as seed 003 does.
	Released bool
	// SystemNamespace is that of the control plane.
	SystemNamespace string
}

// Outcome is where a request goes.
type Outcome struct {
	// Route is the identifier of the rule, or of the port that was called.
	Route string
	// Backends are the identifiers of ports with their weights; "" is a backend that does not
	// exist. It is nil where none exists.
	Backends []routing.Backend
	// Limits are those of the route and of the listener; those of a cluster are zero.
	Limits [routing.Bounds]time.Duration
}

// call is a request to a port.
type call struct {
	Text
	proxy   policy.Inbound
	called  *destination.Destination
	port    destination.Port
	request policy.Request
}

// Evaluate follows a request of a proxy to a port, which its identifier names. It reports
// false where there is no such port.
func (t Text) Evaluate(proxy policy.Inbound, port string, r policy.Request) (Outcome, bool) {
	for i := range t.Destinations {
		d := &t.Destinations[i]
		for _, p := range d.Ports {
			if nameOf(d, p) == port {
				return call{t, proxy, d, p, r}.follow(), true
			}
		}
	}
	return Outcome{}, false
}

func nameOf(d *destination.Destination, p destination.Port) string {
	id := d.ID
	id.Section = sectionOf(p)
	return id.String()
}

// sectionOf is the name of a port, or its number.
func sectionOf(p destination.Port) string {
	if p.Name != "" {
		return p.Name
	}
	return strconv.Itoa(int(p.Number))
}

func (c call) follow() Outcome {
	out := Outcome{Route: nameOf(c.called, c.port), Backends: []routing.Backend{{Cluster: nameOf(c.called, c.port), Weight: 1}}}
	rule, ok := c.rule()
	if ok {
		out.Route = rule.rule.ID.String()
		if len(rule.backends) > 0 {
			out.Backends = c.backends(rule)
		}
	}
	for bound := range routing.Bounds {
		switch isTCP := c.port.Protocol == policy.TCP; {
		case bound == routing.RequestHeaders && !isTCP:
			out.Limits[bound] = c.limit(bound, nil)
		case bound == routing.Request && !isTCP, bound == routing.StreamIdle && !isTCP, bound == routing.Idle && isTCP:
			out.Limits[bound] = c.limit(bound, rule.namedRoute)
		}
	}
	return out
}

// backends finds the port of each backend of a rule.
func (c call) backends(rule candidate) []routing.Backend {
	var out []routing.Backend
	exists := false
	for _, backend := range rule.backends {
		found := routing.Backend{Weight: backend.Weight}
		if d := c.first(backend.Ref, rule.backendRoute.Resource); d != nil {
			section := backend.Ref.Section
			if backend.Port != 0 {
				section = strconv.Itoa(int(backend.Port))
			} else if section == "" {
				section = strconv.Itoa(int(c.port.Number))
			}
			for _, p := range d.Ports {
				if isOnly := d.Kind.Name == "MeshExternalService"; isOnly || p.Name == section || strconv.Itoa(int(p.Number)) == section {
					found.Cluster = nameOf(d, p)
					exists = true
					break
				}
			}
		}
		out = append(out, found)
	}
	if !exists {
		return nil
	}
	return out
}
