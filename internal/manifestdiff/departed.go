package manifestdiff

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/podtemplate"
)

// departed are the workloads that are gone.
type departed struct {
	// names have their namespaces and names.
	names map[string]bool
	// bySelectors has them by what policies may select and name them by.
	bySelectors map[string][]pods
}

// departed returns the workloads that only the old side has. One that another workload makes is gone where its
// maker is.
func (c *comparison) departed() departed {
	out := departed{map[string]bool{}, map[string][]pods{}}
	for _, p := range c.olds.all {
		if !c.recents.hasKey(p.key) && !c.recents.hasMaker(p) {
			out.names[p.namespace+"/"+p.name] = true
			out.bySelectors[c.selectors(p)] = append(out.bySelectors[c.selectors(p)], p)
		}
	}
	return out
}

// hasMaker reports whether a side has what made pods, or other pods of it.
func (w workloads) hasMaker(p pods) bool {
	if p.maker == "" {
		return false
	}
	name := p.maker[strings.LastIndexByte(p.maker, ' ')+1:]
	for kind := range podtemplate.Places() {
		if _, found := w.byName[[3]string{kind, p.namespace, name}]; found && kind != "Pod" {
			return true
		}
	}
	return len(w.byMaker[p.maker]) > 0
}

// replaces says why a new workload may be one that is gone, so that other policies judge it, or judge it
// otherwise: no workload that is gone has its namespace, its account and the labels that something selects by, or
// one of another kind has its name, or those that have all this differ from it in something that matters.
func (c *comparison) replaces(o clusterobject.Object) []Change {
	if _, known := podtemplate.PlaceOf(o.Kind); !known || c.symmetric || o.Category != clusterobject.Workload || len(c.gone.names) == 0 {
		return nil
	}
	is := c.recents.byKey[o.Key]
	same := c.gone.bySelectors[c.selectors(is)]
	if c.gone.names[o.Namespace+"/"+o.Name] || len(same) == 0 {
		return []Change{changeOf(o, "is new, and another workload is gone: it may be the same one, and other policies select it")}
	}
	var nearest []finding
	for i, was := range same {
		found := c.deviations(was, is)
		if len(found) == 0 {
			return nil
		}
		if i == 0 || len(found) < len(nearest) {
			nearest = found
		}
	}
	return otherwise(o, nearest, "is new, and another workload is gone: it may be the same one, and has changed")
}

// selectors has the namespace, the account and the labels by which something selects pods.
func (c *comparison) selectors(p pods) string {
	parts := []string{p.namespace, fmt.Sprint(normal("serviceAccountName", p.account)), c.targetLabels(p)}
	if c.isTarget(p) {
		parts = append(parts, p.name)
	}
	if c.programs.askFor(p.name) {
		parts = append(parts, "in a mutation")
	}
	return strings.Join(parts, " ")
}

// normal returns the value that an API server takes for a field of a pod.
func normal(field string, value any) any {
	if value == nil {
		return defaults["spec."+field]
	}
	return value
}
