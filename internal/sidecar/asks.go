package sidecar

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	httpauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	networkauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/ext_authz/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/internal/authorizerfilter"
	"github.com/meshproof/meshproof/internal/dump"
)

// asksBehind reads the filter that asks an authorizer, right behind the RBAC filter whose shadow says
// what about, and reports whether it is such a filter. All others are told about as filters of another
// kind: they may ask about other requests, or not at all.
func (c *chain) asksBehind(f *hcmv3.HttpFilter, m proto.Message, behindRBAC bool) bool {
	filter, ok := m.(*httpauthzv3.ExtAuthz)
	last := len(c.inbound.Filters.HTTP) - 1
	if !ok || !behindRBAC || f.Disabled || len(c.tokens) > 0 {
		return false
	}
	guard := c.inbound.Filters.HTTP[last]
	asked, err := authorizerfilter.FromHTTP(filter, guard.ShadowRulesStatPrefix)
	if err != nil || enforces(guard) {
		return false
	}
	c.askers = append(c.askers, f.Name)
	c.inbound.Filters.HTTPAsks = withAsked(c.inbound.Filters.HTTPAsks, last, asked)
	c.asked(f.Name, typeURL(filter), asked)
	return true
}

// networkAsksBehind does for connections what asksBehind does for requests.
func (c *chain) networkAsksBehind(name string, filter *networkauthzv3.ExtAuthz, behindRBAC bool) bool {
	if !behindRBAC {
		return false
	}
	last := len(c.inbound.Filters.Network) - 1
	guard := c.inbound.Filters.Network[last]
	asked, err := authorizerfilter.FromNetwork(filter, guard.ShadowRulesStatPrefix)
	if err != nil || enforces(guard) {
		return false
	}
	c.inbound.Filters.NetworkAsks = withAsked(c.inbound.Filters.NetworkAsks, last, asked)
	c.asked(name, typeURL(filter), asked)
	return true
}

func withAsked(to map[int]authorizer.Authorizer, index int, a authorizer.Authorizer) map[int]authorizer.Authorizer {
	if to == nil {
		to = map[int]authorizer.Authorizer{}
	}
	to[index] = a
	return to
}

// asked notes an authorizer that is asked. The shadow in front is read by this filter, so that no other one
// has to be expected to act on it.
func (c *chain) asked(name, typeURL string, a authorizer.Authorizer) {
	c.observes = c.observesBefore
	c.noteFilter(dump.Note, name, typeURL, fmt.Sprintf("it is read: it asks the authorizer of the provider %q behind the cluster %q, and the lab has one of its own in its place", a.Provider, a.Cluster))
	why := c.otherAuthorizer(a.Cluster)
	if why == "" && a.FailOpen {
		why = failsBy(c.Clusters[a.Cluster].Message)
	}
	if why == "" {
		c.authorizers[a.Cluster] = true
	} else {
		c.tell(dump.BesideRBAC, name, typeURL, fmt.Sprintf("it asks behind the cluster %q, which %s", a.Cluster, why))
	}
}

// otherAuthorizer says why another server than that of the cluster's name may be asked, "" where Istio's
// discovery has the endpoints of that name.
func (r *reader) otherAuthorizer(cluster string) string {
	d, ok := r.Clusters[cluster]
	eds := d.Message.GetEdsClusterConfig()
	switch service := eds.GetServiceName(); {
	case !ok:
		return absentCluster
	case discovery(d.Message) != clusterv3.Cluster_EDS || service != "" && service != cluster || d.Message.LoadAssignment != nil:
		return "does not find its endpoints by its own name (EDS)"
	case !r.isControlPlane(eds.GetEdsConfig()):
		return "does not take its endpoints from the control plane"
	default:
		return elsewhere(d, nil)
	}
}
