//go:build !linux

package envoy

import (
	"net"
	"net/netip"
	"syscall"
)

// holdPort finds a free port of the loopback address. It cannot be held: only on Linux does Envoy bind its listeners
// with SO_REUSEPORT. The system gives out its ephemeral ports in turn, so that a clash is unlikely but possible.
func holdPort() (port netip.AddrPort, release func() error, err error) {
	l, err := net.Listen("tcp4", netip.AddrPortFrom(loopback, 0).String())
	if err != nil {
		return netip.AddrPort{}, nil, err
	}
	port = netip.MustParseAddrPort(l.Addr().String())
	return port, func() error { return nil }, l.Close()
}

// envoyProcAttr keeps a terminal's signals from Envoy.
func envoyProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
