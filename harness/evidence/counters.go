package evidence

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// Counters are the four RBAC counters of an inbound, or what they moved by.
type Counters struct {
	Allowed, Denied, ShadowAllowed, ShadowDenied uint64
}

// String returns them in Envoy's spelling.
func (c Counters) String() string {
	return fmt.Sprintf("allowed %d, denied %d, shadow_allowed %d, shadow_denied %d", c.Allowed, c.Denied, c.ShadowAllowed, c.ShadowDenied)
}

// FilterCounters are the counters of one filter of an inbound, or of one of its rules, or
// what they moved by.
type FilterCounters struct {
	xds.FilterPlace
	// Rule is the rule whose counters these are; empty for the counters of the filter. Envoy
	// counts by rule on L7 alone (track_per_rule_stats), and only where a rule decided: a
	// request that no rule matched counts for its filter.
	Rule string
	Counters
	// Logged counts the requests that a rule of a filter that only logs matched. Such a
	// filter allows every request: Allowed counts all of them.
	Logged uint64
}

// String names the filter and its counters.
func (c FilterCounters) String() string {
	name := fmt.Sprintf("filter %d on %s", c.Index, c.Layer)
	if c.Rule != "" {
		name += fmt.Sprintf(", rule %q", c.Rule)
	}
	if !c.Logs {
		return fmt.Sprintf("%s: %s", name, c.Counters)
	}
	return fmt.Sprintf("%s, which only logs: %s, logged %d", name, c.Counters, c.Logged)
}

// Sum adds up the counters of the filters of an inbound. It leaves out what a filter that
// only logs allows, and the shadow that says what an authorizer is asked about: that is no
// decision.
func Sum(filters []FilterCounters) Counters {
	var sum Counters
	for _, f := range filters {
		if f.Rule != "" || f.Asks {
			continue
		}
		if !f.Logs {
			sum.Allowed += f.Allowed
		}
		sum.Denied += f.Denied
		sum.ShadowAllowed += f.ShadowAllowed
		sum.ShadowDenied += f.ShadowDenied
	}
	return sum
}

// Count returns what the counters of each filter of an inbound must have moved by, if the
// access log of its requests is true. Each request that a filter judged moves allowed or
// denied by one, and each request that its shadow judged moves shadow_allowed or
// shadow_denied by one. On L7 the rule that decided moves by as much. Filters and rules that
// judged no request are left out. The others are in Envoy's order, each filter before its
// rules, and the rules by name.
func Count(es []Evidence) []FilterCounters {
	type key struct {
		xds.FilterPlace
		rule string
	}
	counted := map[key]*FilterCounters{}
	of := func(place xds.FilterPlace, rule string) *FilterCounters {
		k := key{place, rule}
		if counted[k] == nil {
			counted[k] = &FilterCounters{FilterPlace: place, Rule: rule}
		}
		return counted[k]
	}
	for _, e := range es {
		for _, f := range e.Log.Filters {
			enforced, shadow := f.Enforced, f.Shadow
			if f.Asks {
				// The filter itself only observes.
				enforced, shadow = xds.Engine{}, xds.Engine{Ran: enforced.Ran, Verdict: policy.Verdict{Effect: policy.Allow, Origin: f.AskedBy}}
				if f.Asked {
					shadow.Verdict.Effect = policy.Deny
				}
			}
			for _, engine := range []struct {
				xds.Engine
				count func(*FilterCounters, policy.Verdict)
			}{{enforced, (*FilterCounters).countEnforced}, {shadow, (*FilterCounters).countShadow}} {
				if !engine.Ran {
					continue
				}
				engine.count(of(f.FilterPlace, ""), engine.Verdict)
				if rule := engine.Verdict.Origin; rule != "" && f.Layer == policy.L7 {
					engine.count(of(f.FilterPlace, rule), engine.Verdict)
				}
			}
		}
	}
	var out []FilterCounters
	for _, c := range counted {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b FilterCounters) int {
		return cmp.Or(cmp.Compare(a.Layer, b.Layer), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Rule, b.Rule))
	})
	return out
}

func (c *FilterCounters) countEnforced(v policy.Verdict) {
	switch {
	case v.Effect == policy.Deny:
		c.Denied++
	case v.Effect != policy.Log || c.Rule == "":
		c.Allowed++
	}
	if v.Effect == policy.Log && v.Origin != "" {
		c.Logged++
	}
}

func (c *FilterCounters) countShadow(v policy.Verdict) {
	if v.Effect == policy.Deny {
		c.ShadowDenied++
	} else {
		c.ShadowAllowed++
	}
}
