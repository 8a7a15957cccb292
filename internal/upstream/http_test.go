package upstream_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/controlplane"
)

// transports returns clients of HTTP/1.1 and HTTP/2 without TLS, as Envoy uses them here.
func transports(t *testing.T) map[string]http.RoundTripper {
	one := &http.Transport{}
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	two := &http.Transport{Protocols: &protocols}
	t.Cleanup(func() {
		one.CloseIdleConnections()
		two.CloseIdleConnections()
	})
	return map[string]http.RoundTripper{"HTTP/1.1": one, "HTTP/2": two}
}

func TestHTTPEcho(t *testing.T) {
	t.Parallel()
	for name, transport := range transports(t) {
		for size, body := range map[string]string{"nothing": "", "short": "hello", "long": strings.Repeat("x", 100<<10), "very long": strings.Repeat("x", 600<<10)} {
			t.Run(name+" "+size, func(t *testing.T) {
				t.Parallel()
				u := start(t, "127.0.0.1")
				u.Watch(caller(1))
				request, err := http.NewRequestWithContext(t.Context(), "PUT", "http://"+address("127.0.0.1", u.HTTPPort())+"/a//%2Fb?c=d", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				request.Host = "backend.example"
				request.Header.Set(controlplane.CallerHeader, caller(1).String()+" "+u.Secret())
				request.Header.Set("x-forwarded-client-cert", "URI=spiffe://td/a")
				response, err := transport.RoundTrip(request)
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				echo, err := io.ReadAll(response.Body)
				if err != nil || string(echo) != body || response.StatusCode != 200 {
					t.Errorf("got status %d and %d bytes (%v), want 200 and %d bytes", response.StatusCode, len(echo), err, len(body))
				}
				got := u.Take(caller(1))
				if got == nil {
					t.Fatal("no record")
				}
				if got.XFCC() != "URI=spiffe://td/a" {
					t.Errorf("XFCC is %q", got.XFCC())
				}
				got.Header = nil
				want := &arrival.Record{Method: "PUT", Path: "/a//%2Fb?c=d", Authority: "backend.example", Bytes: len(body), Requests: 1}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestHTTPStrangers shows that a request without a caller, or of a caller that is not
// watched, is answered and not recorded. Without the secret it is refused.
func TestHTTPStrangers(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	u.Watch(caller(1))
	for from, want := range map[string]int{
		"nonsense " + u.Secret(): 200, caller(2).String() + " " + u.Secret(): 200,
		"": 403, "no address": 403, caller(1).String(): 403, caller(1).String() + " ": 403, caller(1).String() + " guess": 403, u.Secret(): 403,
		caller(1).String() + " " + u.Secret() + "x": 403, caller(1).String() + "  " + u.Secret(): 403,
	} {
		request, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+address("127.0.0.1", u.HTTPPort()), nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(controlplane.CallerHeader, from)
		response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%q: %d, want %d", from, response.StatusCode, want)
		}
	}
	if a := u.Take(caller(1)); a != nil {
		t.Errorf("got %+v, want nothing", a)
	}
}

func TestGRPCEcho(t *testing.T) {
	t.Parallel()
	u := start(t, "127.0.0.1")
	u.Watch(caller(1))
	client, err := grpc.NewClient(address("127.0.0.1", u.HTTPPort()), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx := metadata.AppendToOutgoingContext(t.Context(), controlplane.CallerHeader, caller(1).String()+" "+u.Secret())
	sent, got := wrapperspb.String("hello"), &wrapperspb.StringValue{}
	if err := client.Invoke(ctx, "/any.Service/Method", sent, got); err != nil {
		t.Fatal(err)
	}
	if got.Value != "hello" {
		t.Errorf("got %q back", got.Value)
	}
	a := u.Take(caller(1))
	if a == nil || a.Method != "POST" || a.Path != "/any.Service/Method" || a.Requests != 1 || a.Bytes == 0 {
		t.Errorf("the record is %+v", a)
	}
}
