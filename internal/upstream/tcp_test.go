package upstream_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

const settleTimeout = 5 * time.Second

func TestTCPEcho(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	watched, stranger, six := caller(1), caller(2), netipSix
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
		t.Errorf("nobody watches the stranger, but there is %+v", a)
	}
	if a := u.Take(watched); a != nil {
		t.Errorf("taken twice: %+v", a)
	}
}

// TestTCPSilence shows that a connection without a byte is no arrival: Envoy opens
// it before it judges.
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

// TestTCPTwice shows that a second connection of one caller is told.
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

// TestSettleSeesEarlierConnections writes and closes without reading the echo: a
// settled record has all of it.
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
	// Somebody else's open connection is no reason to wait.
	settle(t, u, caller(2))
}

// TestBindAddress shows that a server on an address of its own, as behind a
// container's gateway, is settled too.
func TestBindAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1", "127.0.0.2", "0.0.0.0", "::1"} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			u := start(t, address)
			dialAt := address
			if address == "0.0.0.0" {
				dialAt = "127.0.0.1"
			}
			u.Watch(caller(1))
			conn := openAt(t, at(dialAt, u.TCPPort()), caller(1))
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

// TestTCPDemandsItsHeader shows that bytes of nobody are not echoed.
func TestTCPDemandsItsHeader(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	conn := dial(t, at("127.0.0.1", u.TCPPort()))
	if _, err := io.WriteString(conn, "no header, but more bytes than one would have\n"); err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(conn); len(got) > 0 {
		t.Errorf("got %q back", got)
	}
}

// TestCloseEndsConnections closes under open connections; goleak sees the rest.
func TestCloseEndsConnections(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	conn, silent := open(t, u, caller(1)), dial(t, at("127.0.0.1", u.TCPPort()))
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
	if _, err := upstreamStart(t, "192.0.2.1"); err == nil || !strings.HasPrefix(err.Error(), "upstream: listen for HTTP on 192.0.2.1: ") {
		t.Errorf("got %v", err)
	}
}
