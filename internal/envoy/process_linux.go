package envoy

import (
	"fmt"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// holdPort takes a free port of the loopback address and keeps it: the socket is bound with SO_REUSEPORT, but does not listen.
// Envoy's listeners bind with SO_REUSEPORT too, so they can share the port, and they get all its connections. No other program
// can: the kernel refuses other users, and gives a held port neither to bind(0) nor to an outgoing connection.
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

// envoyProcAttr keeps the signals of a terminal from Envoy. It lets the kernel kill Envoy together with the thread that started
// it, so this thread must be locked as long as Envoy runs. At no moment could Envoy outlive this process.
func envoyProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
