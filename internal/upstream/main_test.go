package upstream_test

import (
	"context"
	"net"
	"net/netip"
	"testing"

	"github.com/pires/go-proxyproto"
	"go.uber.org/goleak"

	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/controlplane"
	"github.com/meshproof/meshproof/internal/upstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, address string) *upstream.Upstream {
	t.Helper()
	u, err := upstream.Start(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := u.Close(); err != nil {
			t.Error(err)
		}
	})
	return u
}

func caller(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr("10.255.255.254"), port)
}

func address(host string, port int) string {
	return netip.AddrPortFrom(netip.MustParseAddr(host), uint16(port)).String()
}

// open connects to the TCP echo as Envoy does for a caller.
func open(t *testing.T, u *upstream.Upstream, from netip.AddrPort) net.Conn {
	t.Helper()
	return openAddress(t, address("127.0.0.1", u.TCPPort()), from, u.Secret())
}

func openAddress(t *testing.T, address string, from netip.AddrPort, secret string) net.Conn {
	t.Helper()
	conn := dial(t, address)
	to := net.TCPAddrFromAddrPort(netip.MustParseAddrPort("10.0.0.1:80"))
	if from.Addr().Is6() {
		to = net.TCPAddrFromAddrPort(netip.MustParseAddrPort("[fd00::1]:80"))
	}
	header := proxyproto.HeaderProxyFromAddrs(2, net.TCPAddrFromAddrPort(from), to)
	if err := header.SetTLVs([]proxyproto.TLV{{Type: controlplane.SecretTLV, Value: []byte(secret)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := header.WriteTo(conn); err != nil {
		t.Fatal(err)
	}
	return conn
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func settle(t *testing.T, u *upstream.Upstream, callers ...netip.AddrPort) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), settleTimeout)
	defer cancel()
	if err := u.Settle(ctx, callers...); err != nil {
		t.Fatal(err)
	}
}

func arrived(a *arrival.Record, bytes int) bool {
	return a != nil && a.Requests == 1 && a.Bytes == bytes
}

func closeWrite(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
}
