package controlplane

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// prefixOf is empty for the first filter of a layer, so that it has Envoy's own names.
func prefixOf(p xds.FilterPlace) string {
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
func parsePlace(layer policy.Layer, prefix string) (xds.FilterPlace, bool) {
	p := xds.FilterPlace{Layer: layer}
	if prefix == "" {
		return p, true
	}
	digits, ok := strings.CutPrefix(strings.TrimSuffix(prefix, "_"), "filter")
	if !ok {
		digits, p.Logs = strings.CutPrefix(digits, "log")
	}
	var err error
	p.Index, err = strconv.Atoi(digits)
	return p, err == nil && prefixOf(p) == prefix
}

// placedNetwork returns the filter with the prefixes of its place. It shares all else
// with the given filter, which may stand on many inbounds.
func placedNetwork(filter *networkrbacv3.RBAC, place xds.FilterPlace, stat string) *networkrbacv3.RBAC {
	if prefix := prefixOf(place); prefix != "" {
		stat += "_" + strings.TrimSuffix(prefix, "_")
	}
	return &networkrbacv3.RBAC{
		Rules: filter.Rules, Matcher: filter.Matcher, ShadowRules: filter.ShadowRules, ShadowMatcher: filter.ShadowMatcher,
		EnforcementType: filter.EnforcementType, DelayDeny: filter.DelayDeny,
		StatPrefix: stat, ShadowRulesStatPrefix: prefixOf(place),
	}
}

// placedHTTP does for HTTP what placedNetwork does for the network.
func placedHTTP(filter *httprbacv3.RBAC, place xds.FilterPlace) *httprbacv3.RBAC {
	return &httprbacv3.RBAC{
		Rules: filter.Rules, Matcher: filter.Matcher, ShadowRules: filter.ShadowRules, ShadowMatcher: filter.ShadowMatcher,
		RulesStatPrefix: prefixOf(place), ShadowRulesStatPrefix: prefixOf(place),
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
func ParseCounter(name string) (stat string, place xds.FilterPlace, counter string, ok bool) {
	name, http := strings.CutPrefix(name, "http.")
	stat, counter, ok = strings.Cut(name, ".rbac.")
	if !ok {
		return "", xds.FilterPlace{}, "", false
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
				stat, prefix = stat[:start], prefixOf(place)
			}
		}
	}
	if place, ok = parsePlace(layer, prefix); !ok {
		return "", xds.FilterPlace{}, "", false
	}
	switch {
	case observer && counter == "shadow_allowed" && place.Logs:
		return stat, place, "logged", true
	case !observer && slices.Contains([]string{"allowed", "denied", "shadow_allowed", "shadow_denied"}, counter):
		return stat, place, counter, true
	default:
		return "", xds.FilterPlace{}, "", false
	}
}

// placesOf returns the places of the filters of each layer.
func placesOf(f xds.Filters) (network, http []xds.FilterPlace) {
	all := f.Places()
	return all[:len(f.Network)], all[len(f.Network):]
}
