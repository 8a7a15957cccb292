package dump

import (
	"maps"
	"net"
	"reflect"
	"slices"
	"strconv"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/messages"
)

const (
	configDump      = "envoy.admin.v3.ConfigDump"
	listenerState   = "envoy.admin.v3.ListenersConfigDump.DynamicListenerState"
	bootstrapConfig = "envoy.config.bootstrap.v3.Bootstrap"
	adminMessage    = "envoy.config.bootstrap.v3.Admin"
	// runtimeAnswer is no message: Envoy writes the answer to /runtime by hand.
	runtimeAnswer = "answer to /runtime"
)

// parts are the fields of the messages of a dump. What stands in another field would be
// passed over.
var parts = map[string]string{
	configDump:                              "configs",
	"envoy.admin.v3.ListenersConfigDump":    "version_info static_listeners dynamic_listeners",
	"envoy.admin.v3.RoutesConfigDump":       "static_route_configs dynamic_route_configs",
	"envoy.admin.v3.ScopedRoutesConfigDump": "inline_scoped_route_configs dynamic_scoped_route_configs",
	"envoy.admin.v3.EcdsConfigDump":         "ecds_filters",
	"envoy.admin.v3.EndpointsConfigDump":    "static_endpoint_configs dynamic_endpoint_configs",
	"envoy.admin.v3.ClustersConfigDump":     "version_info static_clusters dynamic_active_clusters dynamic_warming_clusters",
	"envoy.admin.v3.SecretsConfigDump":      "static_secrets dynamic_active_secrets dynamic_warming_secrets",
	// What changes how filters judge stands in a bootstrap too: other engines for regular
	// expressions, other prefixes of headers, extensions.
	bootstrapConfig: `bootstrap_extensions node node_context_params static_resources dynamic_resources cluster_manager hds_config flags_path
		stats_sinks stats_config stats_flush_interval stats_flush_on_admin deferred_stat_options stats_server_version_override watchdog
		watchdogs tracing layered_runtime admin overload_manager enable_dispatcher_stats use_tcp_for_dns_lookups dns_resolution_config
		typed_dns_resolver_config fatal_actions default_config_source perf_tracing_file_path application_log_config
		grpc_async_client_manager_config memory_allocator_manager default_regex_engine`,
	"envoy.admin.v3.BootstrapConfigDump":                 "bootstrap last_updated",
	"envoy.admin.v3.ListenersConfigDump.StaticListener":  "listener last_updated",
	"envoy.admin.v3.ListenersConfigDump.DynamicListener": "name active_state warming_state draining_state error_state client_status",
	listenerState: "version_info listener last_updated",
	"envoy.admin.v3.RoutesConfigDump.StaticRouteConfig":               "route_config last_updated",
	"envoy.admin.v3.RoutesConfigDump.DynamicRouteConfig":              "version_info route_config last_updated error_state client_status",
	"envoy.admin.v3.ScopedRoutesConfigDump.InlineScopedRouteConfigs":  "name scoped_route_configs last_updated",
	"envoy.admin.v3.ScopedRoutesConfigDump.DynamicScopedRouteConfigs": "name version_info scoped_route_configs last_updated error_state client_status",
	"envoy.admin.v3.EcdsConfigDump.EcdsFilterConfig":                  "version_info ecds_filter last_updated error_state client_status",
	"envoy.admin.v3.EndpointsConfigDump.StaticEndpointConfig":         "endpoint_config last_updated",
	"envoy.admin.v3.EndpointsConfigDump.DynamicEndpointConfig":        "version_info endpoint_config last_updated error_state client_status",
	"envoy.admin.v3.ClustersConfigDump.StaticCluster":                 "cluster last_updated",
	"envoy.admin.v3.ClustersConfigDump.DynamicCluster":                "version_info cluster last_updated error_state client_status",
	"envoy.extensions.transport_sockets.tls.v3.Secret":                "name tls_certificate session_ticket_keys validation_context generic_secret",
	"envoy.admin.v3.SecretsConfigDump.StaticSecret":                   "name last_updated secret",
	"envoy.admin.v3.SecretsConfigDump.DynamicSecret":                  "name version_info last_updated secret error_state client_status",
	adminMessage: "access_log access_log_path profile_path address socket_options ignore_global_conn_limit allow_paths",
	"envoy.config.bootstrap.v3.Bootstrap.StaticResources": "listeners clusters secrets",
	"envoy.config.bootstrap.v3.ClusterManager":            "local_cluster_name outlier_detection load_stats_config enable_deferred_cluster_creation",
	"envoy.config.bootstrap.v3.LayeredRuntime":            "layers",
	"envoy.config.bootstrap.v3.RuntimeLayer":              "name static_layer admin_layer disk_layer rtds_layer",
	nodeMessage: `id cluster metadata dynamic_parameters locality user_agent_name user_agent_version user_agent_build_version extensions
		client_features listening_addresses`,
	"envoy.config.core.v3.BuildVersion": "version metadata",
	"envoy.type.v3.SemanticVersion":     "major_number minor_number patch",
	runtimeAnswer:                       "layers entries",
}

// checkParts tells about fields of a message of a dump that are not read.
func (r *Resources) checkParts(o object, message string) {
	known, ok := parts[message]
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if ok && key != "@type" && !slices.ContainsFunc(strings.Fields(known), func(name string) bool { return key == name || key == camel(name) }) {
			r.tellBeside(message, "meshproof does not know what %q of a dump is", key)
		}
		if _, twice := o[camel(key)]; twice && key != camel(key) {
			r.tellBeside(message, "%q stands there in two spellings", key)
		}
	}
}

// each reads the entries of a list. The message is that of an entry; it is empty where the
// entries are resources, which are held against their own definition.
func (r *Resources) each(o object, list, message string, do func(object)) {
	of := get(o, list)
	items, isList := of.([]any)
	if of != nil && !isList {
		r.tellBeside(message, "%q of a dump is no list", list)
	}
	for i, item := range items {
		entry, ok := item.(object)
		if !ok {
			r.tellBeside(message, "%s[%d] of a dump is no object", list, i)
			continue
		}
		if message != "" {
			r.checkParts(entry, message)
		}
		do(entry)
	}
}

// part returns an object of a dump, held against its message; nil where there is none.
func (r *Resources) part(o object, name, message string) object {
	of := get(o, name)
	out, ok := of.(object)
	if of != nil && !ok {
		r.tellBeside(message, "%q of a dump is no object", name)
	}
	r.checkParts(out, message)
	return out
}

// addBootstrap tells what in the bootstrap changes how an Envoy judges. A runtime key may
// bring back what a release has mended.
func (r *Resources) addBootstrap(o object) {
	if !hasFields(o) {
		// Each Envoy has a node at least. Without one, nothing says that a bootstrap was read.
		r.tellBeside(bootstrapConfig, "a bootstrap has no field, so that nothing shows static listeners, runtime keys and the admin interface: take the whole answer to /config_dump")
		return
	}
	version := r.versionOf(r.part(o, "node", nodeMessage))
	switch {
	case r.bootstrap == nil:
		r.bootstrap = o
	case version != r.Envoy:
		r.tellBeside(bootstrapConfig, "there are several, of Envoy %q and of Envoy %q: give the dump of one sidecar", r.Envoy, version)
	case !reflect.DeepEqual(r.bootstrap, o):
		r.tellBeside(bootstrapConfig, "there are several that differ: give the dump of one sidecar")
	}
	r.Envoy = version
	r.Nodes = append(r.Nodes, nodeOf(o))
	node := getObject(o, "node")
	if get(node, "metadata") != nil && getObject(node, "metadata") == nil {
		r.tellBeside(nodeMessage, "the metadata of the node are no object: nothing tells what the node says of its workload")
	}
	if _, isText := get(node, "id").(string); get(node, "id") != nil && !isText {
		r.tellBeside(nodeMessage, "the ID of the node is no text: nothing tells of which workload it is")
	}
	r.addAdmin(o)
	static := r.part(o, "static_resources", "envoy.config.bootstrap.v3.Bootstrap.StaticResources")
	r.part(o, "cluster_manager", "envoy.config.bootstrap.v3.ClusterManager")
	r.each(static, "listeners", "", func(listener object) { r.bootstrapped = append(r.bootstrapped, listener) })
	r.each(static, "clusters", "", func(cluster object) { r.addCluster(object{"cluster": cluster}) })
	r.addRuntime(o)
	r.tellRegexEngine(get(o, "default_regex_engine"))
	r.tellHealthServer(o)
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if key == "static_resources" || key == "staticResources" {
			continue // they are read by themselves
		}
		r.tellExtensions(o[key])
		ofPlane := key == "dynamic_resources" || key == "dynamicResources"
		if key != "node" {
			r.addBootstrapTexts(o[key], ofPlane)
		}
		// The control plane has all that it asks for anyway.
		if !ofPlane {
			r.tellConnections(o[key])
		}
	}
}

// addBootstrapTexts gathers the texts in a part of a bootstrap, which may be the part about the control plane.
func (r *Resources) addBootstrapTexts(part any, ofPlane bool) {
	if r.Texts == nil {
		r.Texts, r.PlaneTexts = map[string]bool{}, map[string]bool{}
	}
	addTexts(r.Texts, part)
	if ofPlane {
		addTexts(r.PlaneTexts, part)
	}
}

// hasFields reports whether a message in JSON has a field with a value.
func hasFields(o object) bool {
	for key, field := range o {
		if key != "@type" && field != nil {
			return true
		}
	}
	return false
}

// googleRE2 is the engine for regular expressions that Envoy has by default, too.
const googleRE2 = "envoy.extensions.regex_engines.v3.GoogleRE2"

// tellRegexEngine tells about another engine: its expressions match otherwise.
func (r *Resources) tellRegexEngine(engine any) {
	o, _ := engine.(object)
	if engine != nil && typeOf(getObject(o, "typed_config")) != googleRE2 {
		r.tellBeside(bootstrapConfig, "the engine for regular expressions is not known to be the default one of Envoy")
	}
}

// addTexts adds the texts in a part of a bootstrap.
func addTexts(to map[string]bool, part any) {
	switch part := part.(type) {
	case []any:
		for _, item := range part {
			addTexts(to, item)
		}
	case object:
		for _, item := range part {
			addTexts(to, item)
		}
	case string:
		to[part] = true
	}
}

// quietExtensions are the extensions of a bootstrap that measure, log and limit, in the packages
// of their messages.
var quietExtensions = []string{"envoy.config.metrics.v3.", "envoy.config.overload.v3.", "envoy.config.trace.v3.ZipkinConfig", "envoy.config.trace.v3.OpenTelemetryConfig",
	"envoy.extensions.access_loggers.file.v3.", "envoy.extensions.access_loggers.stream.v3.", "envoy.extensions.network.dns_resolver.",
	"envoy.extensions.resource_monitors.", "envoy.extensions.stat_sinks.graphite_statsd.v3.", "envoy.extensions.stat_sinks.open_telemetry.v3.",
	"envoy.extensions.watchdog.profile_action.v3.", "envoy.watchdog.", googleRE2,
	// The first says who callers are, for telemetry. The second lets a dump have internal listeners.
	"istio.workload.BootstrapExtension", "envoy.extensions.bootstrap.internal_listener.v3."}

// tellExtensions tells about extensions in a part of a bootstrap that may run code.
func (r *Resources) tellExtensions(part any) {
	switch part := part.(type) {
	case []any:
		for _, item := range part {
			r.tellExtensions(item)
		}
	case object:
		name := typeOf(part)
		if messages.IsTypedStruct(name) {
			name = messages.Name(getString(part, "type_url"))
		}
		if part["@type"] != nil && !slices.ContainsFunc(quietExtensions, func(known string) bool { return strings.HasPrefix(name, known) }) {
			r.tellBeside(bootstrapConfig, "the extension %s is not known to leave requests alone", name)
		}
		for _, key := range slices.Sorted(maps.Keys(part)) {
			r.tellExtensions(part[key])
		}
	}
}

// complete reads what the parts together say.
func (r *Resources) complete() {
	r.addBootstrapped()
	r.tellUnreadable()
	r.tellHiddenLayers()
	r.tellOtherRuntime()
}

// addBootstrapped adds the listeners of the bootstrap that the dump does not list, as where
// only its dynamic listeners were asked for.
func (r *Resources) addBootstrapped() {
	listed := r.Listeners
	for _, tree := range r.bootstrapped {
		d, err := fromTree(tree, &listenerv3.Listener{})
		if err == nil {
			nameListener(d.Message)
		}
		if err != nil || !slices.ContainsFunc(listed, func(l Decoded[*listenerv3.Listener]) bool { return proto.Equal(l.Message, d.Message) }) {
			r.addListener(tree, nameOf(tree))
		}
	}
	r.bootstrapped = nil
}

// nameListener gives a listener without a name its address as name.
func nameListener(l *listenerv3.Listener) {
	if l.Name == "" {
		socket := l.GetAddress().GetSocketAddress()
		l.Name = net.JoinHostPort(socket.GetAddress(), strconv.Itoa(int(socket.GetPortValue())))
	}
}
