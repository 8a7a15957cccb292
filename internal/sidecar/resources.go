package sidecar

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/internal/messages"
)

// decoded is a resource with what it lost when it was decoded.
type decoded[M proto.Message] struct {
	message M
	faults  []messages.Fault
}

// resources are all resources of a dump, a folder or a control plane. The listeners decide
// which of them are read.
type resources struct {
	listeners []decoded[*listenerv3.Listener]
	// bootstrapped are the listeners of the bootstrap, as JSON.
	bootstrapped []any
	routes       map[string]decoded[*routev3.RouteConfiguration]
	extensions   map[string]decoded[*anypb.Any]
	// scopes are the scoped route configurations, by the name of their set; over ADS
	// there is one set, without a name.
	scopes   map[string][]decoded[*routev3.ScopedRouteConfiguration]
	clusters map[string]decoded[*clusterv3.Cluster]
	// assignments are the endpoints that came by EDS, by the name of the service.
	assignments map[string]*endpointv3.ClusterLoadAssignment
	// validations are the validation contexts of secrets, by the name of the secret.
	validations map[string]decoded[*tlsv3.CertificateValidationContext]
	// unattached are filters that came without a listener.
	unattached []unattached
	unknown    []Unknown
	// envoy is the version of the sidecar; empty where nothing names it.
	envoy string
}

// unattached are the filters of one inbound, without a listener.
type unattached struct {
	file, inbound, protocol string
	filters                 []unattachedFilter
}

// unattachedFilter is the configuration of a filter, with its name or its index.
type unattachedFilter struct {
	decoded[*anypb.Any]
	name string
}

func (r *resources) lost(listener, format string, args ...any) {
	r.unknown = append(r.unknown, Unknown{Kind: Lost, Listener: listener, Reason: fmt.Sprintf(format, args...)})
}

func (r *resources) tellBeside(typeURL, format string, args ...any) {
	r.unknown = append(r.unknown, Unknown{Kind: Beside, Type: typeURL, Reason: fmt.Sprintf(format, args...)})
}

// serveListener adds a listener.
func (r *resources) serveListener(d decoded[*listenerv3.Listener]) {
	nameListener(d.message)
	r.listeners = append(r.listeners, d)
}

// nameListener gives a listener without a name its address as name.
func nameListener(l *listenerv3.Listener) {
	if l.Name == "" {
		socket := l.GetAddress().GetSocketAddress()
		l.Name = net.JoinHostPort(socket.GetAddress(), strconv.Itoa(int(socket.GetPortValue())))
	}
}

func (r *resources) addRoute(d decoded[*routev3.RouteConfiguration]) {
	if r.routes == nil {
		r.routes = map[string]decoded[*routev3.RouteConfiguration]{}
	}
	r.routes[d.message.Name] = d
}

func (r *resources) addExtension(name string, d decoded[*anypb.Any]) {
	if r.extensions == nil {
		r.extensions = map[string]decoded[*anypb.Any]{}
	}
	r.extensions[name] = d
}

func (r *resources) addScope(set string, d decoded[*routev3.ScopedRouteConfiguration]) {
	if r.scopes == nil {
		r.scopes = map[string][]decoded[*routev3.ScopedRouteConfiguration]{}
	}
	r.scopes[set] = append(r.scopes[set], d)
}

// scopesOf returns the scopes of a set.
func (r *resources) scopesOf(set string) []decoded[*routev3.ScopedRouteConfiguration] {
	if found, ok := r.scopes[set]; ok {
		return found
	}
	return r.scopes[""]
}

// fromTree decodes a typed resource. An error names the type of the resource.
func fromTree[M proto.Message](tree any, into M) (decoded[M], error) {
	if o, ok := tree.(object); ok {
		if url, _ := o["@type"].(string); url != "" {
			if got := messages.Name(url); got != messages.Name(typeURL(into)) {
				return decoded[M]{}, fmt.Errorf("it is a %s, not a %s", got, messages.Name(typeURL(into)))
			}
			bare := object{}
			for k, v := range o {
				if k != "@type" {
					bare[k] = v
				}
			}
			tree = bare
		}
	}
	faults, err := messages.Decode(tree, into)
	return decoded[M]{into, faults}, err
}

// addConfigs takes the parts of a dump.
func (r *resources) addConfigs(configs []any) {
	for i, config := range configs {
		o, ok := config.(object)
		if !ok {
			r.tellBeside("", "configs[%d] of the dump is no object", i)
			continue
		}
		if err := r.addTyped(o, typeOf(o)); err != nil {
			r.tellBeside(getString(o, "@type"), "configs[%d] of the dump: %v", i, err)
		}
	}
}

// addTyped takes a part of a dump, or a single resource. It skips, by name, what has
// nothing to do with inbounds.
func (r *resources) addTyped(o object, message string) error {
	r.checkParts(o, message)
	switch message {
	case "envoy.admin.v3.ListenersConfigDump":
		each(o, "static_listeners", func(l object) { r.addListener(get(l, "listener"), nameOf(get(l, "listener"))) })
		each(o, "dynamic_listeners", r.addDynamic)
	case "envoy.admin.v3.ListenersConfigDump.StaticListener":
		r.addListener(get(o, "listener"), nameOf(get(o, "listener")))
	case "envoy.admin.v3.ListenersConfigDump.DynamicListener":
		r.addDynamic(o)
	case "envoy.admin.v3.RoutesConfigDump":
		// The static ones stand in their listeners, and RDS never finds them.
		each(o, "dynamic_route_configs", r.addRouteConfig)
	case "envoy.admin.v3.RoutesConfigDump.StaticRouteConfig":
	case "envoy.admin.v3.RoutesConfigDump.DynamicRouteConfig":
		r.addRouteConfig(o)
	case "envoy.admin.v3.ScopedRoutesConfigDump":
		each(o, "inline_scoped_route_configs", r.addScopes)
		each(o, "dynamic_scoped_route_configs", r.addScopes)
	case "envoy.admin.v3.ScopedRoutesConfigDump.InlineScopedRouteConfigs", "envoy.admin.v3.ScopedRoutesConfigDump.DynamicScopedRouteConfigs":
		r.addScopes(o)
	case "envoy.admin.v3.EcdsConfigDump":
		each(o, "ecds_filters", r.addECDS)
	case "envoy.admin.v3.EcdsConfigDump.EcdsFilterConfig":
		r.addECDS(o)
	case "envoy.admin.v3.ClustersConfigDump":
		each(o, "static_clusters", r.addCluster)
		each(o, "dynamic_active_clusters", r.addCluster)
		each(o, "dynamic_warming_clusters", r.addCluster)
	case "envoy.admin.v3.ClustersConfigDump.StaticCluster", "envoy.admin.v3.ClustersConfigDump.DynamicCluster":
		r.addCluster(o)
	case "envoy.admin.v3.SecretsConfigDump":
		each(o, "static_secrets", r.addSecret)
		each(o, "dynamic_active_secrets", r.addSecret)
		each(o, "dynamic_warming_secrets", r.addSecret)
	case "envoy.admin.v3.SecretsConfigDump.StaticSecret", "envoy.admin.v3.SecretsConfigDump.DynamicSecret":
		r.addSecret(o)
	case "envoy.admin.v3.BootstrapConfigDump":
		r.addBootstrap(getObject(o, "bootstrap"))
	case "envoy.admin.v3.EndpointsConfigDump":
		each(o, "static_endpoint_configs", r.addEndpoints)
		each(o, "dynamic_endpoint_configs", r.addEndpoints)
	case "envoy.admin.v3.EndpointsConfigDump.StaticEndpointConfig", "envoy.admin.v3.EndpointsConfigDump.DynamicEndpointConfig":
		r.addEndpoints(o)
	case "envoy.config.listener.v3.Listener":
		r.addListener(o, getString(o, "name"))
	case "envoy.config.route.v3.RouteConfiguration":
		r.routeFrom(o)
	case "envoy.config.route.v3.ScopedRouteConfiguration":
		r.scopeFrom("", o)
	case "envoy.config.core.v3.TypedExtensionConfig":
		r.extensionFrom(o)
	default:
		return fmt.Errorf("meshproof does not know what %q is for", message)
	}
	return nil
}

func each(o object, list string, do func(object)) {
	for _, item := range getList(o, list) {
		entry, _ := item.(object)
		do(entry)
	}
}

func nameOf(tree any) string {
	o, _ := tree.(object)
	return getString(o, "name")
}

func (r *resources) addListener(tree any, name string) {
	d, err := fromTree(tree, &listenerv3.Listener{})
	if err != nil {
		r.lost(name, "listener not read: %v", err)
		return
	}
	r.serveListener(d)
}

// addDynamic takes the states of a listener with connections: the active state,
// and the draining state, which judges the connections that it has.
func (r *resources) addDynamic(o object) {
	r.checkParts(o, "envoy.admin.v3.ListenersConfigDump.DynamicListener")
	name := getString(o, "name")
	tell := func(kind Kind, format string, args ...any) {
		r.unknown = append(r.unknown, Unknown{Kind: kind, Listener: name, Reason: fmt.Sprintf(format, args...)})
	}
	if active := getObject(o, "active_state"); active != nil {
		r.addListener(get(active, "listener"), name)
	}
	if draining := getObject(o, "draining_state"); draining != nil {
		tell(Note, "version %q drains: it judges the connections that it has, and is an inbound of its own here", getString(draining, "version_info"))
		read := len(r.listeners)
		r.addListener(get(draining, "listener"), name)
		for _, d := range r.listeners[read:] {
			d.message.Name += " (draining)"
		}
	}
	if warming := getObject(o, "warming_state"); warming != nil {
		tell(Exposed, "version %q warms: it will serve soon, and was not read; take another dump in a while", getString(warming, "version_info"))
	}
	if failed := getObject(o, "error_state"); failed != nil {
		tell(Note, "Envoy refused an update of it: %s", words(getString(failed, "details")))
	}
}

func words(s string) string { return strings.Join(strings.Fields(s), " ") }

func (r *resources) addRouteConfig(o object) {
	r.routeFrom(get(o, "route_config"))
	r.tellRefusal("route configuration", nameOf(get(o, "route_config")), o)
}

// tellRefusal tells about a resource if Envoy refused its update.
func (r *resources) tellRefusal(what, name string, o object) {
	if failed := getObject(o, "error_state"); failed != nil {
		r.unknown = append(r.unknown, Unknown{Kind: Note, Reason: fmt.Sprintf("Envoy refused an update of %s %q: %s", what, name, words(getString(failed, "details")))})
	}
}

func (r *resources) routeFrom(tree any) {
	d, err := fromTree(tree, &routev3.RouteConfiguration{})
	if err != nil {
		// A listener that refers to it does not find it.
		r.tellBeside("", "route configuration %q not read: %v", nameOf(tree), err)
		return
	}
	if before, ok := r.routes[d.message.Name]; ok && !proto.Equal(before.message, d.message) {
		r.lost("", "there are several route configurations %q: nothing tells which a listener has", d.message.Name)
	}
	r.addRoute(d)
}

func (r *resources) addScopes(o object) {
	for _, tree := range getList(o, "scoped_route_configs") {
		r.scopeFrom(getString(o, "name"), tree)
	}
}

func (r *resources) scopeFrom(set string, tree any) {
	d, err := fromTree(tree, &routev3.ScopedRouteConfiguration{})
	if err != nil {
		r.lost("", "scoped route configuration %q not read: %v", nameOf(tree), err)
		return
	}
	r.addScope(set, d)
}

func (r *resources) addECDS(o object) {
	r.extensionFrom(get(o, "ecds_filter"))
	r.tellRefusal("extension configuration", nameOf(get(o, "ecds_filter")), o)
}

func (r *resources) extensionFrom(tree any) {
	d, err := fromTree(tree, &corev3.TypedExtensionConfig{})
	if err != nil {
		// A filter that refers to it does not find it.
		r.tellBeside("", "extension configuration %q not read: %v", nameOf(tree), err)
		return
	}
	if before, ok := r.extensions[d.message.Name]; ok && !proto.Equal(before.message, d.message.TypedConfig) {
		r.lost("", "there are several extension configurations %q: nothing tells which a filter has", d.message.Name)
	}
	r.addExtension(d.message.Name, decoded[*anypb.Any]{d.message.TypedConfig, d.faults})
}

// addCluster takes a cluster. A cluster that cannot be read counts as missing.
func (r *resources) addCluster(o object) {
	d, err := fromTree(get(o, "cluster"), &clusterv3.Cluster{})
	if err != nil {
		return
	}
	if r.clusters == nil {
		r.clusters = map[string]decoded[*clusterv3.Cluster]{}
	}
	if before, ok := r.clusters[d.message.Name]; ok && !proto.Equal(before.message, d.message) {
		r.tellBeside("", "two clusters have the name %q", d.message.Name)
	}
	r.clusters[d.message.Name] = d
}

// addEndpoints takes the endpoints of a cluster. Endpoints that cannot be read count as
// missing.
func (r *resources) addEndpoints(o object) {
	d, err := fromTree(get(o, "endpoint_config"), &endpointv3.ClusterLoadAssignment{})
	if err != nil || len(d.faults) > 0 {
		return
	}
	name := d.message.ClusterName
	if before, ok := r.assignments[name]; ok && !proto.Equal(before, d.message) {
		r.tellBeside("", "the service %q has two lists of endpoints", name)
	}
	if r.assignments == nil {
		r.assignments = map[string]*endpointv3.ClusterLoadAssignment{}
	}
	r.assignments[name] = d.message
}

// addSecret takes the validation context of a secret, if it has one.
func (r *resources) addSecret(o object) {
	secret := getObject(o, "secret")
	tree := get(secret, "validation_context")
	if tree == nil {
		return
	}
	name := getString(secret, "name")
	d, err := fromTree(tree, &tlsv3.CertificateValidationContext{})
	if err != nil {
		r.unknown = append(r.unknown, Unknown{Kind: Exposed, Reason: fmt.Sprintf("secret %q not read: %v", name, err)})
		return
	}
	if before, ok := r.validations[name]; ok && !proto.Equal(before.message, d.message) {
		r.unknown = append(r.unknown, Unknown{Kind: Exposed, Reason: fmt.Sprintf("there are several secrets %q: nothing tells which a listener has", name)})
	}
	if r.validations == nil {
		r.validations = map[string]decoded[*tlsv3.CertificateValidationContext]{}
	}
	r.validations[name] = d
}

func (r *resources) addFilters(l unattached, filters []any) {
	for i, tree := range filters {
		name := fmt.Sprintf("#%d", i)
		if named, inner := unwrap(tree); inner != nil {
			name, tree = getString(named, "name"), inner
			for _, key := range slices.Sorted(maps.Keys(named)) {
				if key != "name" && key != "typed_config" && key != "typedConfig" {
					r.lost(l.file, "filter %q has the field %q: of a filter without its listener, only name and typed_config are read", name, key)
				}
			}
		}
		packed := &anypb.Any{}
		faults, err := messages.Decode(tree, packed)
		if err != nil {
			r.lost(l.file, "filter not read: %v", err)
			continue
		}
		l.filters = append(l.filters, unattachedFilter{decoded[*anypb.Any]{packed, faults}, name})
	}
	r.unattached = append(r.unattached, l)
}
