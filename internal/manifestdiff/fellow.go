package manifestdiff

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// strays names a new workload that stands behind a Service of both sides, and that policies select otherwise than
// all workloads that stood behind it: what they kept from these may reach the new one.
func (c *comparison) strays(o clusterobject.Object) []Change {
	p, hasPods := c.recents.byKey[o.Key]
	if !hasPods || c.symmetric || len(p.labels) == 0 {
		return nil
	}
	for _, of := range c.recentObjects.All {
		if of.Category != clusterobject.Service || of.Namespace != o.Namespace || len(c.oldObjects.ByKey[of.Key]) == 0 || !matches(of, p) {
			continue
		}
		fellows := map[string]bool{}
		for key := range c.olds.selected(of) {
			fellows[c.targetLabels(c.olds.byKey[key])] = true
		}
		if len(fellows) == 1 && !fellows[c.targetLabels(p)] {
			return []Change{changeOf(o, "is new behind "+of.String()+", and policies select it otherwise than what was behind it")}
		}
	}
	return nil
}

// matches reports whether a Service selects pods.
func matches(service clusterobject.Object, p pods) bool {
	selector := fieldvalue.Mapping(fieldvalue.Lookup(service.Fields, "spec", "selector"))
	for key, value := range selector {
		if fmt.Sprint(p.labels[key]) != fmt.Sprint(value) {
			return false
		}
	}
	return len(selector) > 0
}

// targetLabels has the labels of pods by which something selects.
func (c *comparison) targetLabels(p pods) string {
	var parts []string
	labels := union(derivedLabels(p), p.labels)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if c.named.Has(key) {
			parts = append(parts, fmt.Sprintf("%s=%v", key, labels[key]))
		}
	}
	return strings.Join(parts, " ")
}
