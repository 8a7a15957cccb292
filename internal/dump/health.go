package dump

import (
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
)

// tellHealthServer tells about a server that says which endpoints Envoy asks for their health (hds_config), unless it is the
// control plane. It chooses the endpoint, the method, the path and the headers of those requests, and they pass no filter.
func (r *Resources) tellHealthServer(bootstrap object) {
	if get(bootstrap, "hds_config") == nil {
		return
	}
	servers, ok := serversOf(get(bootstrap, "hds_config"))
	control, _ := serversOf(get(getObject(bootstrap, "dynamic_resources"), "ads_config"))
	if !ok || len(servers) == 0 || slices.ContainsFunc(servers, func(name string) bool { return !slices.Contains(control, name) }) {
		r.tellBeside(bootstrapConfig, "a server that is not known to be the control plane (hds_config) may have Envoy send requests to the workload, as checks of its health: "+
			"let it have the cluster of dynamic_resources.ads_config")
	}
}

// serversOf returns the clusters of the servers that a source of configurations asks over gRPC, and whether it asks no others.
func serversOf(source any) (names []string, ok bool) {
	d, err := fromTree(source, &corev3.ApiConfigSource{})
	ok = err == nil && len(d.Faults) == 0 && len(d.Message.GetClusterNames()) == 0
	for _, service := range d.Message.GetGrpcServices() {
		name := service.GetEnvoyGrpc().GetClusterName()
		ok = ok && name != ""
		names = append(names, name)
	}
	return names, ok
}
