package connection_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/policy"
)

var protocols = []policy.Protocol{policy.HTTP, policy.HTTP2, policy.GRPC, policy.TCP}

// readAndClose reads the first bytes and ends, as a network RBAC filter does.
func readAndClose(conn net.Conn) { _, _ = conn.Read(make([]byte, 1)) }

// TestOutcomes shows, for each protocol, which outcome each failure of a call has.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	stranger := spiffeid.RequireTrustDomainFromString("stranger.mesh")
	for _, p := range protocols {
		for name, tt := range map[string]struct {
			change func(*testing.T, *inbound)
			handle func(net.Conn)
			want   caller.Outcome
			text   string
		}{
			"closed after the request": {nil, readAndClose, caller.Closed, ""},
			"closed without reading":   {nil, func(net.Conn) {}, caller.Closed, ""},
			"reset":                    {nil, reset, caller.Closed, ""},
			"half an answer":           {nil, func(c net.Conn) { readAndClose(c); _, _ = io.WriteString(c, "HTTP/1.1") }, caller.Fault, "closed after"},
			"no certificate":           {func(_ *testing.T, in *inbound) { in.call.Credential = nil }, readAndClose, caller.Alert, "certificate required"},
			"expired": {func(t *testing.T, in *inbound) {
				in.call.Credential = in.forge(t, certs.Template{URIs: []string{frontend.String()}, Validity: certs.Expired})
			}, readAndClose, caller.Alert, "expired certificate"},
			"of a CA that is not asked for": {func(t *testing.T, in *inbound) { in.call.Credential = foreign(t, stranger) }, readAndClose, caller.Alert, "unknown certificate authority"},
			"plaintext":                     {func(_ *testing.T, in *inbound) { in.call.Plaintext = true }, readAndClose, caller.Closed, ""},
			"server has another identity":   {func(_ *testing.T, in *inbound) { in.call.Server = frontend }, readAndClose, caller.Fault, "unexpected ID"},
			"server of another CA":          {func(t *testing.T, in *inbound) { in.call.Bundles = x509bundle.NewSet(authority(t, mesh).Bundle()) }, readAndClose, caller.Fault, "unknown authority"},
			"server's domain untrusted":     {func(t *testing.T, in *inbound) { in.call.Bundles = x509bundle.NewSet(authority(t, stranger).Bundle()) }, readAndClose, caller.Fault, "no X.509 bundle for trust domain"},
			"no listener":                   {func(_ *testing.T, in *inbound) { in.call.Dial = "127.0.0.1:1" }, readAndClose, caller.Fault, "connection refused"},
		} {
			t.Run(p.String()+" "+name, func(t *testing.T) {
				t.Parallel()
				in := serve(t, p, tt.handle)
				if p == policy.GRPC {
					in.call.GRPC = "a.B/C"
				}
				if tt.change != nil {
					tt.change(t, in)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				got := do(ctx, in.call)
				if p == policy.HTTP2 && name == "half an answer" || p == policy.GRPC && name == "half an answer" {
					// For HTTP/2 these bytes are a frame with an error of the protocol.
					tt.text = ""
				}
				if got.Outcome != tt.want || got.Err == nil || !strings.Contains(got.Err.Error(), tt.text) {
					t.Errorf("got %s (%v), want %s with %q", got.Outcome, got.Err, tt.want, tt.text)
				}
			})
		}
	}
}

// TestPlaintextAlert has a server that answers plaintext with a TLS alert. The alert is
// longer than the text that the TCP caller sends here and waits for.
func TestPlaintextAlert(t *testing.T) {
	t.Parallel()
	for _, p := range protocols {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			lis, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer lis.Close()
			var served sync.WaitGroup
			defer served.Wait()
			served.Go(func() {
				conn, err := lis.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				_, _ = conn.Write([]byte{21, 3, 1, 0, 2, 2, 70})
				_ = conn.(*net.TCPConn).CloseWrite()
				drain(conn)
			})
			c := caller.Call{Dial: lis.Addr().String(), Source: source, Destination: target, Protocol: p, Plaintext: true, Body: "hello"}
			if p == policy.GRPC {
				c.GRPC = "a.B/C"
			}
			if got := do(t.Context(), c); got.Outcome != caller.Alert {
				t.Errorf("got %s (%v), want a TLS alert", got.Outcome, got.Err)
			}
		})
	}
}

func reset(conn net.Conn) {
	readAndClose(conn)
	_ = conn.(interface{ NetConn() net.Conn }).NetConn().(*buffered).Conn.(*net.TCPConn).SetLinger(0)
	_ = conn.(interface{ NetConn() net.Conn }).NetConn().Close()
}

func authority(t *testing.T, td spiffeid.TrustDomain) *certs.Authority {
	t.Helper()
	ca, err := certs.NewAuthority(td)
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func foreign(t *testing.T, td spiffeid.TrustDomain) *certs.Credential {
	t.Helper()
	c, err := authority(t, td).Mint(spiffeid.RequireFromPath(td, "/workload"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestContextEnds shows that a call to a silent server ends with its context and is no
// refusal.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	for _, p := range protocols {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			in := serve(t, p, drain)
			if p == policy.GRPC {
				in.call.GRPC = "a.B/C"
			}
			reason := errors.New("enough")
			ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, reason)
			defer cancel()
			got := do(ctx, in.call)
			if got.Outcome != caller.Fault || !errors.Is(got.Err, reason) {
				t.Errorf("got %s (%v), want a transport fault because of %q", got.Outcome, got.Err, reason)
			}
		})
	}
}

func TestCallWhoseContextEnded(t *testing.T) {
	t.Parallel()
	in := serve(t, policy.HTTP, readAndClose)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := do(ctx, in.call); got.Outcome != caller.Fault || !errors.Is(got.Err, context.Canceled) {
		t.Errorf("got %s (%v)", got.Outcome, got.Err)
	}
}

// TestWhatAnInboundLearnsAboutItsCaller shows what the inbound learns about its caller.
func TestWhatAnInboundLearnsAboutItsCaller(t *testing.T) {
	t.Parallel()
	in := serve(t, policy.TCP, func(c net.Conn) { _, _ = io.CopyN(c, c, 10) })
	if got := do(t.Context(), in.call); got.Outcome != caller.Answered || got.Body != "meshproof\n" {
		t.Fatalf("got %s %q", got, got.Body)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if got := fmt.Sprint(in.played[0].SourceAddr, in.played[0].DestinationAddr); got != "10.0.0.9:4711 10.0.0.7:8080" {
		t.Errorf("played %s", got)
	}
	if got := in.peers[0].URIs[0].String(); got != frontend.String() {
		t.Errorf("the peer is %s", got)
	}
}

// TestAddressesOfTwoFamilies fails, because a PROXY header has one address family.
func TestAddressesOfTwoFamilies(t *testing.T) {
	t.Parallel()
	in := serve(t, policy.TCP, readAndClose)
	in.call.Destination = netip.MustParseAddrPort("[fd00::7]:8080")
	if got := do(t.Context(), in.call); got.Outcome != caller.Fault {
		t.Errorf("got %s, want a transport fault", got)
	}
}

func TestAnswerText(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]caller.Answer{
		"transport fault":            {},
		"transport fault (it broke)": {Err: errors.New("it broke")},
		"closed without an answer":   {Outcome: caller.Closed},
		"TLS alert (broken pipe)":    {Outcome: caller.Alert, Err: syscall.EPIPE},
		"5 bytes":                    {Outcome: caller.Answered, Body: "hello"},
		"HTTP 404":                   {Outcome: caller.Answered, Status: 404},
		"gRPC PermissionDenied":      {Outcome: caller.Answered, Status: 200, GRPC: 7},
	} {
		if got := a.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
