package sidecar

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func perRoute(rbac string) string {
	return fmt.Sprintf(`"typed_per_filter_config": {"rbac": {"@type": "type.googleapis.com/%s"%s}}`, routeRBAC, rbac)
}

// routeTo is a route of a prefix, with further fields.
func routeTo(prefix, more string) string {
	return fmt.Sprintf(`{"name": %q, "match": {"prefix": %q}, "route": {"cluster": "c"}%s}`, "to "+prefix, prefix, more)
}

func routes(name, domain string, routes ...string) string {
	return fmt.Sprintf(`{"name": %q, "virtual_hosts": [{"name": "v", "domains": [%q], "routes": [%s]}]}`, name, domain, strings.Join(routes, ","))
}

func typed(message, resource string) string {
	return strings.Replace(resource, "{", fmt.Sprintf(`{"@type": %q, `, prefix+message), 1)
}

const (
	rds  = `"rds": {"route_config_name": "r", "config_source": {"ads": {}}},`
	srds = `"scoped_routes": {"name": "set", "scoped_rds": {"scoped_rds_config_source": {"ads": {}}}},`
)

func TestRoutes(t *testing.T) {
	t.Parallel()
	at := `listener "in": filter chain "c": `
	admin := routeTo("/admin", ", "+perRoute(`, "rbac": {`+permitAll+`}`))
	off := routeTo("/health", ", "+perRoute(""))
	disabled := routeTo("/off", `, "typed_per_filter_config": {"rbac": {"@type": "type.googleapis.com/`+routeFilter+`", "disabled": true}}`)
	boxed := routeTo("/boxed", `, "typed_per_filter_config": {"rbac": {"@type": "type.googleapis.com/`+routeFilter+`",
		"config": {"@type": "type.googleapis.com/`+routeRBAC+`", "rbac": {`+permitAll+`}}}}`)
	rest := routeTo("/", "")
	dynamic := func(config string) string {
		return fmt.Sprintf(`{"@type": "type.googleapis.com/envoy.admin.v3.RoutesConfigDump", "dynamic_route_configs": [{"route_config": %s}]}`,
			typed("envoy.config.route.v3.RouteConfiguration", config))
	}
	scope := func(config string) string {
		return fmt.Sprintf(`{"@type": "type.googleapis.com/envoy.admin.v3.ScopedRoutesConfigDump", "dynamic_scoped_route_configs": [{"name": "set",
			"scoped_route_configs": [%s]}]}`, typed("envoy.config.route.v3.ScopedRouteConfiguration", config))
	}
	one := l7(denyAll)
	for name, tt := range map[string]struct {
		manager string // fields of the connection manager
		filters []string
		parts   []string // of the dump
		// want is the routes, with the number of policies of each filter: "-" for a filter that
		// enforces nothing.
		want    []string
		unknown []string
	}{
		"none": {manager: `"route_config": ` + routes("r", "*", rest) + ",", filters: []string{one}},
		"own":  {manager: `"route_config": ` + routes("r", "*", admin, off, disabled, boxed, rest) + ",", filters: []string{one}, want: []string{"to /admin 1", "to /health -", "to /off -", "to /boxed 1"}},
		"a route that shields another": {
			manager: `"route_config": ` + routes("r", "*", routeTo("/admin/public", ""), admin, rest) + ",", filters: []string{one},
			want: []string{"to /admin/public 0", "to /admin 1"},
		},
		"of the virtual host": {
			manager: `"route_config": {"name": "r", "virtual_hosts": [{"name": "v", "domains": ["*"], ` + perRoute("") + `, "routes": [` + rest + `]}]},`, filters: []string{one},
			want: []string{"to / -"},
		},
		"by RDS":            {manager: rds, parts: []string{dynamic(routes("r", "*", admin))}, filters: []string{one}, want: []string{"to /admin 1"}},
		"by RDS, not there": {manager: rds, filters: []string{one}, unknown: []string{at + `route configuration "r" is not there: routes may replace RBAC filters`}},
		"by RDS, broken": {
			manager: rds, parts: []string{strings.Replace(dynamic(routes("r", "*")), `"domains"`, `"bugs": 1, "domains"`, 1), `{"@type": "type.googleapis.com/envoy.admin.v3.RoutesConfigDump.DynamicRouteConfig", "route_config": 7}`}, filters: []string{one},
			unknown: []string{
				`route configuration "" not read: it is no RouteConfiguration: proto: syntax error (line 1:1): unexpected token 7`,
				at + `virtual_hosts[0]: field "bugs" is none that VirtualHost has here`,
			},
		},
		"by scoped RDS":        {manager: srds, parts: []string{scope(`{"name": "s", "route_configuration_name": "r"}`), dynamic(routes("r", "*", admin))}, filters: []string{one}, want: []string{"to /admin 1"}},
		"scopes are not there": {manager: srds, filters: []string{one}, unknown: []string{at + `scoped route configurations "set" are not there: routes may replace RBAC filters`}},
		"several scopes": {
			manager: `"scoped_routes": {"name": "set", "scoped_route_configurations_list": {"scoped_route_configurations": [
				{"name": "a", "route_configuration": ` + routes("a", "*", admin) + `}, {"name": "b", "route_configuration": ` + routes("b", "*", rest) + `}]}},`,
			filters: []string{one},
			unknown: []string{at + `type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBACPerRoute: route configuration "a" replaces RBAC filters: it is one of several scopes`},
		},
		"some authorities": {
			manager: `"route_config": ` + routes("r", "a.example", admin) + ",", filters: []string{one},
			want: []string{"to /admin of a.example 1"},
		},
		"several filters": {
			manager: `"route_config": ` + routes("r", "*", admin, strings.Replace(off, `"rbac"`, `"another"`, 1), rest) + ",", filters: []string{one, filter("another", httpRBAC, denyAll)},
			want: []string{"to /admin 1 0", "to /health 0 -"},
		},
		"two filters of one name": {
			manager: `"route_config": ` + routes("r", "*", admin) + ",", filters: []string{one, one},
			unknown: []string{at + `type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBACPerRoute: route configuration "r" replaces RBAC filters: two RBAC filters have one name`},
		},
		"a filter that is disabled elsewhere": {
			manager: `"route_config": ` + routes("r", "*", admin) + ",", filters: []string{strings.Replace(one, `{"name"`, `{"disabled": true, "name"`, 1)},
			unknown: []string{
				at + `type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBACPerRoute: route configuration "r" replaces RBAC filters: the filter is disabled elsewhere`,
				at + `filter "rbac": type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC: an RBAC filter that is disabled: it judges only where a route enables it`,
			},
		},
		"a filter that could not be read": {
			manager: `"route_config": ` + routes("r", "*", admin) + ",", filters: []string{l7(matching(asking("acme.Input", ""), onMatch))},
			unknown: []string{
				at + `filter "rbac": matcher.matcher_list.matchers[0].predicate.single_predicate.input.typed_config: type.googleapis.com/acme.Input: meshproof does not know this type`,
				at + `type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBACPerRoute: route configuration "r" replaces RBAC filters: a filter that they replace could not be read`,
			},
		},
		"something else": {
			manager: `"route_config": ` + routes("r", "*", routeTo("/", `, "typed_per_filter_config": {"rbac": {"@type": "type.googleapis.com/acme.PerRoute"}}`)) + ",", filters: []string{one},
			unknown: []string{at + `filter "rbac": type.googleapis.com/acme.PerRoute: route "to /": meshproof does not know this type`},
		},
		"unreadable": {
			manager: `"route_config": ` + routes("r", "*", routeTo("/", ", "+perRoute(`, "rbac": {`+matching(asking("acme.Input", ""), onMatch)+`}`))) + ",", filters: []string{one},
			unknown: []string{at + `filter "rbac": rbac.matcher.matcher_list.matchers[0].predicate.single_predicate.input.typed_config: type.googleapis.com/acme.Input: meshproof does not know this type`},
		},
		"for a filter that is not there": {
			manager: `"route_config": ` + routes("r", "*", admin) + ",",
			unknown: []string{at + `filter "rbac": type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBACPerRoute: route configuration "r" has RBAC for a filter that is not there: Envoy passes over it`},
		},
		"weighted clusters": {
			manager: `"route_config": ` + routes("r", "*", `{"match": {"prefix": "/"}, "route": {"weighted_clusters": {"clusters": [{"name": "c", "weight": 1, `+perRoute("")+`}]}}}`) + ",", filters: []string{one},
			unknown: []string{at + `type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBACPerRoute: route configuration "r" replaces RBAC filters: a weighted cluster has filters of its own`},
		},
		"by discovery of virtual hosts": {
			manager: `"route_config": {"name": "r", "vhds": {"config_source": {"ads": {}}}},`, filters: []string{one},
			unknown: []string{at + `route configuration "r": virtual hosts come by discovery (vhds), which is not read`},
		},
		"selected by more than the request": {
			manager: `"route_config": ` + routes("r", "*", strings.Replace(admin, `"match": {`, `"match": {"tls_context": {"presented": true}, `, 1)) + ",", filters: []string{one},
			want:    []string{"to /admin 1"},
			unknown: []string{at + `route "to /admin" asks for more than path, header and query`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readDump(t, []byte(wholeDump(serving(manager(tt.manager, tt.filters...)), tt.parts...)))
			if diff := cmp.Diff(tt.unknown, lines(s.Unknown)); diff != "" {
				t.Errorf("unknown (-want +got):\n%s", diff)
			}
			var got []string
			for _, route := range s.Inbounds[0].Filters.Routes {
				line := route.Name
				for _, filter := range route.HTTP {
					policies := "-"
					if filter.Rules != nil {
						policies = fmt.Sprint(len(filter.Rules.Policies))
					}
					line += " " + policies
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("routes (-want +got):\n%s", diff)
			}
		})
	}
}
