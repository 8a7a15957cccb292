package requestline

import (
	"slices"
	"testing"

	"google.golang.org/grpc"

	"github.com/meshproof/meshproof/policy"
)

func TestHeadersThatEnvoySees(t *testing.T) {
	t.Parallel()
	sent := []policy.Header{{Name: "Cookie", Value: "a=1"}, {Name: "X-Role", Value: " user\t"}, {Name: "cookie", Value: "b=2"}}
	for name, tt := range map[string]struct {
		protocol policy.Protocol
		grpc     bool
		want     []policy.Header
	}{
		"HTTP/1.1": {policy.HTTP, false, []policy.Header{{Name: "cookie", Value: "a=1"}, {Name: "x-role", Value: "user"}, {Name: "cookie", Value: "b=2"}}},
		"HTTP/2":   {policy.HTTP2, false, []policy.Header{{Name: "cookie", Value: "a=1; b=2"}, {Name: "x-role", Value: "user"}}},
		"gRPC": {policy.GRPC, true, []policy.Header{
			{Name: "cookie", Value: "a=1; b=2"}, {Name: "x-role", Value: "user"}, {Name: "content-type", Value: "application/grpc"}, {Name: "user-agent", Value: "grpc-go/" + grpc.Version},
		}},
	} {
		if got := Seen(sent, tt.protocol, tt.grpc); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestLogged(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"/a?b": "/a?b", "/a?\xff": "/a?!", "\xff\xfe": "!!", "é\uFFFD": "é\uFFFD"} {
		if got := Logged(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
