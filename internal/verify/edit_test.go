package verify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Places in the example's dump: of the HTTP inbound, and of the TCP inbound.
const (
	states     = "configs.0.dynamic_listeners.0"
	listener   = states + ".active_state.listener"
	chain      = listener + ".filter_chains.0"
	tls        = chain + ".transport_socket.typed_config"
	common     = tls + ".common_tls_context"
	combined   = common + ".combined_validation_context"
	validation = combined + ".default_validation_context"
	secret     = combined + ".validation_context_sds_secret_config"
	sans       = validation + ".match_typed_subject_alt_names"
	manager    = chain + ".filters.0.typed_config"
	filters    = manager + ".http_filters"
	rbac       = filters + ".0.typed_config"
	routes     = manager + ".route_config"
	host       = routes + ".virtual_hosts.0"
	route      = host + ".routes.0"
	tcpChain   = "configs.0.dynamic_listeners.1.active_state.listener.filter_chains.0"
	tcpRBAC    = tcpChain + ".filters.0.typed_config"
	tcpProxy   = tcpChain + ".filters.1.typed_config"
	outbound   = "configs.0.dynamic_listeners.2.active_state.listener"
)

// editAt looks for the place of a path, and returns the new value of the tree. The function gets
// what stands there.
func editAt(tree any, path string, do func(old any) any) any {
	if path == "" {
		return do(tree)
	}
	step, rest, _ := strings.Cut(path, ".")
	switch tree := tree.(type) {
	case map[string]any:
		if v := editAt(tree[step], rest, do); v != nil {
			tree[step] = v
		} else {
			delete(tree, step)
		}
		return tree
	case []any:
		i, err := strconv.Atoi(step)
		if err != nil || i >= len(tree) {
			panic("no item " + path)
		}
		tree[i] = editAt(tree[i], rest, do)
		return slices.DeleteFunc(tree, func(item any) bool { return item == nil })
	case nil:
		return map[string]any{step: editAt(nil, rest, do)}
	default:
		panic(fmt.Sprintf("%s leads through %v", path, tree))
	}
}

// value reads JSON; "T/" stands for the beginning of a type URL.
func value(text string) any {
	var v any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(text, `"T/`, `"type.googleapis.com/`)), &v); err != nil {
		panic(text + ": " + err.Error())
	}
	return v
}

func put(path, text string) edit {
	return func(dump any) any { return editAt(dump, path, func(any) any { return value(text) }) }
}

func drop(path string) edit {
	return func(dump any) any { return editAt(dump, path, func(any) any { return nil }) }
}

// push puts an item in front of a list.
func push(path, text string) edit {
	return func(dump any) any {
		return editAt(dump, path, func(old any) any {
			list, _ := old.([]any)
			return append([]any{value(text)}, list...)
		})
	}
}

// add puts an item behind a list.
func add(path, text string) edit {
	return func(dump any) any {
		return editAt(dump, path, func(old any) any {
			list, _ := old.([]any)
			return append(list, value(text))
		})
	}
}

// copied puts an edited copy of a part somewhere else, behind a list where the place ends in
// "[]". Paths of the edits begin at the copy.
func copied(from, to string, edits ...edit) edit {
	return func(dump any) any {
		var text []byte
		editAt(dump, from, func(old any) any {
			text, _ = json.Marshal(old)
			return old
		})
		part := value(string(text))
		for _, e := range edits {
			part = e(part)
		}
		to, behind := strings.CutSuffix(to, "[]")
		return editAt(dump, to, func(old any) any {
			if list, _ := old.([]any); behind {
				return append(list, part)
			}
			return part
		})
	}
}

// withoutRBAC takes the RBAC filter out of the HTTP inbound.
var withoutRBAC = drop("filter_chains.0.filters.0.typed_config.http_filters.0")

// listenerOf makes the entry of a dump of a listener.
func listenerOf(part any) any { return map[string]any{"listener": part} }

// twin adds a static listener, a copy of the HTTP inbound without RBAC.
func twin(edits ...edit) edit {
	edits = append([]edit{withoutRBAC, put("name", `"another"`)}, edits...)
	return copied(listener, "configs.0.static_listeners[]", append(edits, listenerOf)...)
}

// leading adds a static outbound listener, a copy of the example's.
func leading(edits ...edit) edit {
	edits = append([]edit{put("name", `"out"`)}, edits...)
	return copied(outbound, "configs.0.static_listeners[]", append(edits, listenerOf)...)
}

// elsewhere is another address of the machine.
var elsewhere = put("address.socket_address", `{"address": "10.0.0.8", "port_value": 9999}`)

// alone adds an outbound listener in the place of the example's.
func alone(edits ...edit) edit {
	return func(dump any) any { return drop("configs.0.dynamic_listeners.2")(leading(edits...)(dump)) }
}

// structured is a message in the form of a TypedStruct.
func structured(message, fields string) string {
	return `{"@type": "T/xds.type.v3.TypedStruct", "type_url": "type.googleapis.com/` + message + `", "value": ` + fields + `}`
}

func typed(name, message, fields string) string {
	if fields != "" {
		fields = ", " + fields
	}
	return fmt.Sprintf(`{"name": %q, "typed_config": {"@type": "T/%s"%s}}`, name, message, fields)
}

func lua() string { return typed("lua", "envoy.extensions.filters.http.lua.v3.Lua", "") }

func script(source string) string {
	return typed("lua", "envoy.extensions.filters.http.lua.v3.Lua", fmt.Sprintf(`"default_source_code": {"inline_string": %q}`, source))
}

// inlineScript is a script in the field that Envoy calls deprecated, and that most people write.
func inlineScript(source string) string {
	return typed("lua", "envoy.extensions.filters.http.lua.v3.Lua", fmt.Sprintf(`"inline_code": %q`, source))
}

// override is a route in front of the others that has no RBAC.
func override(match string) edit {
	return push(host+".routes", `{"match": {`+match+`}, "route": {"cluster": "self_inbound_dp_http-port"}, "typed_per_filter_config": `+disabledRBAC+`}`)
}

// virtualHost adds a copy of the virtual host for other domains, with overrides of filters.
func virtualHost(domains, overrides string, edits ...edit) edit {
	return copied(host, routes+".virtual_hosts[]", append([]edit{put("name", fmt.Sprintf("%q", domains)), put("domains", "["+domains+"]"), put("typed_per_filter_config", overrides)}, edits...)...)
}

const (
	disabledRBAC = `{"envoy.filters.http.rbac": {"@type": "T/envoy.config.route.v3.FilterConfig", "disabled": true, "config": {}}}`
	uriSAN       = "envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput"
	network      = "envoy.extensions.matching.common_inputs.network.v3."
	header       = "envoy.type.matcher.v3.HttpRequestHeaderMatchInput"
	anyone       = `{"any": true}`
)

// allowing puts a rule in front of the rules of the HTTP inbound, that lets callers in by a
// predicate.
func allowing(message, fields, match string) edit {
	return push(rbac+".matcher.matcher_list.matchers", `{"predicate": {"single_predicate": {"input": `+typed("in", message, fields)+`, `+match+`}},
		"on_match": {"action": `+typed("act", "envoy.config.rbac.v3.Action", `"name": "back-door"`)+`}}`)
}

// letting gives the TCP inbound rules with a permission and a principal, for a matcher.
func letting(permission, principal string) edit {
	return rules("", permission, principal)
}

func rules(more, permission, principal string) edit {
	return func(dump any) any {
		return put(tcpRBAC+".rules", `{"policies": {"p": {"permissions": [`+permission+`], "principals": [`+principal+`]`+more+`}}}`)(drop(tcpRBAC + ".matcher")(dump))
	}
}

func inList(match string) string { return `"value_match": {` + match + `}` }

// passing adds an outbound listener for the connections that are redirected to it.
var passing = leading(drop("bind_to_port"), put("address.socket_address", `{"address": "0.0.0.0", "port_value": 15001}`), put("use_original_dst", `true`), put("filter_chains.0.filters.0.typed_config.cluster", `"passthrough"`))

func static(name, ip string, port int) string {
	return fmt.Sprintf(`{"name": %q, "type": "STATIC", "load_assignment": {"endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": %q, "port_value": %d}}}}]}]}}`, name, ip, port)
}

// ownCluster and redis are the clusters of the two inbounds.
var (
	ownCluster = static("self_inbound_dp_http-port", "127.0.0.1", 8080)
	redis      = static("self_inbound_dp_6379", "127.0.0.1", 6379)
	// otherRedis is the cluster of the outbound listener of the example.
	otherRedis = having(static("kri_msvc_default_zone-1_ns-1_redis_6379", "10.1.1.1", 6379), meshTLS(""))
)

// having adds fields to a cluster, retyped gives it another type.
func having(cluster, fields string) string { return strings.Replace(cluster, "{", "{"+fields+", ", 1) }

func retyped(cluster, fields string) string {
	return strings.Replace(cluster, `"type": "STATIC"`, fields, 1)
}

func byEDS(name, fields string) string {
	if fields != "" {
		fields = ", " + fields
	}
	return fmt.Sprintf(`{"name": %q, "type": "EDS"%s}`, name, fields)
}

// meshTLS is a transport socket that demands a certificate of the mesh.
func meshTLS(fields string) string {
	return `"transport_socket": ` + typed("tls", "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", `"common_tls_context": {"combined_validation_context": {
		"default_validation_context": {"match_typed_subject_alt_names": [{"san_type": "URI", "matcher": {"prefix": "spiffe://default.zone-1.mesh.local/"}}]`+fields+`},
		"validation_context_sds_secret_config": {"name": "system_trust_bundle", "sds_config": {"ads": {}}}}}`)
}

// upstreamTLS is a transport socket over TLS.
func upstreamTLS(common string) string {
	return `"transport_socket": ` + typed("tls", "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", `"common_tls_context": {`+common+`}`)
}

// redirecting makes the HTTP inbound hand over the connections that are redirected to it.
var redirecting = put(listener+".use_original_dst", `true`)

// endpoints adds what EDS gave.
func endpoints(service, ip string, port int) edit {
	assignment := fmt.Sprintf(`{"cluster_name": %q, "endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": %q, "port_value": %d}}}}]}]}`, service, ip, port)
	return add("configs", `{"@type": "T/envoy.admin.v3.EndpointsConfigDump", "dynamic_endpoint_configs": [{"endpoint_config": `+assignment+`}]}`)
}

// completed adds what every dump has to a dump, unless an edit has added some: the clusters of the example, a
// bootstrap, and the secret of the CAs.
func completed(dump any) any {
	for _, part := range []struct {
		message string
		add     edit
	}{
		{"ClustersConfigDump", clusters(ownCluster, redis)},
		{"BootstrapConfigDump", bootstrap(harmlessLayers)},
		{"SecretsConfigDump", bundle(`{"trusted_ca": {"inline_string": "x"}}`)},
	} {
		has := slices.ContainsFunc(dump.(map[string]any)["configs"].([]any), func(of any) bool {
			fields, _ := of.(map[string]any)
			return fields["@type"] == "type.googleapis.com/envoy.admin.v3."+part.message
		})
		if !has {
			dump = part.add(dump)
		}
	}
	return dump
}

func clusters(all ...string) edit {
	for i, one := range all {
		all[i] = `{"cluster": ` + one + `}`
	}
	return add("configs", `{"@type": "T/envoy.admin.v3.ClustersConfigDump", "static_clusters": [`+strings.Join(all, ",")+`]}`)
}

// bundle adds the secret of the CAs to the dump.
func bundle(context string) edit {
	return add("configs", `{"@type": "T/envoy.admin.v3.SecretsConfigDump", "dynamic_active_secrets": [{"name": "system_trust_bundle", "secret": {"name": "system_trust_bundle", "validation_context": `+context+`}}]}`)
}

func spiffe(domains string) string {
	return `{"custom_validator_config": ` + typed("envoy.tls.cert_validator.spiffe", "envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig", `"trust_domains": [`+domains+`]`) + `}`
}

// dumpOf makes a part of a dump of a resource.
func dumpOf(message, list, field string) edit {
	return func(part any) any {
		return map[string]any{"@type": "type.googleapis.com/" + message, list: []any{map[string]any{field: part}}}
	}
}

// byRDS moves the routes of the HTTP inbound into a part of their own.
func byRDS(edits ...edit) edit {
	return func(dump any) any {
		dump = copied(routes, "configs[]", append(edits, dumpOf("envoy.admin.v3.RoutesConfigDump", "dynamic_route_configs", "route_config"))...)(dump)
		return put(manager+".rds", `{"route_config_name": "self_inbound_dp_http-port", "config_source": {"ads": {}}}`)(drop(routes)(dump))
	}
}

// at1 puts an item behind the first of a list.
func at1(path, text string) edit {
	return func(dump any) any {
		return editAt(dump, path, func(old any) any { return slices.Insert(old.([]any), 1, value(text)) })
	}
}

// behindRBAC puts a filter behind the RBAC filter of the HTTP inbound.
func behindRBAC(filter string) edit { return at1(filters, filter) }

const harmlessLayers = `"layered_runtime": {"layers": [{"static_layer": {}}]}`

var toFile = typed("f", "envoy.extensions.access_loggers.file.v3.FileAccessLog", `"path": "/dev/stdout"`)

func toGRPC(cluster string) string {
	return typed("g", "envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig", `"common_config": {"grpc_service": {"envoy_grpc": {"cluster_name": "`+cluster+`"}}}`)
}

// bootstrap adds a bootstrap to the dump.
func bootstrap(fields string) edit {
	return add("configs", `{"@type": "T/envoy.admin.v3.BootstrapConfigDump", "bootstrap": {`+fields+`}}`)
}
