package manifestdiff

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// strays names a new workload that stands behind a Service of both sides, and that policies select otherwise than
// all workloads that stood behind it: what they kept from these may reach the new one.
func (c *comparison) strays(o object) []Change {
	p, hasPods := c.recents.byKey[o.key]
	if !hasPods || c.symmetric || len(p.labels) == 0 {
		return nil
	}
	for _, of := range c.recentObjects.all {
		if of.category != service || of.namespace != o.namespace || len(c.oldObjects.byKey[of.key]) == 0 || !matches(of, p) {
			continue
		}
		fellows := map[string]bool{}
		for key := range c.olds.selected(of) {
			fellows[c.targetLabels(c.olds.byKey[key])] = true
		}
		if len(fellows) == 1 && !fellows[c.targetLabels(p)] {
			return []Change{o.change("is new behind " + of.String() + ", and policies select it otherwise than what was behind it")}
		}
	}
	return nil
}

// matches reports whether a Service selects pods.
func matches(service object, p pods) bool {
	selector, _ := fieldvalue.Lookup(service.fields, "spec", "selector").(map[string]any)
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
		if c.named.has(key) {
			parts = append(parts, fmt.Sprintf("%s=%v", key, labels[key]))
		}
	}
	return strings.Join(parts, " ")
}
