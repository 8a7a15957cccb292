package dump

import (
	"net/netip"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
)

// addAdmin takes the admin interface of a bootstrap. Whoever reaches it changes runtime keys, and so how
// filters judge: it has to be on this machine alone.
func (r *Resources) addAdmin(admin object) {
	tree := get(admin, "address")
	if tree == nil {
		return
	}
	d, err := fromTree(tree, &corev3.Address{})
	socket := d.Message.GetSocketAddress()
	if err == nil {
		r.AdminPort = socket.GetPortValue()
	}
	ip, _ := netip.ParseAddr(socket.GetAddress())
	switch {
	case err != nil || len(d.Faults) > 0:
		r.tellBeside(bootstrapConfig, "the address of the admin interface cannot be read: others may reach it, and change how filters judge")
	case d.Message.GetPipe() == nil && !ip.Unmap().IsLoopback():
		r.tellBeside(bootstrapConfig, "the admin interface is on %q, and not on this machine alone: others may reach it, and change how filters judge", socket.GetAddress())
	}
}
