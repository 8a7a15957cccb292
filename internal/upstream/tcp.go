package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/pires/go-proxyproto"

	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/controlplane"
)

// tcpEcho is a server that sends back the bytes that it reads. Each connection begins
// with a PROXY protocol header, which names its caller and shows the secret.
type tcpEcho struct {
	listener *proxyproto.Listener
	ledger   *ledger
	secret   secret
	served   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	open   map[*tcpConn]struct{}
	// fences has the source address that each fence plays. The real address is no key,
	// because it may change on the way (Docker's masquerading).
	fences map[netip.AddrPort]chan struct{}
	fenced uint16
}

type tcpConn struct {
	net.Conn
	// known is closed when the PROXY header was read, with or without success.
	known  chan struct{}
	caller netip.AddrPort
	done   chan struct{}
}

func newTCPEcho(l net.Listener, to *ledger, s secret) *tcpEcho {
	return &tcpEcho{
		listener: &proxyproto.Listener{
			Listener:          l,
			ReadHeaderTimeout: headerTimeout,
			ConnPolicy: func(proxyproto.ConnPolicyOptions) (proxyproto.Policy, error) {
				return proxyproto.REQUIRE, nil
			},
		},
		ledger: to,
		secret: s,
		open:   map[*tcpConn]struct{}{},
		fences: map[netip.AddrPort]chan struct{}{},
	}
}

func (e *tcpEcho) serve() {
	defer e.served.Wait()
	for {
		conn, err := e.listener.Accept()
		if err != nil {
			return
		}
		e.admit(conn)
	}
}

func (e *tcpEcho) admit(conn net.Conn) {
	c := &tcpConn{Conn: conn, known: make(chan struct{}), done: make(chan struct{})}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		_ = conn.Close()
		return
	}
	e.open[c] = struct{}{}
	e.served.Go(func() {
		e.echo(c)
		_ = c.Close()
		e.mu.Lock()
		delete(e.open, c)
		e.mu.Unlock()
		close(c.done)
	})
}

func (e *tcpEcho) echo(c *tcpConn) {
	// ProxyHeader waits for the header. A connection without a sound header has no caller.
	header := c.Conn.(*proxyproto.Conn).ProxyHeader()
	if header != nil && e.shows(header) {
		c.caller = callerOf(header)
	}
	close(c.known)
	if !c.caller.IsValid() || e.passFence(c.caller) {
		return
	}
	account := e.ledger.account(c.caller)
	var record *arrival.Record
	var echo io.Writer = c
	gone := make(chan struct{})
	defer func() {
		close(gone)
		if held, ok := echo.(*heldEcho); ok {
			<-held.ended
		}
	}()
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if n > 0 {
			if account != nil && record == nil {
				record = account.addRequest(func(*arrival.Record) {})
				if account.scripted() {
					echo = account.answerTCP(c, record, gone)
				}
			}
			if account != nil {
				account.addBytes(record, n)
			}
			if _, err := echo.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// callerOf returns the source address that the header states; it is not valid where that is no address of TCP.
func callerOf(header *proxyproto.Header) netip.AddrPort {
	from, ok := header.SourceAddr.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	source := from.AddrPort()
	address := netip.AddrFrom16(source.Addr().As16())
	if header.TransportProtocol.IsIPv4() {
		address = address.Unmap()
	}
	return netip.AddrPortFrom(address, source.Port())
}

// shows reports whether the header has the secret.
func (e *tcpEcho) shows(header *proxyproto.Header) bool {
	tlvs, err := header.TLVs()
	return err == nil && slices.ContainsFunc(tlvs, func(t proxyproto.TLV) bool {
		return t.Type == controlplane.SecretTLV && e.secret.is(string(t.Value))
	})
}

// settle opens one more connection, the fence, and waits until the server accepts it. The
// backlog is a queue, so all earlier connections have then been accepted too.
func (e *tcpEcho) settle(ctx context.Context, callers []netip.AddrPort) error {
	if err := e.fence(ctx); err != nil {
		return fmt.Errorf("upstream: settle: %w", err)
	}
	e.mu.Lock()
	open := make([]*tcpConn, 0, len(e.open))
	for c := range e.open {
		open = append(open, c)
	}
	e.mu.Unlock()
	for _, c := range open {
		if err := wait(ctx, c.known); err != nil {
			return fmt.Errorf("upstream: settle: a connection sends no PROXY header: %w", err)
		}
		if !slices.Contains(callers, c.caller) {
			continue
		}
		if err := wait(ctx, c.done); err != nil {
			return fmt.Errorf("upstream: settle: connection of %s stays open: %w", c.caller, err)
		}
	}
	return nil
}

func (e *tcpEcho) fence(ctx context.Context) error {
	to := *e.listener.Addr().(*net.TCPAddr)
	if to.IP.IsUnspecified() {
		to.IP = net.IPv4(127, 0, 0, 1)
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", to.String())
	if err != nil {
		return err
	}
	defer conn.Close()
	accepted := make(chan struct{})
	e.mu.Lock()
	e.fenced++
	from := netip.AddrPortFrom(fenceSource, e.fenced)
	e.fences[from] = accepted
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.fences, from)
	}()
	header := proxyproto.HeaderProxyFromAddrs(2, net.TCPAddrFromAddrPort(from), net.TCPAddrFromAddrPort(from))
	if err := header.SetTLVs([]proxyproto.TLV{{Type: controlplane.SecretTLV, Value: []byte(e.secret)}}); err != nil {
		return err
	}
	if _, err := header.WriteTo(conn); err != nil {
		return err
	}
	return wait(ctx, accepted)
}

// fenceSource is the source address of a fence. It lies in the reserved class E block,
// so no caller plays it.
var fenceSource = netip.MustParseAddr("240.0.0.3")

func (e *tcpEcho) passFence(from netip.AddrPort) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	fence := e.fences[from]
	if fence != nil {
		delete(e.fences, from) // a second connection of the same source must not close it again
		close(fence)
	}
	return fence != nil
}

func wait(ctx context.Context, event <-chan struct{}) error {
	select {
	case <-event:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (e *tcpEcho) close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	err := e.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	for c := range e.open {
		_ = c.Close()
	}
	return err
}
