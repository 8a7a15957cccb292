package envoy

import "net/netip"

// Surroundings is what a bootstrap, and the servers that Envoy connects to, have to know about the place Envoy runs in.
type Surroundings struct {
	// HostName is the name or address under which Envoy reaches this Go process.
	HostName string
	// HostIsName tells that HostName has to be resolved (a STRICT_DNS cluster); otherwise it is an IP address.
	HostIsName bool
	// BindAddress is where servers of this Go process must listen so that Envoy reaches them at HostName: as narrow as
	// the runtime allows.
	BindAddress string
	// ListenAddress is what Envoy's listeners must bind; see also [Slot.Listen].
	ListenAddress string
	// Admin is what Envoy's admin endpoint must bind: the absolute path of a UNIX socket, in a private directory that
	// [Plan.Start] makes, or host:port.
	Admin string
}

// Slot is one port on which a listener can be reached.
type Slot struct {
	Listen netip.AddrPort // what Envoy's listener binds
	Dial   string         // host:port where callers in this process connect
}

var (
	loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	anyAddr  = netip.IPv4Unspecified()
)
