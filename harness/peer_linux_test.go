package harness

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/peer"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// byPeer lets a block of peers in, with an exception.
func byPeer(layer policy.Layer, form policy.Form) policy.Program {
	in := func(block string) policy.Condition {
		return policy.Is{Attribute: attribute.SourceAddress, Match: policy.Match{Kind: policy.CIDR, Value: block}}
	}
	when := policy.Or{policy.And{in("127.1.0.0/16"), policy.Not{Condition: in("127.1.2.0/24")}}, attribute.SourceAddress.Exact("127.9.9.9")}
	gate := policy.Gate{Layer: layer, Form: form, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "p"}, When: when}}}
	return policy.Program{Gates: []policy.Gate{gate}}
}

// TestPlayedPeersDecideAsRealPeersDo connects from real source addresses to listeners without the PROXY
// protocol. There, filters that ask for the peer decide as the policy does, and the filters that
// the lab plays in their place decide alike. Every address of 127.0.0.0/8 is this machine's on
// Linux.
func TestPlayedPeersDecideAsRealPeersDo(t *testing.T) {
	t.Parallel()
	type asked struct {
		program  policy.Program
		listener string
		played   bool
	}
	var all []asked
	var listeners []string
	for _, layer := range []policy.Layer{policy.L4, policy.L7} {
		for _, form := range []policy.Form{policy.Ordered, policy.Named} {
			p := byPeer(layer, form)
			filters := compile(t, p)
			played, questions, _ := peer.Play(filters, false)
			if questions != 3 {
				t.Fatalf("%d questions are played", questions)
			}
			for i, f := range []xds.Filters{filters, played} {
				name := fmt.Sprintf("%s %s %d", layer, form, i)
				all = append(all, asked{p, name, i == 1})
				listeners = append(listeners, plainListener(t, name, f))
			}
		}
	}
	dial := startPlain(t, listeners)
	for _, a := range all {
		for _, from := range []string{"127.0.0.1", "127.0.255.255", "127.1.0.0", "127.1.1.255", "127.1.2.0", "127.1.2.255", "127.1.3.0", "127.1.255.255", "127.2.0.0", "127.9.9.9", "127.9.9.8"} {
			source := netip.MustParseAddr(from)
			want := policy.Decide(a.program, policy.Request{Source: source}).Effect == policy.Allow
			got, err := passes(t.Context(), dial[a.listener], source)
			if err != nil {
				t.Fatalf("%s from %s: %v", a.listener, from, err)
			}
			if got != want {
				t.Errorf("%s from %s, played %t: passes %t, want %t", a.listener, from, a.played, got, want)
			}
		}
	}
}

// plainListener is a listener in JSON: plaintext, HTTP, and no listener filter.
func plainListener(t *testing.T, name string, f xds.Filters) string {
	t.Helper()
	filter := func(name string, m proto.Message) string {
		packed, err := messages.Pack(m)
		if err != nil {
			t.Fatal(err)
		}
		text, err := protojson.Marshal(packed)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"name": %q, "typed_config": %s}`, name, text)
	}
	var network, http []string
	for _, one := range f.Network {
		one.StatPrefix = "plain"
		network = append(network, filter("envoy.filters.network.rbac", one))
	}
	for _, one := range f.HTTP {
		http = append(http, filter("envoy.filters.http.rbac", one))
	}
	http = append(http, `{"name": "envoy.filters.http.router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}`)
	network = append(network, fmt.Sprintf(`{"name": "envoy.filters.network.http_connection_manager", "typed_config": {
		"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "plain", "use_remote_address": true,
		"http_filters": [%s], "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [{"match": {"prefix": ""}, "direct_response": {"status": 200}}]}]}}}`, strings.Join(http, ", ")))
	return fmt.Sprintf(`{"name": %q, "address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}}, "filter_chains": [{"filters": [%s]}]}`, name, strings.Join(network, ", "))
}

// startPlain starts an Envoy with listeners, and returns their addresses by their names.
func startPlain(t *testing.T, listeners []string) map[string]string {
	t.Helper()
	plan, err := envoy.Prepare(t.Context(), envoy.Options{Runtime: envoy.Process, Version: cmp.Or(os.Getenv("MESHPROOF_ENVOY"), DefaultVersion)})
	if err != nil {
		t.Fatal(err)
	}
	bootstrap := fmt.Sprintf(`{"admin": {"address": {"pipe": {"path": %q}}}, "static_resources": {"listeners": [%s]}}`, plan.Surroundings().Admin, strings.Join(listeners, ", "))
	e, err := plan.Start(t.Context(), []byte(bootstrap))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for _, err := e.AdminGet(ctx, "/ready"); err != nil; _, err = e.AdminGet(ctx, "/ready") {
		select {
		case <-e.Done():
			t.Fatal(e.Err())
		case <-ctx.Done():
			t.Fatal(err)
		case <-tick.C:
		}
	}
	text, err := e.AdminGet(ctx, "/listeners?format=json")
	if err != nil {
		t.Fatal(err)
	}
	var live struct {
		Statuses []struct {
			Name    string
			Address struct {
				Socket struct {
					Address string
					Port    int `json:"port_value"`
				} `json:"socket_address"`
			} `json:"local_address"`
		} `json:"listener_statuses"`
	}
	if err := json.Unmarshal(text, &live); err != nil {
		t.Fatal(err)
	}
	dial := map[string]string{}
	for _, one := range live.Statuses {
		dial[one.Name] = fmt.Sprintf("%s:%d", one.Address.Socket.Address, one.Address.Socket.Port)
	}
	return dial
}

// passes sends a request from an address, and reports whether the filters let it pass.
func passes(ctx context.Context, to string, from netip.Addr) (bool, error) {
	dialer := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0)), Timeout: 10 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", to)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return false, err
	}
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nhost: a\r\n\r\n"); err != nil {
		return false, err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	if !slices.Contains([]int{200, 403}, answer.StatusCode) {
		return false, fmt.Errorf("the answer is %d", answer.StatusCode)
	}
	return answer.StatusCode == 200, nil
}
