package update

import (
	"reflect"
	"strings"

	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// countUp gives each policy that has changed another version, where it states one, as an API server does: a sound compiler may know
// an object by its uid and its version, and a spec by its generation. A policy in another place, or of another age, is another object.
func countUp(before, after []any) {
	if len(before) != len(after) {
		return // one is gone, and the others are as they were
	}
	for i := range after {
		if reflect.DeepEqual(before[i], after[i]) {
			continue
		}
		was, is := tree.Metadata(before[i]), tree.Metadata(after[i])
		if version, ok := is["resourceVersion"].(string); ok {
			is["resourceVersion"] = version + "0"
		}
		if generation, ok := is["generation"].(float64); ok && !reflect.DeepEqual(tree.Specs(before[i]), tree.Specs(after[i])) {
			is["generation"] = generation + 1
		}
		if is["modificationTime"] != nil {
			is["modificationTime"] = "2037-01-02T03:04:05Z"
		}
		isOther := func(key string) bool { return !reflect.DeepEqual(was[key], is[key]) }
		if uid, _ := is["uid"].(string); uid != "" && (isOther("namespace") || isOther("creationTimestamp")) {
			is["uid"] = otherUID(uid)
		}
	}
}

// otherUID returns another text of the same length.
func otherUID(uid string) string {
	if strings.HasSuffix(uid, "0") {
		return uid[:len(uid)-1] + "1"
	}
	return uid[:len(uid)-1] + "0"
}
