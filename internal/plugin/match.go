package plugin

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// routeMatch is how the listener tells a route: that is no business of a compiler
// under test, so that it is taken from a program that says nothing else.
func routeMatch(r policy.InboundRoute) (*routev3.RouteMatch, error) {
	gates := []policy.Gate{{Layer: policy.L7, Default: policy.Verdict{Origin: "default"}}}
	filters, err := xds.Compile(policy.Program{Gates: gates, Routes: []policy.Route{{Name: r.Name, When: r.When, Gates: gates}}})
	if err != nil {
		return nil, err
	}
	return filters.Routes[0].Match, nil
}
