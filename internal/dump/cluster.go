package dump

import (
	"fmt"
	"maps"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
)

// tellUnreadable tells about clusters that cannot be read: one of them may get requests of Envoy's own. Of lists of endpoints
// it tells about those that stand in a dump twice, for a cluster without any is told wherever it counts.
func (r *Resources) tellUnreadable() {
	for _, name := range slices.Sorted(maps.Keys(r.unreadClusters)) {
		if _, ok := r.Clusters[name]; ok {
			r.tellBeside("", "two clusters have the name %q, and one of them cannot be read", name)
		} else {
			r.tellBeside("", "the cluster %q cannot be read", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.unreadServices)) {
		if _, ok := r.Assignments[name]; ok {
			r.tellBeside("", "the service %q has two lists of endpoints, and one of them cannot be read", name)
		}
	}
}

// withName returns a set with one name more.
func withName(set map[string]bool, name string) map[string]bool {
	if set == nil {
		set = map[string]bool{}
	}
	set[name] = true
	return set
}

// addCluster takes a cluster. A cluster that cannot be read counts as missing.
func (r *Resources) addCluster(o object) {
	if r.Clusters == nil {
		r.Clusters = map[string]Decoded[*clusterv3.Cluster]{}
	}
	d, err := fromTree(get(o, "cluster"), &clusterv3.Cluster{})
	if err != nil {
		r.unreadClusters = withName(r.unreadClusters, nameOf(get(o, "cluster")))
		return
	}
	if before, ok := r.Clusters[d.Message.Name]; ok && !proto.Equal(before.Message, d.Message) {
		r.tellBeside("", "two clusters have the name %q", d.Message.Name)
	}
	d.Faults = append(d.Faults, r.Clusters[d.Message.Name].Faults...)
	r.Clusters[d.Message.Name] = d
}

// addEndpoints takes the endpoints of a cluster. Endpoints that cannot be read count as
// missing.
func (r *Resources) addEndpoints(o object) {
	d, err := fromTree(get(o, "endpoint_config"), &endpointv3.ClusterLoadAssignment{})
	if err != nil || len(d.Faults) > 0 {
		r.unreadServices = withName(r.unreadServices, getString(getObject(o, "endpoint_config"), "cluster_name"))
		return
	}
	name := d.Message.ClusterName
	if before, ok := r.Assignments[name]; ok && !proto.Equal(before, d.Message) {
		r.tellBeside("", "the service %q has two lists of endpoints", name)
	}
	if r.Assignments == nil {
		r.Assignments = map[string]*endpointv3.ClusterLoadAssignment{}
	}
	r.Assignments[name] = d.Message
}

// addSecret takes the validation context of a secret, if it has one.
func (r *Resources) addSecret(o object) {
	secret := r.part(o, "secret", "envoy.extensions.transport_sockets.tls.v3.Secret")
	tree := get(secret, "validation_context")
	if tree == nil {
		return
	}
	name := getString(secret, "name")
	if listed := getString(o, "name"); listed != name {
		r.Unknown = append(r.Unknown, Unknown{Kind: Exposed, Reason: fmt.Sprintf("secret %q is listed as %q: nothing tells which a listener has", name, listed)})
	}
	d, err := fromTree(tree, &tlsv3.CertificateValidationContext{})
	if err != nil {
		r.Unknown = append(r.Unknown, Unknown{Kind: Exposed, Reason: fmt.Sprintf("secret %q not read: %v", name, err)})
		return
	}
	if before, ok := r.Validations[name]; ok && !proto.Equal(before.Message, d.Message) {
		r.Unknown = append(r.Unknown, Unknown{Kind: Exposed, Reason: fmt.Sprintf("there are several secrets %q: nothing tells which a listener has", name)})
	}
	if r.Validations == nil {
		r.Validations = map[string]Decoded[*tlsv3.CertificateValidationContext]{}
	}
	d.Faults = append(d.Faults, r.Validations[name].Faults...)
	r.Validations[name] = d
}
