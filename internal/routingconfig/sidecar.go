package routingconfig

import (
	"net/netip"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/script"
)

// Sidecar is the outbound side of one workload with its place in a mesh.
type Sidecar struct {
	// Name is the name of the workload. It is unique among the sidecars of a mesh.
	Name string
	// Identity is the SPIFFE ID that the sidecar shows to the inbounds.
	Identity spiffeid.ID
	// Address is the address of the workload. It is unique among the sidecars of a mesh, and
	// the inbounds see it as the source of each request.
	Address netip.Addr
	Program routing.Proxy
	// Endpoints are the backends of each cluster of the program, by its name. A cluster without
	// any has no healthy host.
	Endpoints map[string][]Endpoint
	// Sentinels are bounds beside those of the program.
	Sentinels Sentinels
}

// Endpoint is a place where the requests to a cluster arrive: an inbound of the mesh, or a port
// on which no connection comes about. Endpoints of one cluster are of one kind.
type Endpoint struct {
	// Inbound is the name of an inbound of the mesh.
	Inbound string
	// Reach is what happens on the port; [script.Accepts] for an inbound.
	Reach script.Reach
}
