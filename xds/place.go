package xds

import (
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"

	"github.com/meshproof/meshproof/policy"
)

// FilterPlace tells one RBAC filter of an inbound from the others. Each place has stat
// prefixes of its own, which are also the prefixes of the keys under which the filter
// writes its dynamic metadata: two filters with one prefix would overwrite each other's.
type FilterPlace struct {
	Layer policy.Layer
	// Index counts the filters of the layer.
	Index int
	// Logs is true for a filter that only logs: it never refuses a request.
	Logs bool
}

// Places returns the places of the filters: those of the network, then those of HTTP. The
// names of the counters follow from them.
func (f Filters) Places() []FilterPlace {
	out := make([]FilterPlace, 0, len(f.Network)+len(f.HTTP))
	for i, filter := range f.Network {
		out = append(out, FilterPlace{policy.L4, i, onlyLogs(filter)})
	}
	for i, filter := range f.HTTP {
		same := []rbacFilter{filter}
		for _, route := range f.Routes {
			if i < len(route.HTTP) {
				same = append(same, route.HTTP[i])
			}
		}
		out = append(out, FilterPlace{policy.L7, i, onlyLogs(same...)})
	}
	return out
}

// rbacFilter is an RBAC filter of either layer.
type rbacFilter interface {
	GetMatcher() *matcherv3.Matcher
	GetRules() *rbacv3.RBAC
}

// onlyLogs reports whether filters that share a place log, and do nothing else. A filter
// without rules does neither. Envoy judges by the matcher where there are rules beside it.
func onlyLogs(filters ...rbacFilter) bool {
	logs := false
	for _, filter := range filters {
		switch {
		case filter.GetMatcher() != nil:
			return false
		case filter.GetRules() != nil:
			if logs = filter.GetRules().Action == rbacv3.RBAC_LOG; !logs {
				return false
			}
		}
	}
	return logs
}
