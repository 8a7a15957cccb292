package sidecar

import (
	"fmt"
	"strings"
)

const prefix = "type.googleapis.com/"

// filter is a filter with its typed configuration; the fields may be empty.
func filter(name, message, fields string) string {
	if fields != "" {
		fields = ", " + fields
	}
	return fmt.Sprintf(`{"name": %q, "typed_config": {"@type": %q%s}}`, name, prefix+message, fields)
}

func discovered(name, message string) string {
	return fmt.Sprintf(`{"name": %q, "config_discovery": {"config_source": {"ads": {}}, "type_urls": [%q]}}`, name, prefix+message)
}

func l4(fields string) string { return filter("rbac", networkRBAC, `"stat_prefix": "s", `+fields) }

func l7(fields string) string { return filter("rbac", httpRBAC, fields) }

// manager is a connection manager with the filters and a router, and the other
// fields given.
func manager(fields string, filters ...string) string {
	filters = append(filters, filter("router", router, ""))
	return filter("hcm", httpManager, fmt.Sprintf(`"stat_prefix": "h", %s "http_filters": [%s]`, fields, strings.Join(filters, ",")))
}

// serving is an inbound listener with one chain of filters.
func serving(filters ...string) string { return listening("", "", filters...) }

func listening(listener, chain string, filters ...string) string {
	return fmt.Sprintf(`{"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "in", "traffic_direction": "INBOUND",
		"address": {"socket_address": {"address": "10.0.0.1", "port_value": 80}}, %s "filter_chains": [{"name": "c", %s "filters": [%s]}]}`,
		listener, chain, strings.Join(filters, ","))
}

// whole is a dump with the listener and the other parts.
func whole(listener string, parts ...string) string {
	parts = append(parts, fmt.Sprintf(`{"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump",
		"dynamic_listeners": [{"name": "in", "active_state": {"listener": %s}}]}`, listener))
	return fmt.Sprintf(`{"configs": [%s]}`, strings.Join(parts, ","))
}

const (
	anybody   = `{"any": true}`
	identity  = `{"input": {"name": "san", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput"}}, "value_match": {"exact": "spiffe://a/b"}}`
	onMatch   = `"on_match": {"action": {"name": "act", "typed_config": {"@type": "type.googleapis.com/envoy.config.rbac.v3.Action", "name": "p"}}}`
	denyAll   = `"rules": {}`
	permitAll = `"rules": {"policies": {"p": {"permissions": [{"any": true}], "principals": [{"any": true}]}}}`
)

func policies(permission, principal, more string) string {
	return fmt.Sprintf(`"rules": {"policies": {"p": {"permissions": [%s], "principals": [%s]%s}}}`, permission, principal, more)
}

func matching(predicate, outcome string) string {
	return fmt.Sprintf(`"matcher": {"matcher_list": {"matchers": [{"predicate": {"single_predicate": %s}, %s}]}}`, predicate, outcome)
}

func asking(message, fields string) string {
	return strings.Replace(identity, "envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput\"", message+"\""+fields, 1)
}
