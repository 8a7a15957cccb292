package connection_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/policy"
)

// TestHTTP1Verbatim compares the bytes that the server read.
func TestHTTP1Verbatim(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*caller.Call)
		want   string
	}{
		"zero":         {func(*caller.Call) {}, "GET / HTTP/1.1\r\nhost: 10.0.0.7:8080\r\n\r\n"},
		"unnormalized": {func(c *caller.Call) { c.Path = "//a/../%2fB?c#d" }, "GET //a/../%2fB?c#d HTTP/1.1\r\nhost: 10.0.0.7:8080\r\n\r\n"},
		"stated":       {func(c *caller.Call) { c.Method, c.Authority, c.Body = "PUT", "backend", "hello" }, "PUT / HTTP/1.1\r\nhost: backend\r\ncontent-length: 5\r\n\r\nhello"},
		"headers": {func(c *caller.Call) {
			c.Headers = []policy.Header{{Name: "X-b", Value: "1"}, {Name: "x-A", Value: "2"}, {Name: "X-b", Value: "3"}}
		}, "GET / HTTP/1.1\r\nhost: 10.0.0.7:8080\r\nX-b: 1\r\nx-A: 2\r\nX-b: 3\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := make(chan string, 1)
			in := serve(t, policy.HTTP, func(c net.Conn) {
				b := make([]byte, len(tt.want))
				n, _ := io.ReadFull(c, b)
				got <- string(b[:n])
				_, _ = io.WriteString(c, "HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno")
			})
			tt.change(&in.call)
			answer := do(t.Context(), in.call)
			if diff := cmp.Diff(caller.Answer{Outcome: caller.Answered, Status: 403, Body: "no"}, answer); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, <-got); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHTTP1Answers reads the forms of a response.
func TestHTTP1Answers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		method, raw string
		want        caller.Answer
	}{
		"HEAD has no body": {"HEAD", "HTTP/1.1 403 Forbidden\r\ncontent-length: 19\r\n\r\n", caller.Answer{Outcome: caller.Answered, Status: 403}},
		"long":             {"GET", "HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n" + strings.Repeat("x", 5000), caller.Answer{Outcome: caller.Answered, Status: 200, Body: strings.Repeat("x", 4096)}},
		"chunked":          {"GET", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", caller.Answer{Outcome: caller.Answered, Status: 200, Body: "hi"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := serve(t, policy.HTTP, func(c net.Conn) {
				_, _ = http.ReadRequest(bufio.NewReader(c))
				_, _ = io.WriteString(c, tt.raw)
			})
			in.call.Method = tt.method
			if diff := cmp.Diff(tt.want, do(t.Context(), in.call)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHTTP2(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*caller.Call)
		want   string
	}{
		"zero":         {func(*caller.Call) {}, "GET 10.0.0.7:8080 / map[] "},
		"unnormalized": {func(c *caller.Call) { c.Path = "//a/../%2fB?c=%2f" }, "GET 10.0.0.7:8080 //a/../%2fB?c=%2f map[] "},
		"query":        {func(c *caller.Call) { c.Path = "/a?" }, "GET 10.0.0.7:8080 /a? map[] "},
		"stated": {func(c *caller.Call) {
			c.Method, c.Authority, c.Body = "PUT", "backend", "hello"
			c.Headers = []policy.Header{{Name: "x-a", Value: "1"}, {Name: "x-a", Value: "2"}}
		}, "PUT backend / map[Content-Length:[5] X-A:[1 2]] hello"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := make(chan string, 1)
			in := serve(t, policy.HTTP2, func(c net.Conn) {
				serveHTTP2(c, func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					got <- strings.Join([]string{r.Method, r.Host, r.RequestURI, mapText(r.Header), string(body)}, " ")
					w.WriteHeader(404)
					_, _ = io.WriteString(w, "no")
				})
			})
			tt.change(&in.call)
			answer := do(t.Context(), in.call)
			if diff := cmp.Diff(caller.Answer{Outcome: caller.Answered, Status: 404, Body: "no"}, answer); diff != "" {
				t.Fatalf("answer (-want +got):\n%s (%v)", diff, answer.Err)
			}
			if diff := cmp.Diff(tt.want, <-got); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHTTP2NotVerbatim has targets that HTTP/2 cannot send unchanged. An error is better
// than another request.
func TestHTTP2NotVerbatim(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/%zz":     `"/%zz": HTTP/2 cannot send this target unchanged; use an http inbound for it`,
		"/a b":     `"/a b": HTTP/2 cannot send this target unchanged; use an http inbound for it`,
		"relative": `http2: invalid request :path "relative"`,
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			in := serve(t, policy.HTTP2, drain)
			in.call.Path = target
			if got := do(t.Context(), in.call); got.Outcome != caller.Fault || got.Err == nil || got.Err.Error() != want {
				t.Errorf("got %s (%v)", got.Outcome, got.Err)
			}
		})
	}
}

func TestGRPC(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		want caller.Answer
	}{
		"OK":                {nil, caller.Answer{Outcome: caller.Answered, Status: 200}},
		"PERMISSION_DENIED": {status.Error(codes.PermissionDenied, "RBAC: access denied"), caller.Answer{Outcome: caller.Answered, Status: 200, GRPC: codes.PermissionDenied, Body: "RBAC: access denied"}},
		// UNAVAILABLE from the server is an answer. A broken connection is none.
		"UNAVAILABLE": {status.Error(codes.Unavailable, "later"), caller.Answer{Outcome: caller.Answered, Status: 200, GRPC: codes.Unavailable, Body: "later"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got metadata.MD
			var method string
			in := serve(t, policy.GRPC, func(c net.Conn) {
				server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
					got, _ = metadata.FromIncomingContext(stream.Context())
					method, _ = grpc.MethodFromServerStream(stream)
					return tt.err
				}))
				serveUntilClosed(c, server.Serve, server.Stop)
			})
			in.call.GRPC, in.call.Authority = "a.B/C", "backend"
			in.call.Headers = []policy.Header{{Name: "x-a", Value: "1"}, {Name: "x-a", Value: "2"}}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			answer := do(ctx, in.call)
			if tt.err == nil {
				// The server sends no message, and grpc-go reports that as an error of the stream.
				answer.GRPC, answer.Body = 0, ""
			}
			if diff := cmp.Diff(tt.want, answer); diff != "" {
				t.Errorf("answer (-want +got):\n%s (%v)", diff, answer.Err)
			}
			if method != "/a.B/C" || strings.Join(got.Get("x-a"), " ") != "1 2" || strings.Join(got.Get(":authority"), " ") != "backend" {
				t.Errorf("got method %s and metadata %v", method, got)
			}
		})
	}
}

// TestTCPLong sends more bytes than all buffers on the way hold.
func TestTCPLong(t *testing.T) {
	t.Parallel()
	in := serve(t, policy.TCP, func(c net.Conn) { _, _ = io.Copy(c, c) })
	in.call.Body = strings.Repeat("0123456789abcdef", 1<<20)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if got := do(ctx, in.call); got.Outcome != caller.Answered || got.Body != in.call.Body {
		t.Errorf("got %s (%v)", got, got.Err)
	}
}

// TestHTTP1Long has an answer that begins before the request has ended.
func TestHTTP1Long(t *testing.T) {
	t.Parallel()
	in := serve(t, policy.HTTP, func(c net.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
		_, _ = io.Copy(c, r.Body)
	})
	in.call.Method, in.call.Body = "PUT", strings.Repeat("0123456789abcdef", 1<<20)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if got := do(ctx, in.call); got.Outcome != caller.Answered || got.Status != 200 || got.Body != in.call.Body[:4096] {
		t.Errorf("got %s (%v)", got, got.Err)
	}
}

// serveHTTP2 serves one connection after its TLS handshake.
func serveHTTP2(conn net.Conn, handle http.HandlerFunc) {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Protocols: &protocols, Handler: handle}
	serveUntilClosed(conn, server.Serve, func() { _ = server.Close() })
}

// serveUntilClosed serves one connection and then stops the server.
func serveUntilClosed(conn net.Conn, serve func(net.Listener) error, stop func()) {
	closed := &closeNotifier{Conn: conn, closed: make(chan struct{})}
	lis := newOneConnListener(closed)
	var served sync.WaitGroup
	served.Go(func() { _ = serve(lis) })
	<-closed.closed
	stop()
	served.Wait()
}

// closeNotifier announces its Close on a channel.
type closeNotifier struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (c *closeNotifier) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

func mapText(h http.Header) string {
	return strings.ReplaceAll(fmt.Sprint(map[string][]string(h)), "\n", " ")
}
