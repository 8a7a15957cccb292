package upstream_test

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/upstream"
)

const settleTimeout = 5 * time.Second

func TestTCPEcho(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	watched, stranger, six := caller(1), caller(2), netip.MustParseAddrPort("[fd00::9]:7")
	u.Watch(watched)
	u.Watch(six)
	for _, from := range []struct {
		name string
		conn io.ReadWriteCloser
	}{{"watched", open(t, u, watched)}, {"stranger", open(t, u, stranger)}, {"six", open(t, u, six)}} {
		if _, err := io.WriteString(from.conn, "hello"); err != nil {
			t.Fatal(err)
		}
		echo := make([]byte, 5)
		if _, err := io.ReadFull(from.conn, echo); err != nil || string(echo) != "hello" {
			t.Errorf("%s: got %q, %v", from.name, echo, err)
		}
		_ = from.conn.Close()
	}
	settle(t, u, watched, six)
	for _, c := range []struct {
		name string
		got  bool
	}{{"watched", arrived(u.Take(watched), 5)}, {"six", arrived(u.Take(six), 5)}} {
		if !c.got {
			t.Errorf("%s: the record is wrong", c.name)
		}
	}
	if a := u.Take(stranger); a != nil {
		t.Errorf("the stranger is not watched, but there is %+v", a)
	}
	if a := u.Take(watched); a != nil {
		t.Errorf("taken twice: %+v", a)
	}
}

// TestTCPSilence shows that a connection without a byte is no arrival. Envoy opens the
// connection before it judges.
func TestTCPSilence(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	u.Watch(caller(1))
	_ = open(t, u, caller(1)).Close()
	settle(t, u, caller(1))
	if a := u.Take(caller(1)); a != nil {
		t.Errorf("got %+v, want nothing", a)
	}
}

// TestTCPTwice shows that the record counts a second connection of one caller.
func TestTCPTwice(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	u.Watch(caller(1))
	for range 2 {
		conn := open(t, u, caller(1))
		if _, err := io.WriteString(conn, "x"); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
	settle(t, u, caller(1))
	if a := u.Take(caller(1)); a == nil || a.Requests != 2 || a.Bytes != 2 {
		t.Errorf("got %+v, want 2 requests of 1 byte", a)
	}
}

// TestSettleSeesEarlierConnections writes and closes without reading the echo. After
// Settle the record has all bytes.
func TestSettleSeesEarlierConnections(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	const size = 1 << 10
	for i := range uint16(50) {
		u.Watch(caller(i + 1))
		conn := open(t, u, caller(i+1))
		if _, err := io.WriteString(conn, strings.Repeat("x", size)); err != nil {
			t.Fatal(err)
		}
		closeWrite(t, conn)
		settle(t, u, caller(i+1))
		if a := u.Take(caller(i + 1)); !arrived(a, size) {
			t.Errorf("connection %d: got %+v, want %d bytes", i, a, size)
		}
	}
}

func TestSettleEndsWithItsContext(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	conn := open(t, u, caller(1))
	if _, err := io.WriteString(conn, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	reason := errors.New("enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, reason)
	defer cancel()
	err := u.Settle(ctx, caller(1))
	if !errors.Is(err, reason) || !strings.HasPrefix(err.Error(), "upstream: settle: connection of 10.255.255.254:1 stays open: ") {
		t.Errorf("got %v", err)
	}
	// The open connection of another caller is no reason to wait.
	settle(t, u, caller(2))
}

// TestBindAddress shows that Settle also works on other addresses, for example on the
// gateway of a container network.
func TestBindAddress(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"127.0.0.1", "127.0.0.2", "0.0.0.0", "::1"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			u := start(t, host)
			target := host
			if host == "0.0.0.0" {
				target = "127.0.0.1"
			}
			u.Watch(caller(1))
			conn := openAddress(t, address(target, u.TCPPort()), caller(1), u.Secret())
			if _, err := io.WriteString(conn, "x"); err != nil {
				t.Fatal(err)
			}
			closeWrite(t, conn)
			settle(t, u, caller(1))
			if a := u.Take(caller(1)); !arrived(a, 1) {
				t.Errorf("got %+v", a)
			}
		})
	}
}

// TestTCPDemandsHeader shows that bytes without a PROXY header are not echoed.
func TestTCPDemandsHeader(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	conn := dial(t, address("127.0.0.1", u.TCPPort()))
	if _, err := io.WriteString(conn, "no header, but more bytes than one would have\n"); err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(conn); len(got) > 0 {
		t.Errorf("got %q back", got)
	}
}

// TestTCPDemandsTheSecret shows that a program that names a watched caller, and does not know
// the secret, gets no echo and enters no books. It cannot pass for a fence either.
func TestTCPDemandsTheSecret(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	u.Watch(caller(1))
	for _, from := range []netip.AddrPort{caller(1), netip.MustParseAddrPort("240.0.0.3:1")} {
		for _, guess := range []string{"", "guess", u.Secret() + "x"} {
			conn := openAddress(t, address("127.0.0.1", u.TCPPort()), from, guess)
			_, _ = io.WriteString(conn, "forged")
			if got, _ := io.ReadAll(conn); len(got) > 0 {
				t.Errorf("%s with the secret %q got %q back", from, guess, got)
			}
		}
	}
	settle(t, u, caller(1))
	if a := u.Take(caller(1)); a != nil {
		t.Errorf("the books have %+v", a)
	}
}

// TestCloseEndsConnections closes a server with open connections. goleak finds what stays.
func TestCloseEndsConnections(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	conn, silent := open(t, u, caller(1)), dial(t, address("127.0.0.1", u.TCPPort()))
	if _, err := io.WriteString(conn, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := u.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range []io.Reader{conn, silent} {
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("the connection is still open")
		}
	}
	if err := u.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	// 192.0.2.0/24 is for documentation; no machine has it.
	if _, err := upstream.Start(t.Context(), "192.0.2.1"); err == nil || !strings.HasPrefix(err.Error(), "upstream: listen for HTTP on 192.0.2.1: ") {
		t.Errorf("got %v", err)
	}
}
