package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/meshproof/meshproof/internal/script"
)

// deadPort is a socket that has a port and takes no connection.
type deadPort struct {
	port   int
	socket int
	// fillers are the connections that fill the backlog.
	fillers []net.Conn
}

const (
	// probeTime is how long a connection to a black hole is tried. A port of this machine
	// answers in much less.
	probeTime = 150 * time.Millisecond
	// mostFillers bounds the connections that fill the backlog. It has room for one.
	mostFillers = 8
)

// openDeadPort opens a port. A bound socket that does not listen refuses connections. A
// listener whose backlog is full drops them: the SYN of a caller gets no answer.
func openDeadPort(address string, reach script.Reach) (*deadPort, error) {
	ip, err := netip.ParseAddr(address)
	if err != nil || !ip.Is4() {
		return nil, fmt.Errorf("%q is no IPv4 address: a dead port needs one", address)
	}
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	p := &deadPort{socket: socket}
	if err = p.bind(ip); err == nil && reach == script.BlackHole {
		err = p.fill(ip)
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *deadPort) bind(ip netip.Addr) error {
	if err := syscall.Bind(p.socket, &syscall.SockaddrInet4{Addr: ip.As4()}); err != nil {
		return os.NewSyscallError("bind", err)
	}
	bound, err := syscall.Getsockname(p.socket)
	if err != nil {
		return os.NewSyscallError("getsockname", err)
	}
	p.port = bound.(*syscall.SockaddrInet4).Port
	return nil
}

// fill fills the backlog until a connection gets no answer.
func (p *deadPort) fill(ip netip.Addr) error {
	if err := syscall.Listen(p.socket, 0); err != nil {
		return os.NewSyscallError("listen", err)
	}
	if ip.IsUnspecified() {
		ip = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	for range mostFillers {
		ctx, cancel := context.WithTimeout(context.Background(), probeTime)
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(ip.String(), strconv.Itoa(p.port)))
		cancel()
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
			return nil
		}
		if err != nil {
			return err
		}
		p.fillers = append(p.fillers, conn)
	}
	return fmt.Errorf("the port takes %d connections that are not accepted: it is no black hole", mostFillers)
}

func (p *deadPort) close() error {
	errs := []error{os.NewSyscallError("close", syscall.Close(p.socket))}
	for _, conn := range p.fillers {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}
