package manifestdiff

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// relabels reports whether an object of Flux may give a workload that it takes other labels or another account than the manifest says: by a patch that is not for
// another kind, by a component, or by labels by which policies choose callers.
func (c *comparison) relabels(o object) bool {
	spec, _ := fieldvalue.Lookup(o.fields, "spec").(map[string]any)
	if o.group != "kustomize.toolkit.fluxcd.io" || spec == nil {
		return false
	}
	labels, _ := fieldvalue.Lookup(spec, "commonMetadata", "labels").(map[string]any)
	for key, value := range labels {
		if c.callsBy(key, value) {
			return true
		}
	}
	for _, key := range []string{"components", "patchesStrategicMerge", "patchesJson6902"} {
		if list, _ := spec[key].([]any); len(list) > 0 {
			return true
		}
	}
	patches, _ := spec["patches"].([]any)
	return slices.ContainsFunc(patches, func(patch any) bool {
		kind, _ := fieldvalue.Lookup(patch, "target", "kind").(string)
		_, hasPods := podPlaces[kind]
		return !plainKind.MatchString(kind) || hasPods || strings.HasPrefix(kind, "Workload")
	})
}

// areRelabeled reports whether a tool may give new workloads other labels or another account than they name.
func (c *comparison) areRelabeled() bool {
	return slices.ContainsFunc(c.recentObjects.all, c.relabels)
}
