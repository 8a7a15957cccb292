package outbound

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy/kuma/internal/destination"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Definitions returns what is behind each destination, as its document says it, and the bounds on
// the requests that workloads get. No program has any of it, and a change of it is a change all
// the same.
func (r *Resources) Definitions() (out []routing.Definition) {
	for i := range r.destinations {
		d := &r.destinations[i]
		spec, _ := d.Doc.Lookup("spec")
		for _, key := range spec.Keys() {
			if key != "ports" {
				out = append(out, define(d.Doc, d.Origin, "spec."+key))
			}
		}
		// Callers use TLS only where the status says that the service is ready for it. They reach the
		// service by its names and addresses.
		for _, field := range []string{"status.tls", "status.vips", "status.vip", "status.addresses"} {
			if _, ok := d.Doc.Lookup(field); ok {
				out = append(out, define(d.Doc, d.Origin, field))
			}
		}
		if services := d.Services(r.destinations); services != nil {
			out = append(out, routing.Definition{Identifier: d.Origin, Field: "services", Text: strings.Join(services, ", "), Place: d.Place()})
		}
		if d.Kind != destination.MeshExternalService {
			for k, p := range d.Ports {
				field := fmt.Sprintf("spec.ports[%d]", k)
				out = append(out, routing.Definition{Identifier: d.PortID(p).String(), Field: "targetPort", Text: p.Target(), Place: d.Doc.Place(field), Port: true})
			}
		}
	}
	for i := range r.timeouts {
		if t := &r.timeouts[i]; t.Inbound != "" {
			// The target and the labels decide whom the bounds are for.
			found := define(t.Doc, t.Origin, t.Inbound)
			if target, ok := t.Doc.Lookup("spec.targetRef"); ok {
				found.Text += " for " + target.Flow()
			}
			found.Text += fmt.Sprint(" with labels ", t.Labels)
			found.Inbound = true
			out = append(out, found)
		}
	}
	return out
}

func define(doc manifest.Document, of, field string) routing.Definition {
	part, _ := doc.Lookup(field)
	return routing.Definition{Identifier: of, Field: field, Text: part.Flow(), Place: doc.Place("")}
}
