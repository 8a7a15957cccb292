package manifestdiff

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/rendering"
)

// changedBy names the object of Flux, Argo CD, Fleet or Kustomize, or what else of the second side, that may change a new object on its way, so that it is not applied as it is
// compared; "" where there is none.
func (c *comparison) changedBy(o clusterobject.Object) string {
	if changer := c.anyChanger(); changer != "" {
		return changer
	}
	for _, by := range c.deliveries() {
		if c.mayChange(by, o) {
			return c.toolText(by)
		}
	}
	for _, by := range c.reaches().Takers(o.File()) {
		if kustomizeChanges(by, o) {
			return c.toolText(by)
		}
	}
	return ""
}

// mayChange reports whether one object of a tool may change another object on its way.
func (c *comparison) mayChange(by, o clusterobject.Object) bool {
	switch by.Group {
	case "argoproj.io":
		return patchesTemplate(by) || slices.ContainsFunc(by.Applications(), func(made clusterobject.Object) bool { return c.argoChanges(made, o) && c.mayTakeBy(made, o) })
	case "kustomize.toolkit.fluxcd.io":
		return c.fluxChanges(by, o) && c.mayTakeBy(by, o)
	case "helm.toolkit.fluxcd.io":
		return (releaseChanges(by, o) || c.givesMetadata(by, o)) && c.mayTakeBy(by, o)
	default:
		return c.fleetChanges(by, o)
	}
}

// toolText names what may change an object. A kustomization and a file of Fleet have no name but that of their file.
func (c *comparison) toolText(by clusterobject.Object) string {
	if by.Name == "" {
		return delivery.PathIn(c.recent.Root, by.File())
	}
	return by.String()
}

// idleKeys are the keys of kustomizations that change no object.
var idleKeys = fieldpath.SetOf(`apiVersion kind metadata resources bases replicas sortOptions buildMetadata configMapGenerator secretGenerator generatorOptions crds helmCharts helmGlobals
	helmChartInflationGenerator generators validators openapi nameSuffix`)

// kustomizeChanges reports whether a kustomization may change an object of a file that it takes. Each label that it gives counts: the kustomization names that label itself.
func kustomizeChanges(by, o clusterobject.Object) bool {
	for key, value := range fieldvalue.Mapping(by.Fields) {
		switch _, isImages := imagesOf(value); {
		case idleKeys[key], key == "images" && isImages:
		case key == "namespace":
			if o.MovesTo(value) {
				return true
			}
		case key == "patches", key == "patchesJson6902":
			if list, _ := value.([]any); slices.ContainsFunc(list, func(patch any) bool { return !isOfOtherKind(patch, o) && !hasOtherName(patch, o) }) {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// isOfOtherKind reports whether the target of a patch is of another kind than an object.
func isOfOtherKind(patch any, o clusterobject.Object) bool {
	kind, _ := fieldvalue.Lookup(patch, "target", "kind").(string)
	return plainKind.MatchString(kind) && kind != o.Kind
}

// areOfOtherKinds reports whether a value is a list of such patches alone.
func areOfOtherKinds(patches any, o clusterobject.Object) bool {
	list, isList := patches.([]any)
	return isList && !slices.ContainsFunc(list, func(patch any) bool { return !isOfOtherKind(patch, o) })
}

// hasOtherName reports whether the target of a patch has another name than an object, also where a kustomization puts something in front of that or behind it.
func hasOtherName(patch any, o clusterobject.Object) bool {
	name, _ := fieldvalue.Lookup(patch, "target", "name").(string)
	return plainName.MatchString(name) && !strings.Contains(name, o.Name)
}

// plainName is a name that, as an expression, is about itself alone.
var plainName = regexp.MustCompile(`^[a-z0-9-]+$`)

// deliveries returns the objects of the second side, with those of tools that others of them make.
func (c *comparison) deliveries() []clusterobject.Object {
	if c.allDeliveries == nil {
		c.allDeliveries = c.recentObjects.Deliveries()
	}
	return c.allDeliveries
}

// mayTakeBy reports whether a tool may take the file of an object by another object.
func (c *comparison) mayTakeBy(by, o clusterobject.Object) bool {
	return slices.ContainsFunc(by.Takes(), func(at string) bool { return c.mayTake(delivery.Literal(at), o) })
}

// mayTake reports whether a tool that takes a folder may take the file of an object: it is below the folder, or a kustomization that takes it is, or the folder is none of the side, which
// may be a part of a repository.
func (c *comparison) mayTake(folder string, o clusterobject.Object) bool {
	if c.allFolders == nil {
		c.allFolders = c.recent.folder().Folders(c.deliveries())
		c.isPart = c.allFolders.IsPart || slices.ContainsFunc(c.deliveries(), placesFolders)
	}
	named := c.allFolders.Named(folder)
	return len(named) == 0 && c.isPart || slices.ContainsFunc(named, func(of string) bool { return c.takes(of, o) })
}

// takes reports whether what applies a folder may take the file of an object, also by kustomizations.
func (c *comparison) takes(folder string, o clusterobject.Object) bool {
	return folder == "." || slices.ContainsFunc(c.reaches().Ways(c.fileOf(o)), func(way string) bool { return delivery.IsBelow(way, folder) })
}

// fileOf returns the file of an object, in the folder of the second side: what stands in the first one has the same path in its own folder.
func (c *comparison) fileOf(o clusterobject.Object) string {
	if c.old.Root != "" && !filepath.IsLocal(delivery.PathIn(c.recent.Root, o.File())) {
		return filepath.Join(c.recent.Root, delivery.PathIn(c.old.Root, o.File()))
	}
	return o.File()
}

// dirOf returns the folder of the file of an object, as a path in its side.
func (c *comparison) dirOf(o clusterobject.Object) string {
	return filepath.Dir(delivery.PathIn(c.recent.Root, c.fileOf(o)))
}

// placesFolders reports whether an object of Flux gives folders of its sources other paths: what leads nowhere here may lead to any of them there.
func placesFolders(o clusterobject.Object) bool {
	return o.Kind == "ArtifactGenerator" || fieldvalue.Lookup(o.Fields, "spec", "sourceRef", "kind") == "ExternalArtifact" || o.Kind == "GitRepository" && fieldvalue.Lookup(o.Fields, "spec", "include") != nil
}

// fluxChanges reports whether a Kustomization of Flux may change an object. Its patches are for a kind that their target names, and the labels that it gives all objects
// get to the metadata of an object alone: to those of pods only where an object is a pod.
func (c *comparison) fluxChanges(by, o clusterobject.Object) bool {
	spec := maps.Clone(fieldvalue.Mapping(fieldvalue.Lookup(by.Fields, "spec")))
	for _, idle := range []string{"postBuild", "suspend", "commonMetadata", "targetNamespace"} { // a placeholder is named where it stands
		delete(spec, idle)
	}
	if areOfOtherKinds(spec["patches"], o) {
		delete(spec, "patches")
	}
	if _, known := imagesOf(spec["images"]); known {
		delete(spec, "images")
	}
	return clusterobject.UnknownField("spec", spec, harmlessOfDeliveries[by.Group]) != "" || o.MovesTo(fieldvalue.Lookup(by.Fields, "spec", "targetNamespace")) || c.givesMetadata(by, o)
}

// givesMetadata reports whether the metadata that an object of Flux gives all objects matters on one of them.
func (c *comparison) givesMetadata(by, o clusterobject.Object) bool {
	of := func(field string) any { return fieldvalue.Lookup(by.Fields, "spec", "commonMetadata", field) }
	return o.PodPlace() == "" && c.setsAny(of("labels"), of("annotations"))
}

// releaseChanges reports whether a release of a chart may change an object of that by more than images, and patches of other kinds.
func releaseChanges(by, o clusterobject.Object) bool {
	renderers := fieldvalue.Lookup(by.Fields, "spec", "postRenderers")
	list, isList := renderers.([]any)
	return renderers != nil && !isList || slices.ContainsFunc(list, func(renderer any) bool {
		settings, isMapping := fieldvalue.Lookup(renderer, "kustomize").(map[string]any)
		for key, value := range settings {
			if key != "images" && (key != "patches" || !areOfOtherKinds(value, o)) {
				return true
			}
		}
		return !isMapping
	})
}

// argoChanges reports whether an Application of Argo CD may change an object by Kustomize or a plugin.
func (c *comparison) argoChanges(by, o clusterobject.Object) bool {
	namespace := fieldvalue.Lookup(by.Fields, "spec", "destination", "namespace")
	if o.Written() == "" && o.Kind != "Namespace" && o.MovesTo(namespace) {
		return true
	}
	return slices.ContainsFunc(by.Sources(), func(source map[string]any) bool {
		settings := maps.Clone(fieldvalue.Mapping(source["kustomize"]))
		for _, idle := range []string{"version", "kubeVersion", "apiVersions", "images", "replicas", "commonLabels", "commonAnnotations", "namespace"} {
			delete(settings, idle)
		}
		return len(settings) > 0 || source["plugin"] != nil || o.MovesTo(fieldvalue.Lookup(source, "kustomize", "namespace")) ||
			c.setsAny(fieldvalue.Lookup(source, "kustomize", "commonLabels"), fieldvalue.Lookup(source, "kustomize", "commonAnnotations"))
	})
}

// fleetChanging are the keys of a fleet.yaml by which Fleet changes what it takes from the folder of the file, and from below.
var fleetChanging = []string{"namespace", "kustomize", "yaml", "overlays", "targetCustomizations"}

// fleetChanges reports whether a document is a fleet.yaml by which an object may change.
func (c *comparison) fleetChanges(by, o clusterobject.Object) bool {
	return by.IsFleetFile() && c.takes(c.dirOf(by), o) && slices.ContainsFunc(fleetChanging, func(key string) bool { return fieldvalue.Lookup(by.Fields, key) != nil })
}

// setsAny reports whether labels or annotations that a tool gives objects matter on one of them.
func (c *comparison) setsAny(labels, annotations any) bool {
	w := walker{comparison: c, category: clusterobject.Namespace}
	for i, settings := range []any{labels, annotations} {
		for key, value := range fieldvalue.Mapping(settings) {
			if rendering.PlaceholderIn(key) != "" || w.matters(i == 0, key, nil, value) {
				return true
			}
		}
	}
	return false
}
