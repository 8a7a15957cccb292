package sidecar

import (
	"fmt"
	"net/netip"
	"path"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/meshproof/meshproof/internal/dump"
)

// itself is what this Envoy itself listens on, by listeners of every direction. A process that is known by its port on loopback, or
// by its socket, is none of these: what leads there may lead on, to an inbound or to the admin interface.
type itself struct {
	// ports are those of listeners that get connections to an address of loopback.
	ports map[uint16]bool
	// sockets are the names of those in the file system, also that of the admin interface. They are without their folders, of which
	// one may have several paths.
	sockets map[string]bool
}

func gatherItself(listeners []dump.Decoded[*listenerv3.Listener], adminPipe string) itself {
	out := itself{ports: map[uint16]bool{}, sockets: map[string]bool{}}
	if adminPipe != "" {
		out.sockets[nameSocket(adminPipe)] = true
	}
	for _, d := range listeners {
		for _, address := range addressesOf(d.Message) {
			if pipe := address.GetPipe(); pipe != nil {
				out.sockets[nameSocket(pipe.Path)] = true
			}
			socket := address.GetSocketAddress()
			if socket == nil {
				continue
			}
			ip, err := parseIP(socket.Address)
			ip = ip.Unmap()
			// A listener that binds no port gets redirected connections, and nothing redirects those of Envoy to loopback.
			if err != nil || ip.IsLoopback() || ip.IsUnspecified() && bindsPort(d.Message) {
				out.ports[uint16(socket.GetPortValue())] = true
			}
		}
	}
	return out
}

// hasPort reports whether a listener may get connections to a port of loopback. One on port 0 has any port.
func (i itself) hasPort(port uint32) bool { return i.ports[uint16(port)] || i.ports[0] }

// hasSocket reports whether this Envoy listens on a socket of such a name.
func (i itself) hasSocket(named func(name string) bool) bool {
	for name := range i.sockets {
		if named(name) {
			return true
		}
	}
	return false
}

// parseIP reads the address of a listener or of an endpoint. One with a zone, as in ::1%lo, is none: it would be equal to no other.
func parseIP(text string) (netip.Addr, error) {
	ip, err := netip.ParseAddr(text)
	if err == nil && ip.Zone() != "" {
		return netip.Addr{}, fmt.Errorf("read the address %q: it has a zone", text)
	}
	return ip, err
}

// nameSocket returns the name of a socket in its folder, or of one without a file (@).
func nameSocket(socket string) string { return strings.TrimPrefix(path.Base(socket), "@") }

// addressesOf returns all that a listener listens on.
func addressesOf(l *listenerv3.Listener) []*corev3.Address {
	out := []*corev3.Address{l.GetAddress()}
	for _, more := range l.AdditionalAddresses {
		out = append(out, more.GetAddress())
	}
	return out
}
