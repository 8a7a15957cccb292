package manifestdiff

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy/manifest"
)

// changesNoPolicy reports whether a key of a kustomization has a value by which no policy changes, goes or gets another namespace.
func (c *comparison) changesNoPolicy(o object, key string, value any, kustomizations map[string]object) bool {
	dir := filepath.Dir(o.file())
	switch key {
	case "patches", "patchesJson6902", "patchesStrategicMerge":
		items, _ := value.([]any)
		return len(items) > 0 && !slices.ContainsFunc(items, func(item any) bool { return !c.patchesOthers(dir, item) })
	case "components":
		// A component of the folder is looked at itself.
		return !slices.ContainsFunc(textsOf(value), func(at string) bool { return kustomizations[filepath.Join(dir, at)].kind == "" })
	case "namespace":
		// What it takes from elsewhere may have another one.
		isOutside := func(at string) bool { return strings.HasPrefix(at, "..") || filepath.IsAbs(at) }
		return !slices.ContainsFunc(slices.Concat(textsOf(fieldOf(o.fields, "resources")), textsOf(fieldOf(o.fields, "bases"))), isOutside) && !slices.ContainsFunc(c.recentPolicies.all, func(policy object) bool {
			return isBelow(policy.file(), dir) && (!policy.hasNamespace() || policy.namespace != value)
		})
	case "labels":
		return !slices.ContainsFunc(mappings(value), func(label map[string]any) bool { return !c.labelsIdly(label) })
	default:
		return false
	}
}

// plainKind is a kind that stands for itself alone. Kustomize takes the kind of a target for a regular expression.
var plainKind = regexp.MustCompile(`^[A-Za-z]+$`)

// patchesOthers reports whether a patch of a kustomization is for an object of another kind than those of policies: its target says so, or where it has none the
// patch itself, which is written in place or stands in a file.
func (c *comparison) patchesOthers(dir string, patch any) bool {
	file, isFile := patch.(string)
	if fields, is := patch.(map[string]any); is {
		if target, has := fields["target"].(map[string]any); has {
			kind, _ := target["kind"].(string)
			return plainKind.MatchString(kind) && c.isKindOfOthers(kind)
		}
		file, isFile = fields["path"].(string)
		if text, has := fields["patch"].(string); has {
			docs, err := manifest.Parse(file, []byte(text))
			return err == nil && c.areOfOthers(docs)
		}
	}
	if !isFile || strings.Contains(file, "\n") {
		return false
	}
	var docs []manifest.Document
	for _, o := range slices.Concat(c.recentObjects.all, c.recentPolicies.all) {
		if filepath.Clean(o.file()) == filepath.Join(dir, file) {
			docs = append(docs, o.doc)
		}
	}
	return c.areOfOthers(docs)
}

// areOfOthers reports whether each of some documents has a kind that is none of the policies'.
func (c *comparison) areOfOthers(docs []manifest.Document) bool {
	return len(docs) > 0 && !slices.ContainsFunc(docs, func(doc manifest.Document) bool { return !c.isKindOfOthers(doc.Type().Kind) })
}

// labelsIdly reports whether labels of a kustomization get to the metadata of objects alone, and would pass on each policy (labels in api/types/labels.go of Kustomize).
func (c *comparison) labelsIdly(label map[string]any) bool {
	pairs, _ := label["pairs"].(map[string]any)
	for key := range label {
		if key != "pairs" && (key != "includeSelectors" || label[key] != false) {
			return false
		}
	}
	return !c.anyMatters("labels", pairs)
}

// anyMatters reports whether one of the labels or annotations that a tool gives all objects may keep a policy away, or change it.
func (c *comparison) anyMatters(field string, settings map[string]any) bool {
	for key, value := range settings {
		if _, isText := value.(string); !isText || readSettings[key] || c.settingMatters(object{}, field, key, nil, value) {
			return true
		}
	}
	return false
}
