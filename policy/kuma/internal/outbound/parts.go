package outbound

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy/kuma/internal/destination"
	"github.com/meshproof/meshproof/policy/kuma/internal/reference"
	"github.com/meshproof/meshproof/policy/kuma/internal/route"
)

// Parts returns the rules of the routes, and the limits of the timeouts, in their order. A limit for the whole
// mesh is for services to come too, and is none of them.
func (r *Resources) Parts() (out []routing.Part) {
	for i := range r.routes {
		of := &r.routes[i]
		for _, item := range of.To {
			for _, rule := range item.Rules {
				out = append(out, routing.Part{
					Origin: of.Origin, Place: of.Doc.Place(rule.Field), Sends: of.Doc.Place(rule.Field + ".default.backendRefs"),
					Item: of.Doc.Place(item.Ref.Field), Policy: of.Place(),
				})
			}
		}
	}
	for i := range r.timeouts {
		of := &r.timeouts[i]
		for k := range of.To {
			item := &of.To[k]
			for bound := range routing.Bounds {
				if item.Ref.Kind != reference.Mesh && item.Conf.Set(bound) {
					out = append(out, routing.Part{Origin: of.Origin, Place: item.Conf[bound].Place, Item: of.Doc.Place(item.Ref.Field), Policy: of.Place(), Limit: true})
				}
			}
		}
	}
	return out
}

// MissingBackends returns the backends of the routes of a mesh that no document describes; those of all meshes
// where it is empty. What a route sends to one is answered by the sidecar.
func (r *Resources) MissingBackends(mesh string) (out []routing.Ignored) {
	for i := range r.routes {
		of := &r.routes[i]
		if mesh != "" && of.ID.Mesh != mesh {
			continue
		}
		for _, item := range of.To {
			for _, rule := range item.Rules {
				for _, backend := range rule.Backends {
					if reason := r.backendMiss(of, item, backend); reason != "" {
						out = append(out, routing.Ignored{Origin: of.Origin, Place: of.Doc.Place(backend.Ref.Field), Policy: of.Place(), Kind: warning.MissingBackend, Reason: reason})
					}
				}
			}
		}
	}
	return out
}

// backendMiss says which requests to a port that the route is for have no such backend, "" where all have
// it. Where the route is for no port, nothing is sent to it, and another warning says so.
func (r *Resources) backendMiss(of *route.Route, item route.Item, backend route.Backend) string {
	var missing []string
	all := true
	for _, d := range r.destinationsMeant(item.Ref, &of.Resource) {
		for _, p := range d.Ports {
			if !isForPort(of, item, p) {
				continue
			}
			if _, _, ok := r.backend(of, backend, p); ok {
				all = false
			} else {
				missing = append(missing, p.Section())
			}
		}
	}
	if len(missing) == 0 {
		return ""
	}
	text := fmt.Sprintf("there is no %s%s", backend.Ref, withPort(backend))
	if !all {
		text += " for requests to port " + strings.Join(missing, ", ")
	}
	if of.Kind == route.MeshTCPRoute {
		return text + ": its share of the connections is closed"
	}
	return text + ": its share of the requests is answered 500"
}

// withPort names the port that a backend states, in a message.
func withPort(backend route.Backend) string {
	if backend.Port == 0 {
		return ""
	}
	return fmt.Sprintf(" with the port %d", backend.Port)
}

// isForPort reports whether an item of a route is for a port of a destination that it names.
func isForPort(of *route.Route, item route.Item, p destination.Port) bool {
	return (item.Ref.Section == "" || item.Ref.Section == p.Section()) && p.Protocol.Layer() == layerOf(of)
}
