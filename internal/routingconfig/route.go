package routingconfig

import (
	"errors"
	"fmt"
	"math"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	tcpproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/internal/routing"
)

// Nothing is the name of a cluster that is never there, behind the prefix of [Compile]: the
// backend that does not exist.
const Nothing = "nothing"

func compileRoute(r routing.Route, prefix string) (*routev3.Route, error) {
	out := &routev3.Route{Name: r.Name, Match: &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: ""}}}
	if err := rbac.NarrowRoute(out.Match, r.When); err != nil {
		return nil, err
	}
	if len(r.Backends) == 0 {
		out.Action = &routev3.Route_DirectResponse{DirectResponse: &routev3.DirectResponseAction{Status: 500}}
		return out, nil
	}
	if err := checkWeights(r.Backends); err != nil {
		return nil, err
	}
	action := &routev3.RouteAction{
		// A backend that does not exist answers 500 (seed 003; Gateway API, HTTPBackendRef).
		ClusterNotFoundResponseCode: routev3.RouteAction_INTERNAL_SERVER_ERROR,
		Timeout:                     durationpb.New(r.Request.Time),
		IdleTimeout:                 durationpb.New(r.StreamIdle.Time),
	}
	if len(r.Backends) == 1 {
		action.ClusterSpecifier = &routev3.RouteAction_Cluster{Cluster: clusterName(r.Backends[0], prefix)}
	} else {
		weighted := &routev3.WeightedCluster{}
		for _, b := range r.Backends {
			weighted.Clusters = append(weighted.Clusters, &routev3.WeightedCluster_ClusterWeight{
				Name: clusterName(b, prefix), Weight: wrapperspb.UInt32(b.Weight),
			})
		}
		action.ClusterSpecifier = &routev3.RouteAction_WeightedClusters{WeightedClusters: weighted}
	}
	out.Action = &routev3.Route_Route{Route: action}
	return out, nil
}

func clusterName(b routing.Backend, prefix string) string {
	if b.Cluster == "" {
		return prefix + Nothing
	}
	return prefix + b.Cluster
}

// checkWeights reports weights that Envoy refuses, and a single backend that has no share.
func checkWeights(backends []routing.Backend) error {
	sum := uint64(0)
	for _, b := range backends {
		sum += uint64(b.Weight)
	}
	switch {
	case sum == 0:
		return errors.New("all weights are 0: Envoy needs a backend that has a share")
	case sum > math.MaxUint32:
		return fmt.Errorf("the weights add up to %d, more than Envoy's %d", sum, uint32(math.MaxUint32))
	}
	return nil
}

// tcpProxy takes the only route of a tcp outbound. The share of a backend that does not exist
// is closed.
func tcpProxy(o routing.Outbound, prefix string) (*tcpproxyv3.TcpProxy, error) {
	if len(o.Routes) != 1 || o.Routes[0].When != nil {
		return nil, fmt.Errorf("a tcp outbound has one route, which takes every connection, not %d", len(o.Routes))
	}
	r := o.Routes[0]
	out := &tcpproxyv3.TcpProxy{StatPrefix: prefix + o.Name, IdleTimeout: durationpb.New(r.Idle.Time)}
	switch len(r.Backends) {
	case 0:
		out.ClusterSpecifier = &tcpproxyv3.TcpProxy_Cluster{Cluster: prefix + Nothing}
		return out, nil
	case 1:
		out.ClusterSpecifier = &tcpproxyv3.TcpProxy_Cluster{Cluster: clusterName(r.Backends[0], prefix)}
		return out, checkWeights(r.Backends)
	}
	weighted := &tcpproxyv3.TcpProxy_WeightedCluster{}
	for _, b := range r.Backends {
		// Envoy refuses a weight of 0 here.
		if b.Weight > 0 {
			weighted.Clusters = append(weighted.Clusters, &tcpproxyv3.TcpProxy_WeightedCluster_ClusterWeight{Name: clusterName(b, prefix), Weight: b.Weight})
		}
	}
	out.ClusterSpecifier = &tcpproxyv3.TcpProxy_WeightedClusters{WeightedClusters: weighted}
	return out, checkWeights(r.Backends)
}
