package dump

import (
	"fmt"
	"maps"
	"slices"
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

// Decoded is a resource with what it lost when it was decoded.
type Decoded[M proto.Message] struct {
	Message M
	Faults  []messages.Fault
}

// Resources are all resources of a dump, a folder or a control plane. The listeners decide
// which of them are read.
type Resources struct {
	Listeners []Decoded[*listenerv3.Listener]
	// DrainAlone are the names of listeners that drain, and of which no version is active.
	DrainAlone map[string]bool
	// bootstrapped are the listeners of the bootstrap, as JSON.
	bootstrapped []any
	Routes       map[string]Decoded[*routev3.RouteConfiguration]
	Extensions   map[string]Decoded[*anypb.Any]
	// scopes are the scoped route configurations, by the name of their set; over ADS
	// there is one set, without a name.
	scopes   map[string][]Decoded[*routev3.ScopedRouteConfiguration]
	Clusters map[string]Decoded[*clusterv3.Cluster]
	// Assignments are the endpoints that came by EDS, by the name of the service.
	Assignments map[string]*endpointv3.ClusterLoadAssignment
	// Validations are the validation contexts of secrets, by the name of the secret.
	Validations map[string]Decoded[*tlsv3.CertificateValidationContext]
	// Unattached are filters that came without a listener.
	Unattached []Unattached
	Unknown    []Unknown
	// IsDump is set where a dump of an Envoy is among the input, which has all clusters.
	IsDump bool
	// AdminPort is the port of the admin interface, 0 where nothing tells it.
	AdminPort uint32
	// AdminPipe is the path of the admin interface in the file system, empty where it has an address.
	AdminPipe string
	// bootstrap is the first bootstrap, as JSON.
	bootstrap object
	// hiddenLayers are the layers of the runtime whose values a dump does not have. shownLayers
	// are those of the answer to /runtime, which isRuntimeShown says is there.
	hiddenLayers, shownLayers []string
	// layers are those of the bootstrap, and runtimes the answers to /runtime.
	layers, runtimes []object
	isRuntimeShown   bool
	// unreadClusters and unreadServices are the names of clusters and of lists of endpoints that could not be read. They
	// count as missing; where one of the same name was read, nothing tells which of the two Envoy has.
	unreadClusters, unreadServices map[string]bool
	// Texts are those of the bootstraps, but for static resources and nodes. Where one is the name of a cluster, Envoy
	// may send requests of its own there: statistics, and traces of a connection manager that states no tracer.
	Texts map[string]bool
	// PlaneTexts are those of them that say how to find the control plane.
	PlaneTexts map[string]bool
	// Envoy is the version of the sidecar; empty where nothing names it.
	Envoy string
	// Nodes are the nodes of the bootstraps, one for each.
	Nodes []Node
}

// Unattached are the filters of one inbound, without a listener.
type Unattached struct {
	File, Inbound, Protocol string
	Filters                 []UnattachedFilter
}

// UnattachedFilter is the configuration of a filter, with its name or its index.
type UnattachedFilter struct {
	Decoded[*anypb.Any]
	Name string
}

func (r *Resources) lost(listener, format string, args ...any) {
	r.Unknown = append(r.Unknown, Unknown{Kind: Lost, Listener: listener, Reason: fmt.Sprintf(format, args...)})
}

func (r *Resources) tellBeside(typeURL, format string, args ...any) {
	r.Unknown = append(r.Unknown, Unknown{Kind: BesideRBAC, Type: typeURL, Reason: fmt.Sprintf(format, args...)})
}

// serveListener adds a listener.
func (r *Resources) serveListener(d Decoded[*listenerv3.Listener]) {
	nameListener(d.Message)
	r.Listeners = append(r.Listeners, d)
}

func (r *Resources) addRoute(d Decoded[*routev3.RouteConfiguration]) {
	if r.Routes == nil {
		r.Routes = map[string]Decoded[*routev3.RouteConfiguration]{}
	}
	r.Routes[d.Message.Name] = d
}

func (r *Resources) addExtension(name string, d Decoded[*anypb.Any]) {
	if r.Extensions == nil {
		r.Extensions = map[string]Decoded[*anypb.Any]{}
	}
	r.Extensions[name] = d
}

func (r *Resources) addScope(set string, d Decoded[*routev3.ScopedRouteConfiguration]) {
	if r.scopes == nil {
		r.scopes = map[string][]Decoded[*routev3.ScopedRouteConfiguration]{}
	}
	r.scopes[set] = append(r.scopes[set], d)
}

// ScopesOf returns the scopes of a set.
func (r *Resources) ScopesOf(set string) []Decoded[*routev3.ScopedRouteConfiguration] {
	if found, ok := r.scopes[set]; ok {
		return found
	}
	return r.scopes[""]
}

// fromTree decodes a typed resource. An error names the type of the resource.
func fromTree[M proto.Message](tree any, into M) (Decoded[M], error) {
	if o, ok := tree.(object); ok {
		if url, _ := o["@type"].(string); url != "" {
			wanted := string(into.ProtoReflect().Descriptor().FullName())
			if got := messages.Name(url); got != wanted {
				return Decoded[M]{}, fmt.Errorf("it is a %s, not a %s", got, wanted)
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
	return Decoded[M]{into, faults}, err
}

// addConfigs takes the parts of a dump.
func (r *Resources) addConfigs(configs []any) {
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
func (r *Resources) addTyped(o object, message string) error {
	r.checkParts(o, message)
	r.IsDump = r.IsDump || strings.HasPrefix(message, "envoy.admin.v3.")
	switch message {
	case "envoy.admin.v3.ListenersConfigDump":
		r.each(o, "static_listeners", message+".StaticListener", r.addStatic)
		r.each(o, "dynamic_listeners", message+".DynamicListener", r.addDynamic)
	case "envoy.admin.v3.ListenersConfigDump.StaticListener":
		r.addStatic(o)
	case "envoy.admin.v3.ListenersConfigDump.DynamicListener":
		r.addDynamic(o)
	case "envoy.admin.v3.RoutesConfigDump":
		// The static ones stand in their listeners, and RDS never finds them.
		r.each(o, "dynamic_route_configs", message+".DynamicRouteConfig", r.addRouteConfig)
	case "envoy.admin.v3.RoutesConfigDump.StaticRouteConfig":
	case "envoy.admin.v3.RoutesConfigDump.DynamicRouteConfig":
		r.addRouteConfig(o)
	case "envoy.admin.v3.ScopedRoutesConfigDump":
		r.each(o, "inline_scoped_route_configs", message+".InlineScopedRouteConfigs", r.addScopes)
		r.each(o, "dynamic_scoped_route_configs", message+".DynamicScopedRouteConfigs", r.addScopes)
	case "envoy.admin.v3.ScopedRoutesConfigDump.InlineScopedRouteConfigs", "envoy.admin.v3.ScopedRoutesConfigDump.DynamicScopedRouteConfigs":
		r.addScopes(o)
	case "envoy.admin.v3.EcdsConfigDump":
		r.each(o, "ecds_filters", message+".EcdsFilterConfig", r.addECDS)
	case "envoy.admin.v3.EcdsConfigDump.EcdsFilterConfig":
		r.addECDS(o)
	case "envoy.admin.v3.ClustersConfigDump":
		r.each(o, "static_clusters", message+".StaticCluster", r.addCluster)
		r.each(o, "dynamic_active_clusters", message+".DynamicCluster", r.addCluster)
		r.each(o, "dynamic_warming_clusters", message+".DynamicCluster", r.addCluster)
	case "envoy.admin.v3.ClustersConfigDump.StaticCluster", "envoy.admin.v3.ClustersConfigDump.DynamicCluster":
		r.addCluster(o)
	case "envoy.admin.v3.SecretsConfigDump":
		r.each(o, "static_secrets", message+".StaticSecret", r.addSecret)
		r.each(o, "dynamic_active_secrets", message+".DynamicSecret", r.addSecret)
		r.each(o, "dynamic_warming_secrets", message+".DynamicSecret", r.addSecret)
	case "envoy.admin.v3.SecretsConfigDump.StaticSecret", "envoy.admin.v3.SecretsConfigDump.DynamicSecret":
		r.addSecret(o)
	case "envoy.admin.v3.BootstrapConfigDump":
		r.addBootstrap(r.part(o, "bootstrap", bootstrapConfig))
	case "envoy.admin.v3.EndpointsConfigDump":
		r.each(o, "static_endpoint_configs", message+".StaticEndpointConfig", r.addEndpoints)
		r.each(o, "dynamic_endpoint_configs", message+".DynamicEndpointConfig", r.addEndpoints)
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

func nameOf(tree any) string {
	o, _ := tree.(object)
	return getString(o, "name")
}

func (r *Resources) addListener(tree any, name string) {
	d, err := fromTree(tree, &listenerv3.Listener{})
	if err != nil {
		r.lost(name, "listener not read: %v", err)
		return
	}
	r.serveListener(d)
}

// addStatic takes a listener of the bootstrap.
func (r *Resources) addStatic(o object) {
	r.addListener(get(o, "listener"), nameOf(get(o, "listener")))
}

// addDynamic takes the states of a listener with connections: the active state,
// and the draining state, which judges the connections that it has.
func (r *Resources) addDynamic(o object) {
	name := getString(o, "name")
	tell := func(kind Kind, format string, args ...any) {
		r.Unknown = append(r.Unknown, Unknown{Kind: kind, Listener: name, Reason: fmt.Sprintf(format, args...)})
	}
	if active := r.part(o, "active_state", listenerState); active != nil {
		r.addListener(get(active, "listener"), name)
	}
	if draining := r.part(o, "draining_state", listenerState); draining != nil {
		tell(Note, "version %q drains: it judges the connections that it has, and is an inbound of its own here", getString(draining, "version_info"))
		read := len(r.Listeners)
		r.addListener(get(draining, "listener"), name)
		for _, d := range r.Listeners[read:] {
			d.Message.Name += " (draining)"
			if get(o, "active_state") == nil {
				r.DrainAlone = withName(r.DrainAlone, d.Message.Name)
			}
		}
	}
	if warming := r.part(o, "warming_state", listenerState); warming != nil {
		tell(Exposed, "version %q warms: it will serve soon, and was not read; take another dump in a while", getString(warming, "version_info"))
	}
	if failed := getObject(o, "error_state"); failed != nil {
		tell(Note, "Envoy refused an update of it: %s", words(getString(failed, "details")))
	}
}

func words(s string) string { return strings.Join(strings.Fields(s), " ") }

func (r *Resources) addRouteConfig(o object) {
	r.routeFrom(get(o, "route_config"))
	r.tellRefusal("route configuration", nameOf(get(o, "route_config")), o)
}

// tellRefusal tells about a resource if Envoy refused its update.
func (r *Resources) tellRefusal(what, name string, o object) {
	if failed := getObject(o, "error_state"); failed != nil {
		r.Unknown = append(r.Unknown, Unknown{Kind: Note, Reason: fmt.Sprintf("Envoy refused an update of %s %q: %s", what, name, words(getString(failed, "details")))})
	}
}

func (r *Resources) routeFrom(tree any) {
	d, err := fromTree(tree, &routev3.RouteConfiguration{})
	if err != nil {
		// A listener that refers to it does not find it.
		r.tellBeside("", "route configuration %q not read: %v", nameOf(tree), err)
		return
	}
	if before, ok := r.Routes[d.Message.Name]; ok && !proto.Equal(before.Message, d.Message) {
		r.lost("", "there are several route configurations %q: nothing tells which a listener has", d.Message.Name)
	}
	d.Faults = append(d.Faults, r.Routes[d.Message.Name].Faults...)
	r.addRoute(d)
}

func (r *Resources) addScopes(o object) {
	r.each(o, "scoped_route_configs", "", func(scope object) { r.scopeFrom(getString(o, "name"), scope) })
}

func (r *Resources) scopeFrom(set string, tree any) {
	d, err := fromTree(tree, &routev3.ScopedRouteConfiguration{})
	if err != nil {
		r.lost("", "scoped route configuration %q not read: %v", nameOf(tree), err)
		return
	}
	r.addScope(set, d)
}

func (r *Resources) addECDS(o object) {
	r.extensionFrom(get(o, "ecds_filter"))
	r.tellRefusal("extension configuration", nameOf(get(o, "ecds_filter")), o)
}

func (r *Resources) extensionFrom(tree any) {
	d, err := fromTree(tree, &corev3.TypedExtensionConfig{})
	if err != nil {
		// A filter that refers to it does not find it.
		r.tellBeside("", "extension configuration %q not read: %v", nameOf(tree), err)
		return
	}
	if before, ok := r.Extensions[d.Message.Name]; ok && !proto.Equal(before.Message, d.Message.TypedConfig) {
		r.lost("", "there are several extension configurations %q: nothing tells which a filter has", d.Message.Name)
	}
	faults := append(d.Faults, r.Extensions[d.Message.Name].Faults...)
	r.addExtension(d.Message.Name, Decoded[*anypb.Any]{d.Message.TypedConfig, faults})
}

// checkEntry tells about the fields of an entry of a file that are not read, and about a field
// that stands there in two spellings.
func (r *Resources) checkEntry(what, file string, o object, fields ...string) {
	for _, key := range slices.Sorted(maps.Keys(o)) {
		i := slices.IndexFunc(fields, func(name string) bool { return key == name || key == camel(name) })
		_, twice := o[camel(key)]
		if i < 0 || twice && key != camel(key) {
			r.lost(file, "%s has the field %q: without a listener, only %s are read, each in one spelling", what, key, strings.Join(fields, ", "))
		}
	}
}

func (r *Resources) addFilters(l Unattached, filters []any) {
	for i, tree := range filters {
		name := fmt.Sprintf("#%d", i)
		if named, inner := unwrap(tree); inner != nil {
			name, tree = getString(named, "name"), inner
			r.checkEntry(fmt.Sprintf("filter %q", name), l.File, named, "name", "typed_config")
		}
		packed := &anypb.Any{}
		faults, err := messages.Decode(tree, packed)
		if err != nil {
			r.lost(l.File, "filter not read: %v", err)
			continue
		}
		l.Filters = append(l.Filters, UnattachedFilter{Decoded[*anypb.Any]{packed, faults}, name})
	}
	r.Unattached = append(r.Unattached, l)
}
