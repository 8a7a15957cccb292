package examination

import (
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"

	"github.com/meshproof/meshproof/xds"
)

// withoutLogs returns filters that decide alike. It leaves out what a filter that only logs
// asks for: the filter lets every request pass in any case.
func withoutLogs(f xds.Filters) xds.Filters {
	out := xds.Filters{HTTP: httpWithoutLogs(f.HTTP), RoutesOnly: f.RoutesOnly, NetworkAsks: f.NetworkAsks, HTTPAsks: f.HTTPAsks}
	for _, filter := range f.Network {
		if rules := filter.Rules; filter.Matcher == nil && rules.GetAction() == rbacv3.RBAC_LOG {
			filter = &networkrbacv3.RBAC{
				Rules: logsNothing, ShadowRules: filter.ShadowRules, ShadowMatcher: filter.ShadowMatcher, ShadowRulesStatPrefix: filter.ShadowRulesStatPrefix,
				EnforcementType: filter.EnforcementType, DelayDeny: filter.DelayDeny,
			}
		}
		out.Network = append(out.Network, filter)
	}
	for _, route := range f.Routes {
		route.HTTP = httpWithoutLogs(route.HTTP)
		out.Routes = append(out.Routes, route)
	}
	return out
}

func httpWithoutLogs(filters []*httprbacv3.RBAC) []*httprbacv3.RBAC {
	out := make([]*httprbacv3.RBAC, len(filters))
	for i, filter := range filters {
		if rules := filter.GetRules(); filter.GetMatcher() == nil && rules.GetAction() == rbacv3.RBAC_LOG {
			filter = &httprbacv3.RBAC{
				Rules: logsNothing, ShadowRules: filter.ShadowRules, ShadowMatcher: filter.ShadowMatcher, ShadowRulesStatPrefix: filter.ShadowRulesStatPrefix,
			}
		}
		out[i] = filter
	}
	return out
}

// logsNothing keeps the place of a filter that only logs.
var logsNothing = &rbacv3.RBAC{Action: rbacv3.RBAC_LOG}
