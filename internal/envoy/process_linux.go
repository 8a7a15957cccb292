package envoy

import (
	"fmt"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// holdPort takes a free port of the loopback address and keeps it: the socket is bound, with SO_REUSEPORT, but does not
// listen. Envoy's listeners bind with SO_REUSEPORT too and may therefore share the port, and get all its connections;
// nobody else can: other users are refused, and the kernel gives a held port neither to bind(0) nor to an outgoing connection.
func holdPort() (port netip.AddrPort, release func() error, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return netip.AddrPort{}, nil, fmt.Errorf("socket: %w", err)
	}
	fail := func(what string, err error) (netip.AddrPort, func() error, error) {
		unix.Close(fd)
		return netip.AddrPort{}, nil, fmt.Errorf("%s: %w", what, err)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return fail("SO_REUSEPORT", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: loopback.As4()}); err != nil {
		return fail("bind", err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return fail("getsockname", err)
	}
	inet, ok := name.(*unix.SockaddrInet4)
	if !ok {
		return fail("getsockname", unix.EAFNOSUPPORT)
	}
	return netip.AddrPortFrom(loopback, uint16(inet.Port)), func() error { return unix.Close(fd) }, nil
}

// envoyProcAttr keeps a terminal's signals from Envoy, and lets the kernel kill it together with the thread that
// started it, which therefore has to be locked as long as Envoy runs. This leaves no moment in which Envoy is unattended.
func envoyProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
