package manifestdiff

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// changesNoPolicy reports whether a key of a kustomization has a value by which no policy changes, goes or gets another namespace.
func (c *comparison) changesNoPolicy(o clusterobject.Object, key string, value any, kustomizations map[string]clusterobject.Object) bool {
	dir := filepath.Dir(o.File())
	switch key {
	case "patches", "patchesJson6902", "patchesStrategicMerge":
		items, _ := value.([]any)
		return len(items) > 0 && !slices.ContainsFunc(items, func(item any) bool { return !c.patchesOthers(dir, item) })
	case "components":
		// A component of the folder is looked at itself.
		_, isList := value.([]any) // Kustomize refuses anything else, and applies nothing
		return isList && !slices.ContainsFunc(fieldvalue.Texts(value), func(at string) bool { return kustomizations[filepath.Join(dir, at)].Kind == "" })
	case "namespace":
		return !c.moves(dir, value, kustomizations, nil) && !slices.ContainsFunc(c.recent.Policies, func(doc manifest.Document) bool {
			return delivery.IsBelow(metadata.FileOf(doc), dir) && isOfOther(doc, value)
		})
	case "labels":
		items, _ := value.([]any)
		return len(items) > 0 && len(fieldvalue.Mappings(value)) == len(items) && !slices.ContainsFunc(fieldvalue.Mappings(value), func(label map[string]any) bool { return !c.labelsIdly(label) })
	default:
		return false
	}
}

// isOfOther reports whether a policy is of another namespace, or names none.
func isOfOther(policy manifest.Document, namespace any) bool {
	o := clusterobject.Read(policy)
	return !o.IsNamespaced() || o.Namespace != namespace
}

// moves reports whether the kustomization of a folder takes a policy of another namespace from elsewhere, also by another kustomization, or something that is not in the
// folder of the side: it gives its own namespace to all of that. On are the folders that are looked at already.
func (c *comparison) moves(dir string, namespace any, kustomizations map[string]clusterobject.Object, on []string) bool {
	if slices.Contains(on, dir) {
		return false
	}
	on = append(slices.Clone(on), dir)
	for _, at := range kustomizations[dir].TakenNames() {
		path := filepath.Join(dir, at)
		if _, found := kustomizations[path]; found {
			if c.moves(path, namespace, kustomizations, on) {
				return true
			}
			continue
		}
		docs := c.docsIn(path)
		isPolicy := func(doc manifest.Document) bool {
			return slices.ContainsFunc(c.recent.Policies, func(policy manifest.Document) bool { return policy.Place("") == doc.Place("") })
		}
		if len(docs) == 0 && !delivery.IsBelow(path, dir) || slices.ContainsFunc(docs, func(doc manifest.Document) bool { return isPolicy(doc) && isOfOther(doc, namespace) }) {
			return true
		}
	}
	return false
}

// idleToPatch reports whether a patch of a kind leaves each policy as it is, and what applies policies. It has to be known what objects of the kind do: by a table, or
// by one in the folder.
func (c *comparison) idleToPatch(kind string) bool {
	if !c.isKindOfOthers(kind) || guarding[kind] {
		return false
	}
	if clusterobject.IsKnownKind(kind) {
		return true
	}
	isOne := func(o clusterobject.Object) bool { return o.Kind == kind }
	all := slices.DeleteFunc(slices.Concat(c.recentObjects.All, c.oldObjects.All), func(o clusterobject.Object) bool { return !isOne(o) })
	return len(all) > 0 && !slices.ContainsFunc(all, func(o clusterobject.Object) bool { return o.IsOfTool() && !isOfForeignChart(o) && !isIdleTool(o.Group) })
}

// guarding are kinds by which an API server may refuse a policy.
var guarding = fieldpath.SetOf("CustomResourceDefinition ResourceQuota")

// plainKind is a kind that stands for itself alone. Kustomize takes the kind of a target for a regular expression.
var plainKind = regexp.MustCompile(`^[A-Za-z]+$`)

// patchesOthers reports whether a patch of a kustomization is for an object of another kind than those of policies: its target says so, or where it has none the
// patch itself, which is written in place or stands in a file.
func (c *comparison) patchesOthers(dir string, patch any) bool {
	file, isFile := patch.(string)
	if fields, is := patch.(map[string]any); is {
		for key := range fields {
			if key != "target" && key != "patch" && key != "path" { // such as options, by which a patch changes the kind
				return false
			}
		}
		if target, has := fields["target"].(map[string]any); has {
			kind, _ := target["kind"].(string)
			return plainKind.MatchString(kind) && c.idleToPatch(kind) && (kind != "ConfigMap" || !c.setsArgoCD(dir, fields))
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
	return c.areOfOthers(c.docsIn(filepath.Join(dir, file)))
}

// docsIn returns the documents of a file of the second side.
func (c *comparison) docsIn(file string) (docs []manifest.Document) {
	for _, doc := range slices.Concat(c.recent.Others, c.recent.Policies) {
		if filepath.Clean(metadata.FileOf(doc)) == file {
			docs = append(docs, doc)
		}
	}
	return docs
}

// setsArgoCD reports whether a patch of a ConfigMap may have a setting by which Argo CD leaves something out.
func (c *comparison) setsArgoCD(dir string, patch map[string]any) bool {
	text, _ := patch["patch"].(string)
	if file, _ := patch["path"].(string); file != "" {
		docs := c.docsIn(filepath.Join(dir, file))
		if len(docs) == 0 {
			return true
		}
		for _, doc := range docs {
			text += doc.Flow()
		}
	}
	return slices.ContainsFunc(leavingOut, func(setting string) bool { return strings.Contains(text, setting) })
}

// areOfOthers reports whether each of some documents is a patch of another kind than those of policies, and of what applies them.
func (c *comparison) areOfOthers(docs []manifest.Document) bool {
	return len(docs) > 0 && !slices.ContainsFunc(docs, func(doc manifest.Document) bool {
		return !c.idleToPatch(doc.Type().Kind) || leavesOut(clusterobject.Read(doc)) != ""
	})
}

// labelsIdly reports whether labels of a kustomization get to the metadata of objects alone, and would pass on each policy (labels in api/types/labels.go of Kustomize).
func (c *comparison) labelsIdly(label map[string]any) bool {
	pairs := fieldvalue.Mapping(label["pairs"])
	return isOfMetadata(label) && !c.anyMatters("labels", pairs)
}

// isOfMetadata reports whether a kustomization gives labels to the metadata of objects alone, and to no selector.
func isOfMetadata(label map[string]any) bool {
	for key := range label {
		if key != "pairs" && (key != "includeSelectors" || label[key] != false) {
			return false
		}
	}
	return true
}

// anyMatters reports whether one of the labels or annotations that a tool gives all objects may keep a policy away, or change it.
func (c *comparison) anyMatters(field string, settings map[string]any) bool {
	for key, value := range settings {
		if _, isText := value.(string); !isText || clusterobject.IsRead(key) || c.settingMatters(clusterobject.Object{}, field, key, nil, value) {
			return true
		}
	}
	return false
}
