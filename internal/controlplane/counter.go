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
	case p.Asks:
		return fmt.Sprintf("ask%d_", p.Index)
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
		if digits, p.Logs = strings.CutPrefix(digits, "log"); !p.Logs {
			digits, p.Asks = strings.CutPrefix(digits, "ask")
		}
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

// placedHTTP does for HTTP what placedNetwork does for the network. The filter counts by
// rule, whether it was given so or not: these counters are evidence.
func placedHTTP(filter *httprbacv3.RBAC, place xds.FilterPlace) *httprbacv3.RBAC {
	return &httprbacv3.RBAC{
		Rules: filter.Rules, Matcher: filter.Matcher, ShadowRules: filter.ShadowRules, ShadowMatcher: filter.ShadowMatcher,
		RulesStatPrefix: prefixOf(place), ShadowRulesStatPrefix: prefixOf(place),
		// Envoy counts by rule on HTTP alone. A route decides for itself whether it does.
		TrackPerRuleStats: true,
	}
}

// effectivePrefix is the beginning of the keys and counters of an observing filter, see
// [observe].
const effectivePrefix = "effective_"

// CounterNames returns a regular expression for the filter of Envoy's /stats. It matches
// the RBAC counters of the inbounds that have the given stat prefixes, those of their rules
// too.
func CounterNames(stats ...string) string {
	quoted := make([]string, len(stats))
	for i, stat := range stats {
		quoted[i] = regexp.QuoteMeta(stat)
	}
	// The name of a rule is any text.
	return `(?s)^(http\.)?(` + strings.Join(quoted, "|") + `)(_(filter|log|ask)[0-9]+)?(_effective)?\.rbac\.` +
		`(((filter|log|ask)[0-9]+_\.)?(policy\..*\.)?(shadow_)?(allowed|denied)|effective_log[0-9]+_\.shadow_allowed)$`
}

// Counter says what Envoy counts under a name.
type Counter struct {
	// Stat is the stat prefix of the inbound.
	Stat  string
	Place xds.FilterPlace
	// Rule is the rule that decided; empty where the filter counts all requests.
	Rule string
	// Name is "allowed", "denied", "shadow_allowed" or "shadow_denied" as Envoy has them, or
	// "logged" for what a filter that only logs logged.
	Name string
}

// ParseCounter reads a name that [CounterNames] matches. Envoy does not count what a filter
// only logs. The shadow_allowed of the observing filter counts that, and for one rule its
// allowed. ParseCounter returns false for any other name.
func ParseCounter(name string) (c Counter, ok bool) {
	name, http := strings.CutPrefix(name, "http.")
	c.Stat, name, ok = strings.Cut(name, ".rbac.")
	if !ok {
		return Counter{}, false
	}
	prefix := ""
	if end := strings.LastIndexByte(name, '.'); end >= 0 {
		prefix, name = name[:end], name[end+1:]
	}
	// A prefix has no dot, and the name of a rule may have some.
	if before, rest, dotted := strings.Cut(prefix, "."); dotted {
		if prefix = ""; before != ruleWord {
			prefix = before
			if rest, dotted = strings.CutPrefix(rest, ruleWord+"."); !dotted {
				return Counter{}, false
			}
		}
		if c.Rule = rest; rest == "" || !http {
			return Counter{}, false
		}
	}
	c.Name = name
	prefix, observer := strings.CutPrefix(prefix, effectivePrefix)
	layer := policy.L4
	if http {
		layer = policy.L7
	} else {
		c.Stat = strings.TrimSuffix(c.Stat, "_effective")
		// The stat prefix of a network filter names its place; the stat prefix of a shadow repeats it.
		if start := strings.LastIndexByte(c.Stat, '_'); start >= 0 {
			if place, ok := parsePlace(layer, c.Stat[start+1:]+"_"); ok {
				c.Stat, prefix = c.Stat[:start], prefixOf(place)
			}
		}
	}
	if c.Place, ok = parsePlace(layer, prefix); !ok {
		return Counter{}, false
	}
	switch {
	case observer && name == "shadow_allowed" && c.Place.Logs && c.Rule == "",
		c.Rule != "" && name == "allowed" && c.Place.Logs:
		c.Name = "logged"
		return c, true
	case !observer && slices.Contains([]string{"allowed", "denied", "shadow_allowed", "shadow_denied"}, name):
		return c, true
	default:
		return Counter{}, false
	}
}

// ruleWord stands in front of the name of a rule (track_per_rule_stats).
const ruleWord = "policy"

// placesOf returns the places of the filters of each layer.
func placesOf(f xds.Filters) (network, http []xds.FilterPlace) {
	all := f.Places()
	return all[:len(f.Network)], all[len(f.Network):]
}
