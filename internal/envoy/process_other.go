//go:build !linux

package envoy

import (
	"net"
	"net/netip"
	"syscall"
)

// holdPort finds a free port of the loopback address. It cannot hold the port, because Envoy binds its listeners with
// SO_REUSEPORT on Linux only. The system gives out its ephemeral ports in turn, so a conflict is unlikely, but possible.
func holdPort() (port netip.AddrPort, release func() error, err error) {
	l, err := net.Listen("tcp4", netip.AddrPortFrom(loopback, 0).String())
	if err != nil {
		return netip.AddrPort{}, nil, err
	}
	port = netip.MustParseAddrPort(l.Addr().String())
	return port, func() error { return nil }, l.Close()
}

// envoyProcAttr keeps the signals of a terminal from Envoy.
func envoyProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
