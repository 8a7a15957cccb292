package connection_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/connection"
	"github.com/meshproof/meshproof/policy"
)

// echoPath answers each request with its path, in each protocol.
var echoPath = map[policy.Protocol]func(net.Conn){
	policy.HTTP: func(c net.Conn) {
		reader := bufio.NewReader(c)
		for {
			r, err := http.ReadRequest(reader)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s", len(r.RequestURI), r.RequestURI)
		}
	},
	policy.HTTP2: func(c net.Conn) {
		serveHTTP2(c, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RequestURI) })
	},
	policy.GRPC: func(c net.Conn) {
		server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
			method, _ := grpc.MethodFromServerStream(stream)
			return status.Error(codes.NotFound, method)
		}))
		serveUntilClosed(c, server.Serve, server.Stop)
	},
}

// TestCallsShareConnection sends several calls over one connection. Each gets its own
// answer.
func TestCallsShareConnection(t *testing.T) {
	t.Parallel()
	for p, handle := range echoPath {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			in := serve(t, p, handle)
			if p == policy.GRPC {
				in.call.GRPC = "first.Service/Call"
			}
			conn := connection.Open(t.Context(), in.call, 10*time.Second)
			for i := range 5 {
				call, want := in.call, fmt.Sprint("/", i)
				call.Path = want
				if p == policy.GRPC {
					call.GRPC = fmt.Sprint("a.B/C", i)
					want = "/" + call.GRPC
				}
				if got := conn.Send(call); got.Outcome != caller.Answered || got.Body != want {
					t.Errorf("call %d got %s, %q, want %q", i, got, got.Body, want)
				}
				if !conn.Reusable() {
					t.Errorf("the connection is not reusable after call %d", i)
				}
			}
			conn.Close()
			in.mu.Lock()
			defer in.mu.Unlock()
			if n := len(in.played); n != 1 {
				t.Errorf("the calls took %d connections", n)
			}
		})
	}
}

// TestAnswersThatEndAConnection shows which answers end a connection.
func TestAnswersThatEndAConnection(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", caller.BodyMax+1000)
	for name, tt := range map[string]struct {
		method, body, raw string
		spent             bool
	}{
		"plain":                    {raw: "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"},
		"no content":               {raw: "HTTP/1.1 204 No Content\r\n\r\n"},
		"chunked":                  {raw: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"},
		"answer to HEAD":           {method: "HEAD", raw: "HTTP/1.1 403 Forbidden\r\ncontent-length: 19\r\n\r\n"},
		"long":                     {raw: fmt.Sprintf("HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s", len(long), long)},
		"connection: close":        {raw: "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n", spent: true},
		"HTTP/1.0":                 {raw: "HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", spent: true},
		"answer to a long request": {method: "PUT", body: long, raw: "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", spent: true},
		"another protocol":         {raw: "SSH-2.0-OpenSSH\r\n\r\n", spent: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := serve(t, policy.HTTP, func(c net.Conn) {
				reader := bufio.NewReader(c)
				for _, raw := range []string{tt.raw, "HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n"} {
					r, err := http.ReadRequest(reader)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					_, _ = io.WriteString(c, raw)
				}
			})
			in.call.Method, in.call.Body = tt.method, tt.body
			conn := connection.Open(t.Context(), in.call, 10*time.Second)
			defer conn.Close()
			conn.Send(in.call)
			if conn.Reusable() == tt.spent {
				t.Errorf("reusable is %t, want %t", conn.Reusable(), !tt.spent)
			}
			in.call.Method, in.call.Body = "", ""
			want := caller.Answer{Outcome: caller.Answered, Status: 201}
			got := conn.Send(in.call)
			if tt.spent {
				if got.Outcome != caller.Fault || got.Err == nil {
					t.Errorf("the next call got %s", got)
				}
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the next answer (-want +got):\n%s", diff)
			}
		})
	}
}

// TestServerClosesAfterAnswer has a server that answers once and closes the connection.
func TestServerClosesAfterAnswer(t *testing.T) {
	t.Parallel()
	in := serve(t, policy.HTTP, func(c net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(c))
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
	})
	conn := connection.Open(t.Context(), in.call, 10*time.Second)
	defer conn.Close()
	if got := conn.Send(in.call); got.Outcome != caller.Answered || !conn.Reusable() {
		t.Fatalf("got %s, reusable is %t", got, conn.Reusable())
	}
	if got := conn.Send(in.call); got.Outcome != caller.Closed || conn.Reusable() {
		t.Errorf("the second call got %s, reusable is %t; want a closed connection", got, conn.Reusable())
	}
}

// TestServerThatSendsNothingIsNoRefusal shows that a server that sends nothing is no refusal.
func TestServerThatSendsNothingIsNoRefusal(t *testing.T) {
	t.Parallel()
	for _, p := range protocols {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			in := serve(t, p, drain)
			if p == policy.GRPC {
				in.call.GRPC = "a.B/C"
			}
			conn := connection.Open(t.Context(), in.call, 500*time.Millisecond)
			defer conn.Close()
			got := conn.Send(in.call)
			if got.Outcome != caller.Fault || !errors.Is(got.Err, context.DeadlineExceeded) || conn.Reusable() {
				t.Errorf("got %s (%v), reusable is %t", got, got.Err, conn.Reusable())
			}
		})
	}
}

func TestCallsThatNeedTheirOwnConnection(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		call caller.Call
		want bool
	}{
		"zero":                  {caller.Call{}, false},
		"HTTP/2":                {caller.Call{Protocol: policy.HTTP2}, false},
		"gRPC":                  {caller.Call{Protocol: policy.GRPC, GRPC: "a.B/C"}, false},
		"tcp":                   {caller.Call{Protocol: policy.TCP}, true},
		"unnormalized path":     {caller.Call{Path: "//a/../%2f;b?c#d"}, false},
		"unknown method":        {caller.Call{Method: "get"}, false},
		"short body":            {caller.Call{Method: "POST", Body: "hello"}, false},
		"long body":             {caller.Call{Method: "POST", Body: strings.Repeat("x", 3000)}, true},
		"tunnel":                {caller.Call{Method: "CONNECT"}, true},
		"method of two words":   {caller.Call{Method: "GET /a HTTP/1.1\r\n\r\nGET"}, true},
		"space in path":         {caller.Call{Path: "/a b"}, true},
		"line end in path":      {caller.Call{Path: "/a\nb"}, true},
		"line end in authority": {caller.Call{Authority: "a\r\nx: y"}, true},
		"header":                {caller.Call{Headers: []policy.Header{{Name: "x-a", Value: "1"}, {Name: "X-B", Value: ""}}}, false},
		"header of two lines":   {caller.Call{Headers: []policy.Header{{Name: "x-a", Value: "1\r\ncontent-length: 7"}}}, true},
		"name with a colon":     {caller.Call{Headers: []policy.Header{{Name: "content-length: 7\r\nx", Value: "1"}}}, true},
		"no name":               {caller.Call{Headers: []policy.Header{{Name: "", Value: "1"}}}, true},
		"length":                {caller.Call{Headers: []policy.Header{{Name: "x-a", Value: "1"}, {Name: "Content-Length", Value: "7"}}}, true},
		"coding":                {caller.Call{Headers: []policy.Header{{Name: "Transfer-Encoding", Value: "chunked"}}}, true},
		"connection":            {caller.Call{Headers: []policy.Header{{Name: "connection", Value: "close"}}}, true},
		"upgrade":               {caller.Call{Headers: []policy.Header{{Name: "upgrade", Value: "h2c"}}}, true},
		"expect":                {caller.Call{Headers: []policy.Header{{Name: "expect", Value: "100-continue"}}}, true},
	} {
		tt.call.Destination = target
		if got := connection.MustBeAlone(tt.call); got != tt.want {
			t.Errorf("%s: needs its own connection: %t, want %t", name, got, tt.want)
		}
	}
}
