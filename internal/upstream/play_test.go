package upstream_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/controlplane"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/internal/upstream"
)

const ms = time.Millisecond

// ask sends a request as Envoy does for a caller.
func ask(t *testing.T, ctx context.Context, u *upstream.Upstream, from netip.AddrPort, grpc bool, body io.Reader) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address("127.0.0.1", u.HTTPPort())+"/p.S/M", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(controlplane.CallerHeader, from.String()+" "+u.Secret())
	transport := &http.Transport{DisableKeepAlives: true}
	if grpc {
		r.Header.Set("content-type", "application/grpc")
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetUnencryptedHTTP2(true)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return (&http.Client{Transport: transport}).Do(r)
}

// Each answer has its headers, its body and its end at its time, over HTTP and gRPC.
func TestPlayHTTP(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	port := uint16(0)
	for name, tt := range map[string]struct {
		script script.Answer
		body   string
		cut    bool
		takes  time.Duration
	}{
		"after a time":       {script.Answer{After: 40 * ms}, "hello", false, 40 * ms},
		"in parts":           {script.Answer{After: 10 * ms, Parts: 3, Every: 20 * ms}, "part\npart\npart\n", false, 70 * ms},
		"closed in the body": {script.Answer{Parts: 1, Every: 10 * ms, End: script.Closes}, "part\n", true, 10 * ms},
		"closed before it":   {script.Answer{End: script.Closes}, "", true, 0},
		"headers at once":    {script.Answer{Parts: 1, Every: 30 * ms}, "part\n", false, 30 * ms},
	} {
		for _, grpc := range []bool{false, true} {
			port++
			from := caller(port)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				account := u.Watch(from)
				account.Play(tt.script)
				began := time.Now()
				var sent io.Reader = strings.NewReader("hello")
				if grpc {
					sent = strings.NewReader("\x00\x00\x00\x00\x05hello")
				}
				response, err := ask(t, t.Context(), u, from, grpc, sent)
				var body []byte
				if err == nil {
					defer response.Body.Close()
					body, err = io.ReadAll(response.Body)
				}
				if grpc {
					body = bytes.ReplaceAll(body, []byte("\x00\x00\x00\x00\x05"), nil)
				}
				if string(body) != tt.body || (err != nil) != tt.cut || time.Since(began) < tt.takes {
					t.Errorf("got %q after %s, %v", body, time.Since(began), err)
				}
				if grpc && !tt.cut && response.Trailer.Get("grpc-status") != "0" {
					t.Errorf("trailers %v", response.Trailer)
				}
				if err := account.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				a := u.Take(from)
				if a == nil || a.Timing == nil || a.Timing.Cut != 0 {
					t.Fatalf("got %+v", a)
				}
				if n := len(a.Timing.Sent); n > 0 && a.Timing.Sent[n-1] < tt.takes {
					t.Errorf("sent at %s", a.Timing.Sent)
				}
			})
		}
	}
}

// An answer that never comes ends with the request, and the record says when.
func TestPlayIsCut(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	for i, s := range []script.Answer{{End: script.Stops}, {Parts: 1, Every: ms, End: script.Stops}, {After: 10 * time.Second}} {
		for _, grpc := range []bool{false, true} {
			from := caller(uint16(2*i + 1))
			if grpc {
				from = caller(uint16(2*i + 2))
			}
			account := u.Watch(from)
			account.Play(s)
			ctx, cancel := context.WithTimeout(t.Context(), 300*ms)
			defer cancel()
			reader, writer := io.Pipe()
			context.AfterFunc(ctx, func() { _ = writer.CloseWithError(context.Canceled) })
			go func() {
				_, _ = io.WriteString(writer, "\x00\x00\x00\x00\x05hello")
				if !grpc {
					_ = writer.Close()
				}
			}()
			response, err := ask(t, ctx, u, from, grpc, reader)
			if err == nil {
				_, err = io.ReadAll(response.Body)
			}
			if err == nil {
				t.Errorf("%s: no error", s)
			}
			if err := account.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			if a := u.Take(from); a == nil || a.Timing == nil || a.Timing.Cut < 30*ms {
				t.Errorf("%s: got %+v", s, a)
			}
		}
	}
}

func TestPlayTCP(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	for i, tt := range []struct {
		script script.Answer
		want   string
		takes  time.Duration
		closed bool
	}{
		{script.Answer{After: 40 * ms}, "hello", 40 * ms, false},
		{script.Answer{Parts: 2, Every: 20 * ms}, "part\npart\nhello", 40 * ms, false},
		{script.Answer{Parts: 1, Every: 20 * ms, End: script.Closes}, "part\n", 20 * ms, true},
		{script.Answer{End: script.Closes}, "", 0, true},
	} {
		from := caller(uint16(i + 1))
		account := u.Watch(from)
		account.Play(tt.script)
		conn := open(t, u, from)
		began := time.Now()
		if _, err := io.WriteString(conn, "hello"); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(tt.want))
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != tt.want || time.Since(began) < tt.takes {
			t.Errorf("%s: got %q after %s, %v", tt.script, got, time.Since(began), err)
		}
		if tt.closed {
			if n, err := conn.Read(make([]byte, 1)); err == nil {
				t.Errorf("%s: got %d bytes more", tt.script, n)
			}
		}
		_ = conn.Close()
		settle(t, u, from)
		if a := u.Take(from); !arrived(a, 5) || a.Timing == nil {
			t.Errorf("%s: got %+v", tt.script, a)
		}
	}
}

// A connection that gets nothing ends with its caller.
func TestPlayTCPSilence(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	u.Watch(caller(1)).Play(script.Answer{End: script.Stops})
	conn := open(t, u, caller(1))
	if _, err := io.WriteString(conn, "hello"); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(50 * ms))
	if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	_ = conn.Close()
	settle(t, u, caller(1))
	if a := u.Take(caller(1)); !arrived(a, 5) || a.Timing.Cut == 0 {
		t.Errorf("got %+v", a)
	}
}

// A refusal comes at once, and a black hole gives none.
func TestPort(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	for _, reach := range []script.Reach{script.Refuses, script.BlackHole} {
		port, err := u.Port(reach)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := u.Port(reach); err != nil || again != port {
			t.Errorf("port %d, then %d: %v", port, again, err)
		}
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", address("127.0.0.1", port))
			cancel()
			if err == nil {
				_ = conn.Close()
				t.Fatalf("port %d takes a connection", port)
			}
			timeout := net.Error(nil)
			if ended := errors.As(err, &timeout) && timeout.Timeout(); ended != (reach == script.BlackHole) {
				t.Errorf("reach %d: %v", reach, err)
			}
		}
	}
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	if port, err := u.Port(script.Refuses); err == nil {
		t.Errorf("a closed upstream opens port %d", port)
	}
}

// A message of gRPC that is longer than two bytes of its length can say comes back whole.
func TestPlayLongMessage(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	from := caller(1)
	account := u.Watch(from)
	account.Play(script.Answer{After: ms})
	message := append(binary.BigEndian.AppendUint32([]byte{0}, 1<<17), bytes.Repeat([]byte("x"), 1<<17)...)
	response, err := ask(t, t.Context(), u, from, true, bytes.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got, err := io.ReadAll(response.Body); err != nil || !bytes.Equal(got, message) {
		t.Errorf("%d bytes of %d, %v", len(got), len(message), err)
	}
}
