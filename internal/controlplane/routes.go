package controlplane

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
)

// Routes is the route configuration of an outbound, and where the outbound is reached.
type Routes struct {
	Config *routev3.RouteConfiguration
	// Dial is where this process reaches the port of the listener.
	Dial string
	// Caller and Destination are what a caller of the outbound plays.
	Caller      netip.Addr
	Destination netip.AddrPort
}

// canaryHeader shows the secret of the control plane, so that no request of a case asks the
// canary.
const canaryHeader = "x-meshproof-canary"

// build puts a canary before the routes. The canary of the listener says nothing about them.
func (r Routes) build(version, secret string) *routev3.RouteConfiguration {
	canary := &routev3.Route{
		Name: "canary",
		Match: &routev3.RouteMatch{
			PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"},
			Headers: []*routev3.HeaderMatcher{{Name: canaryHeader, HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{
				StringMatch: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: secret}},
			}}},
		},
		Action: &routev3.Route_DirectResponse{DirectResponse: &routev3.DirectResponseAction{
			Status: http.StatusOK, Body: &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: version}},
		}},
	}
	host := r.Config.VirtualHosts[0]
	return &routev3.RouteConfiguration{Name: r.Config.Name, VirtualHosts: []*routev3.VirtualHost{{
		Name: host.Name, Domains: host.Domains, Routes: append([]*routev3.Route{canary}, host.Routes...),
	}}}
}

// readRoutes returns a reader of the canary.
func (c *ControlPlane) readRoutes(r Routes) func(context.Context, string) (string, error) {
	return func(ctx context.Context, dial string) (string, error) {
		conn, closeNow, err := connect(ctx, dial, netip.AddrPortFrom(r.Caller, canarySource.Port()), r.Destination)
		if err != nil {
			return "", err
		}
		defer closeNow()
		if _, err := fmt.Fprintf(conn, "GET / HTTP/1.1\r\nhost: canary\r\n%s: %s\r\n\r\n", canaryHeader, c.canary); err != nil {
			return "", err
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return "", err
		}
		body, err := io.ReadAll(response.Body)
		return string(body), err
	}
}
