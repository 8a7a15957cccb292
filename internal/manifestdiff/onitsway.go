package manifestdiff

import (
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// changedBy returns the object of Flux or Argo CD that may change a new object on its way, so that it is not applied as it is compared; false where there is none.
func (c *comparison) changedBy(o object) (object, bool) {
	for _, by := range c.recentObjects.all {
		changes := by.group == "argoproj.io" && c.argoChanges(by, o) || by.group == "kustomize.toolkit.fluxcd.io" && c.fluxChanges(by, o)
		if changes && slices.ContainsFunc(by.takes(), func(at string) bool { return c.mayTake(cleanFolder(at), pathIn(c.recent.Root, o.file())) }) {
			return by, true
		}
	}
	return object{}, false
}

// mayTake reports whether a tool that takes a folder may take a file: it is below the folder, or the folder is none of the side, which may be a part of a repository.
func (c *comparison) mayTake(folder, file string) bool {
	return folder == "." || isBelow(file, folder) || !slices.ContainsFunc(c.recent.Placed, func(doc manifest.Document) bool { return isBelow(pathIn(c.recent.Root, metadata.FileOf(doc)), folder) })
}

// fluxChanges reports whether a Kustomization of Flux may change an object. Its patches are for a kind that their target names, and the labels that it gives all objects
// get to the metadata of an object alone: to those of pods only where an object is a pod.
func (c *comparison) fluxChanges(by, o object) bool {
	spec, _ := fieldvalue.Lookup(by.fields, "spec").(map[string]any)
	spec = maps.Clone(spec)
	for _, idle := range []string{"postBuild", "suspend", "commonMetadata", "targetNamespace"} { // a placeholder is named where it stands
		delete(spec, idle)
	}
	list, isList := fieldvalue.Lookup(by.fields, "spec", "patches").([]any)
	isOfOthers := func(patch any) bool {
		kind, _ := fieldvalue.Lookup(patch, "target", "kind").(string)
		return plainKind.MatchString(kind) && kind != o.kind
	}
	if isList && !slices.ContainsFunc(list, func(patch any) bool { return !isOfOthers(patch) }) {
		delete(spec, "patches")
	}
	if _, known := imagesOf(spec["images"]); known {
		delete(spec, "images")
	}
	return unknownField("spec", spec, harmlessOfDeliveries[by.group]) != "" || o.movesTo(fieldvalue.Lookup(by.fields, "spec", "targetNamespace")) ||
		podPlaces[o.kind] == "" && c.setsAny(fieldvalue.Lookup(by.fields, "spec", "commonMetadata", "labels"), fieldvalue.Lookup(by.fields, "spec", "commonMetadata", "annotations"))
}

// argoChanges reports whether an Application of Argo CD may change an object by Kustomize or a plugin.
func (c *comparison) argoChanges(by, o object) bool {
	namespace := fieldvalue.Lookup(by.fields, "spec", "destination", "namespace")
	if o.written() == "" && o.movesTo(namespace) {
		return true
	}
	return slices.ContainsFunc(by.sources(), func(source map[string]any) bool {
		settings, _ := source["kustomize"].(map[string]any)
		settings = maps.Clone(settings)
		for _, idle := range []string{"version", "kubeVersion", "apiVersions", "images", "replicas", "commonLabels", "commonAnnotations", "namespace"} {
			delete(settings, idle)
		}
		return len(settings) > 0 || source["plugin"] != nil || o.movesTo(fieldvalue.Lookup(source, "kustomize", "namespace")) ||
			c.setsAny(fieldvalue.Lookup(source, "kustomize", "commonLabels"), fieldvalue.Lookup(source, "kustomize", "commonAnnotations"))
	})
}

// withoutCommonMetadata returns the fields of an object, without the labels that Flux gives others by it: nothing selects by these.
func (o object) withoutCommonMetadata() any {
	spec, is := fieldvalue.Lookup(o.fields, "spec").(map[string]any)
	if !is || o.group != "kustomize.toolkit.fluxcd.io" {
		return o.fields
	}
	fields, _ := o.fields.(map[string]any)
	fields, spec = maps.Clone(fields), maps.Clone(spec)
	delete(spec, "commonMetadata")
	fields["spec"] = spec
	return fields
}

// movesTo reports whether an object gets another namespace than it names by a tool. Where it names none, each one counts that it may have, but that of a control plane.
func (o object) movesTo(namespace any) bool {
	name, _ := namespace.(string)
	return name != "" && (o.written() != "" && o.written() != name || o.written() == "" && isOfPlane(name))
}

// setsAny reports whether labels or annotations that a tool gives objects matter on one of them.
func (c *comparison) setsAny(labels, annotations any) bool {
	w := walker{comparison: c, category: namespace}
	for i, settings := range []any{labels, annotations} {
		for key, value := range asMapping(settings) {
			if w.matters(i == 0, key, nil, value) {
				return true
			}
		}
	}
	return false
}
