package renaming

import (
	"maps"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy"
)

func (w *words) identity(id spiffeid.ID) spiffeid.ID {
	return spiffeid.RequireFromString(w.text(id.String()))
}

func (w *words) workload(of policy.Workload) policy.Workload {
	of.Name, of.Namespace, of.Mesh, of.Zone = w.replace(w.names, of.Name), w.replace(w.names, of.Namespace), w.replace(w.names, of.Mesh), w.replace(w.names, of.Zone)
	of.Labels, of.ServiceAccount = w.labels(of.Labels), w.replace(w.names, of.ServiceAccount)
	return of
}

func (w *words) labels(of map[string]string) map[string]string {
	if of == nil {
		return nil
	}
	out := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		value := of[key]
		if !noNames[key] {
			value = w.text(value)
		}
		out[w.label(key)] = value
	}
	return out
}

// condition replaces the names in the condition of a route.
func (w *words) condition(c policy.Condition) policy.Condition {
	switch c := c.(type) {
	case policy.And:
		out := make(policy.And, len(c))
		for i := range c {
			out[i] = w.condition(c[i])
		}
		return out
	case policy.Is:
		if strings.HasPrefix(c.Match.Value, "/") {
			c.Match.Value = w.text(c.Match.Value)
		} else {
			c.Match.Value = w.method(c.Match.Value)
		}
		return c
	default:
		return c
	}
}
