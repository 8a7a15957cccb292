package clusterobject

import (
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// idleOptions begin the options of a synchronization of Argo CD by which nothing is left out and nothing is changed.
var idleOptions = []string{"CreateNamespace=", "ServerSideApply=", "PruneLast=", "PrunePropagationPolicy=", "ApplyOutOfSyncOnly=", "FailOnSharedResource=", "Validate=", "SkipDryRunOnMissingResource="}

// UnknownField returns the first field that is not in a table, "" where there is none.
func UnknownField(path string, value any, known map[string]bool) string {
	if known[path] {
		return ""
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if field := UnknownField(fieldpath.Join(path, key), value[key], known); field != "" {
				return field
			}
		}
		return ""
	case []any:
		for _, item := range value {
			if option, _ := item.(string); path == "spec.syncPolicy.syncOptions" && fieldvalue.HasAnyPrefix(option, idleOptions) {
				continue
			}
			if field := UnknownField(path+"[]", item, known); field != "" {
				return field
			}
		}
		return ""
	default:
		return path
	}
}

// isKnown reports whether a table has all that a value says. A field may say something by being there, without content.
func isKnown(path string, value any, known map[string]bool) bool {
	if known[path] {
		return true
	}
	items, _ := value.([]any)
	for _, item := range items {
		if !isKnown(path+"[]", item, known) {
			return false
		}
	}
	mapping := fieldvalue.Mapping(value)
	for key, field := range mapping {
		if !isKnown(fieldpath.Join(path, key), field, known) {
			return false
		}
	}
	return len(items)+len(mapping) > 0
}
