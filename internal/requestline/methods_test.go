package requestline

import (
	"testing"

	"github.com/meshproof/meshproof/policy"
)

// TestRefuse holds what Envoy 1.36.4, 1.38.3 and 1.40.0 do with a request before any policy is asked.
func TestRefuse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		method, target  string
		first, second   int
		closes, tunnels bool
	}{
		{method: "", target: ""},
		{method: "GET", target: "/a?b=%c3%a9"},
		{method: "GET", target: "/é", first: 400},
		{method: "GET", target: "/?d=é", first: 400},
		{method: "GET", target: "/a\tb", first: 400},
		{method: "OPTIONS", target: "*", first: 404, second: 404},
		{method: "GET", target: "*", first: 400, closes: true},
		{method: "POST", target: "*", first: 400, closes: true},
		{method: "get", target: "/", first: 400},
		{method: "CONNECT", target: "/admin", first: 400, tunnels: true},
	} {
		first, second := Refuse(tt.method, tt.target, policy.HTTP), Refuse(tt.method, tt.target, policy.HTTP2)
		if first.Status != tt.first || (first.Why != nil) != (tt.first != 0) {
			t.Errorf("%+v over HTTP/1.1: %+v", tt, first)
		}
		if second.Status != tt.second || (second.Why != nil) != (tt.second != 0 || tt.closes) {
			t.Errorf("%+v over HTTP/2: %+v", tt, second)
		}
		if Refuse(tt.method, tt.target, policy.TCP) != (Refusal{}) {
			t.Errorf("%+v: a connection has no method and no target", tt)
		}
		if got := CheckTunnel(tt.method, policy.GRPC); (got != nil) != tt.tunnels {
			t.Errorf("%+v: tunnel %v", tt, got)
		}
	}
}
