package xds

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"

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

// Compare orders places as Envoy runs the filters.
func (p FilterPlace) Compare(q FilterPlace) int {
	return cmp.Or(cmp.Compare(p.Layer, q.Layer), cmp.Compare(p.Index, q.Index))
}

// prefix is empty for the first filter of a layer, so that it has Envoy's own names.
func (p FilterPlace) prefix() string {
	switch {
	case p.Logs:
		return fmt.Sprintf("log%d_", p.Index)
	case p.Index > 0:
		return fmt.Sprintf("filter%d_", p.Index)
	default:
		return ""
	}
}

// parsePlace returns the place that has the prefix.
func parsePlace(layer policy.Layer, prefix string) (FilterPlace, bool) {
	p := FilterPlace{Layer: layer}
	if prefix == "" {
		return p, true
	}
	digits, ok := strings.CutPrefix(strings.TrimSuffix(prefix, "_"), "filter")
	if !ok {
		digits, p.Logs = strings.CutPrefix(digits, "log")
	}
	var err error
	p.Index, err = strconv.Atoi(digits)
	return p, err == nil && p.prefix() == prefix
}

// Places returns the places of the filters: those of the network, then those of HTTP. The
// names of the counters follow from them.
func (f Filters) Places() []FilterPlace {
	network, http := f.places()
	return append(network, http...)
}

func (f Filters) places() (network, http []FilterPlace) {
	for i, filter := range f.Network {
		network = append(network, FilterPlace{policy.L4, i, onlyLogs(filter)})
	}
	for i, filter := range f.HTTP {
		at := []rbacFilter{filter}
		for _, route := range f.Routes {
			if i < len(route.HTTP) {
				at = append(at, route.HTTP[i])
			}
		}
		http = append(http, FilterPlace{policy.L7, i, onlyLogs(at...)})
	}
	return network, http
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

// placedNetwork returns the filter with the prefixes of its place. It shares all else
// with the given filter, which may stand on many inbounds.
func placedNetwork(filter *networkrbacv3.RBAC, place FilterPlace, stat string) *networkrbacv3.RBAC {
	if prefix := place.prefix(); prefix != "" {
		stat += "_" + strings.TrimSuffix(prefix, "_")
	}
	return &networkrbacv3.RBAC{
		Rules: filter.Rules, Matcher: filter.Matcher, ShadowRules: filter.ShadowRules, ShadowMatcher: filter.ShadowMatcher,
		EnforcementType: filter.EnforcementType, DelayDeny: filter.DelayDeny,
		StatPrefix: stat, ShadowRulesStatPrefix: place.prefix(),
	}
}

// placedHTTP does for HTTP what placedNetwork does for the network.
func placedHTTP(filter *httprbacv3.RBAC, place FilterPlace) *httprbacv3.RBAC {
	return &httprbacv3.RBAC{
		Rules: filter.Rules, Matcher: filter.Matcher, ShadowRules: filter.ShadowRules, ShadowMatcher: filter.ShadowMatcher,
		RulesStatPrefix: place.prefix(), ShadowRulesStatPrefix: place.prefix(),
		TrackPerRuleStats: filter.TrackPerRuleStats,
	}
}

// effectivePrefix is the beginning of the keys and counters of an observing filter, see
// [observe].
const effectivePrefix = "effective_"

// CounterNames returns a regular expression for the filter of Envoy's /stats. It matches
// the RBAC counters of the inbounds that have the given stat prefixes.
func CounterNames(stats ...string) string {
	quoted := make([]string, len(stats))
	for i, stat := range stats {
		quoted[i] = regexp.QuoteMeta(stat)
	}
	return `^(http\.)?(` + strings.Join(quoted, "|") + `)(_(filter|log)[0-9]+)?(_effective)?\.rbac\.` +
		`(((filter|log)[0-9]+_\.)?(shadow_)?(allowed|denied)|effective_log[0-9]+_\.shadow_allowed)$`
}

// ParseCounter tells which counter of which filter a name matched by [CounterNames] is:
// "allowed", "denied", "shadow_allowed" or "shadow_denied" as Envoy has them, or "logged"
// for what a filter that only logs logged. Envoy has no such counter: the shadow_allowed of
// the observing filter is one. ParseCounter returns false for any other name.
func ParseCounter(name string) (stat string, place FilterPlace, counter string, ok bool) {
	name, http := strings.CutPrefix(name, "http.")
	stat, counter, ok = strings.Cut(name, ".rbac.")
	if !ok {
		return "", FilterPlace{}, "", false
	}
	prefix := ""
	if end := strings.LastIndexByte(counter, '.'); end >= 0 {
		prefix, counter = counter[:end], counter[end+1:]
	}
	prefix, observer := strings.CutPrefix(prefix, effectivePrefix)
	layer := policy.L4
	if http {
		layer = policy.L7
	} else {
		stat = strings.TrimSuffix(stat, "_effective")
		// The stat prefix of a network filter names its place; that of a shadow repeats it.
		if start := strings.LastIndexByte(stat, '_'); start >= 0 {
			if place, ok := parsePlace(layer, stat[start+1:]+"_"); ok {
				stat, prefix = stat[:start], place.prefix()
			}
		}
	}
	if place, ok = parsePlace(layer, prefix); !ok {
		return "", FilterPlace{}, "", false
	}
	switch {
	case observer && counter == "shadow_allowed" && place.Logs:
		return stat, place, "logged", true
	case !observer && slices.Contains([]string{"allowed", "denied", "shadow_allowed", "shadow_denied"}, counter):
		return stat, place, counter, true
	default:
		return "", FilterPlace{}, "", false
	}
}
