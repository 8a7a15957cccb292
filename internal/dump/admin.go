package dump

import (
	"maps"
	"net/netip"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
)

// addAdmin takes the admin interface of a bootstrap. Whoever reaches it changes runtime keys, and so how
// filters judge: it has to be on this machine alone.
func (r *Resources) addAdmin(bootstrap object) {
	admin := r.part(bootstrap, "admin", adminMessage)
	tree := get(admin, "address")
	if tree == nil {
		return
	}
	d, err := fromTree(tree, &corev3.Address{})
	socket := d.Message.GetSocketAddress()
	if err == nil {
		r.AdminPort, r.AdminPipe = socket.GetPortValue(), d.Message.GetPipe().GetPath()
	}
	ip, _ := netip.ParseAddr(socket.GetAddress())
	switch {
	case err != nil || len(d.Faults) > 0:
		r.tellBeside(bootstrapConfig, "the address of the admin interface cannot be read: others may reach it, and change how filters judge")
	case d.Message.GetPipe() == nil && ip.Unmap().IsLoopback() && r.AdminPort == 0:
		r.tellBeside(bootstrapConfig, "nothing tells the port of the admin interface: an inbound may lead there")
	case d.Message.GetPipe() == nil && !ip.Unmap().IsLoopback():
		r.tellBeside(bootstrapConfig, "the admin interface is on %q, and not on this machine alone: others may reach it, and change how filters judge", socket.GetAddress())
	}
}

// tellConnections tells about clients of gRPC in a part of a bootstrap that open connections of their own: they need
// no cluster, and nothing shows that they do not reach the workload.
func (r *Resources) tellConnections(part any) {
	switch part := part.(type) {
	case []any:
		for _, item := range part {
			r.tellConnections(item)
		}
	case object:
		if get(part, "google_grpc") != nil {
			to := getString(getObject(part, "google_grpc"), "target_uri")
			r.tellBeside(bootstrapConfig, "a client of gRPC opens connections of its own, to %q (google_grpc), and may send requests to the workload", to)
		}
		for _, key := range slices.Sorted(maps.Keys(part)) {
			r.tellConnections(part[key])
		}
	}
}
