package outbound

import (
	"github.com/meshproof/meshproof/policy/kuma/internal/destination"
	"github.com/meshproof/meshproof/policy/kuma/internal/route"
	"github.com/meshproof/meshproof/policy/kuma/internal/timeout"
)

// Parsed returns the documents as they were parsed.
func (r *Resources) Parsed() ([]destination.Destination, []route.Route, []timeout.Timeout) {
	return r.destinations, r.routes, r.timeouts
}
