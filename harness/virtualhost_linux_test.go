package harness

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"

	"github.com/meshproof/meshproof/internal/virtualhost"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
	"github.com/meshproof/meshproof/xds/lift"
)

// TestVirtualHosts asks Envoy which virtual host it chooses for an authority, and compares the
// choice with that of the routes that take the place of the virtual hosts.
func TestVirtualHosts(t *testing.T) {
	t.Parallel()
	domains := [][]string{
		{"a.example", "A.other:80"}, {"b.a.example"}, {"*.a.example", "*-a.example"}, {"*.example"}, {"a.*", "www.a.*"}, {"a.example.*"}, {"*"},
	}
	hosts := []string{
		"a.example", "A.EXAMPLE", "a.example:80", "a.example:", "a.example:x", "a.example:1:2", "a.other", "a.other:80", "A.OTHER:80", "a.other:081",
		"b.a.example", "B.a.example", "b.a.example:8080", "c.a.example", "c.A.example:1", ".a.example", "x-a.example", "-a.example", "d.example", ".example", "example",
		"a.", "a.x", "a.x:80", "www.a.", "www.a.x", "www.a.example", "a.example.", "a.example.evil", "a.example.evil:80", "a.examplex", "xa.example", "x:1.a.example", "x:1.a.example:2", "other", "a.example..", "*.example",
	}
	for _, ignorePort := range []bool{false, true} {
		for name, all := range map[string][][]string{"with a rest": domains, "without a rest": domains[:len(domains)-1]} {
			t.Run(fmt.Sprintf("%s, ports ignored %t", name, ignorePort), func(t *testing.T) {
				t.Parallel()
				checkVirtualHosts(t, all, hosts, ignorePort)
			})
		}
	}
}

func checkVirtualHosts(t *testing.T, domains [][]string, hosts []string, ignorePort bool) {
	config := &routev3.RouteConfiguration{Name: "r", IgnorePortInHostMatching: ignorePort}
	for i, of := range domains {
		if ignorePort {
			of = append([]string(nil), of...)
			for n := range of {
				of[n] = strings.TrimSuffix(of[n], ":80")
			}
		}
		config.VirtualHosts = append(config.VirtualHosts, &routev3.VirtualHost{Name: fmt.Sprint("host", i), Domains: of, Routes: []*routev3.Route{{
			Match:  &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}},
			Action: &routev3.Route_DirectResponse{DirectResponse: &routev3.DirectResponseAction{Status: uint32(300 + i)}},
		}}})
	}
	choices, err := virtualhost.Choices(config)
	if err != nil {
		t.Fatal(err)
	}
	filter := func(name string) []*httprbacv3.RBAC {
		return []*httprbacv3.RBAC{{Rules: &rbacv3.RBAC{Policies: map[string]*rbacv3.Policy{name: {
			Permissions: []*rbacv3.Permission{{Rule: &rbacv3.Permission_Any{Any: true}}}, Principals: []*rbacv3.Principal{{Identifier: &rbacv3.Principal_Any{Any: true}}},
		}}}}}
	}
	flat := xds.Filters{HTTP: filter("none")}
	for _, c := range choices {
		match := &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}, Headers: c.Headers()}
		flat.Routes = append(flat.Routes, xds.Route{Name: c.NameOf("r"), Match: match, HTTP: filter(c.Host.Name)})
	}
	program, lost := lift.Program(flat, 0)
	if len(lost) > 0 {
		t.Fatalf("lost: %q", lost)
	}
	text, err := protojson.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	dial := startPlain(t, []string{fmt.Sprintf(`{"name": "hosts", "address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}}, "filter_chains": [{"filters": [
		{"name": "http", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "h", "route_config": %s,
		"http_filters": [{"name": "envoy.filters.http.router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}]}]}`, text)})["hosts"]
	for _, host := range hosts {
		status, err := statusOf(t.Context(), dial, host)
		if err != nil {
			t.Fatalf("%s: %v", host, err)
		}
		want := "none"
		if status != 404 {
			want = fmt.Sprint("host", status-300)
		}
		if got := policy.Decide(program, policy.Request{Host: host, Method: "GET", Path: "/"}).Origin; got != want {
			t.Errorf("%q: the routes choose %s, Envoy %s", host, got, want)
		}
	}
}

// statusOf sends a request with an authority, and returns the status of the answer.
func statusOf(ctx context.Context, to, host string) (int, error) {
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", to)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return 0, err
	}
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nhost: "+host+"\r\n\r\n"); err != nil {
		return 0, err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	return answer.StatusCode, nil
}
