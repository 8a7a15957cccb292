package outbound

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/destination"
	"github.com/meshproof/meshproof/policy/kuma/internal/scope"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
)

// Strangers returns the MeshServices that state identities, and an inbound behind a port of theirs that has none of
// these, with the SPIFFE ID that identityOf gives to its workload. A service tag is the identity of the inbounds
// that have the tag.
func (r *Resources) Strangers(inbounds []policy.Inbound, identityOf func(policy.Workload) string) (out []routing.Ignored) {
	for i := range r.destinations {
		d := &r.destinations[i]
		if stranger, ok := r.stranger(d, inbounds, identityOf); ok {
			out = append(out, routing.Ignored{
				Origin: d.Origin, Place: d.Doc.Place("spec.identities"), Policy: d.Place(), Kind: warning.MissingBackend,
				Reason: fmt.Sprintf("the inbound %s behind it has the identity %s, and it states %s: a sidecar of a mesh refuses to send there, and the lab does not read what it states",
					stranger, identityOf(stranger.Workload), strings.Join(d.Identities.All(), ", ")),
			})
		}
	}
	return out
}

// stranger finds an inbound behind a service that has none of the identities which the service states.
func (r *Resources) stranger(d *destination.Destination, inbounds []policy.Inbound, identityOf func(policy.Workload) string) (policy.Inbound, bool) {
	if len(d.Identities.All()) == 0 {
		return policy.Inbound{}, false
	}
	for _, p := range d.Ports {
		for _, in := range d.Inbounds(p, r.destinations, inbounds) {
			tag, _ := scope.InboundTag(&in, target.TagService)
			if !slices.Contains(d.Identities.SPIFFE, identityOf(in.Workload)) && !slices.Contains(d.Identities.Tags, tag) {
				return in, true
			}
		}
	}
	return policy.Inbound{}, false
}
