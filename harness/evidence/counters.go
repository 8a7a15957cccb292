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

// FilterCounters are the counters of one filter of an inbound, or what they moved by.
type FilterCounters struct {
	xds.FilterPlace
	Counters
	// Logged counts the requests that a rule of a filter that only logs matched. Such a
	// filter allows every request: Allowed counts all of them.
	Logged uint64
}

// String names the filter and its counters.
func (c FilterCounters) String() string {
	if !c.Logs {
		return fmt.Sprintf("filter %d on %s: %s", c.Index, c.Layer, c.Counters)
	}
	return fmt.Sprintf("filter %d on %s, which only logs: %s, logged %d", c.Index, c.Layer, c.Counters, c.Logged)
}

// Sum adds up the counters of the filters of an inbound. It leaves out what a filter that
// only logs allows: that is no decision.
func Sum(filters []FilterCounters) Counters {
	var sum Counters
	for _, f := range filters {
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
// shadow_denied by one. Filters that judged no request are left out. The others are in
// Envoy's order.
func Count(es []Evidence) []FilterCounters {
	var out []FilterCounters
	for _, e := range es {
		for _, f := range e.Log.Filters {
			if !f.Enforced.Ran && !f.Shadow.Ran {
				continue
			}
			i := slices.IndexFunc(out, func(c FilterCounters) bool { return c.FilterPlace == f.FilterPlace })
			if i < 0 {
				i = len(out)
				out = append(out, FilterCounters{FilterPlace: f.FilterPlace})
			}
			out[i].count(f)
		}
	}
	slices.SortFunc(out, func(a, b FilterCounters) int {
		return cmp.Or(cmp.Compare(a.Layer, b.Layer), cmp.Compare(a.Index, b.Index))
	})
	return out
}

func (c *FilterCounters) count(f xds.FilterLog) {
	if v := f.Enforced.Verdict; f.Enforced.Ran {
		if v.Effect == policy.Deny {
			c.Denied++
		} else {
			c.Allowed++
		}
		if v.Effect == policy.Log && v.Origin != "" {
			c.Logged++
		}
	}
	if f.Shadow.Ran {
		if f.Shadow.Verdict.Effect == policy.Deny {
			c.ShadowDenied++
		} else {
			c.ShadowAllowed++
		}
	}
}
