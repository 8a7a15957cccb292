package manifestdiff

import (
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// carriedKeys are all keys of kustomizations by which no value of one object gets into another one, such as the number of pods into a policy.
var carriedKeys = fieldpath.SetOf(`apiVersion kind metadata resources bases components images replicas namespace namePrefix nameSuffix labels commonLabels commonAnnotations patches patchesStrategicMerge
	patchesJson6902 sortOptions buildMetadata configMapGenerator secretGenerator generatorOptions crds helmCharts helmGlobals helmChartInflationGenerator generators validators`)

// literalImage is met by the name of an image that is no pattern: Kustomize takes it for a regular expression.
var literalImage = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:-]*$`)

// isPaired reports whether an object is a kustomization that is known by its file: it has no name, and both sides are folders.
func (c *comparison) isPaired(o clusterobject.Object) bool {
	return !c.symmetric && o.Name == "" && o.IsOfKustomize() && c.old.Root != "" && c.recent.Root != ""
}

// customizationFile has the kustomizations that stand in one file.
type customizationFile struct {
	all []clusterobject.Object
	// paired is the one that is known by its file, nil for none.
	paired *clusterobject.Object
}

// customizationFiles returns the files of a side with kustomizations, by their paths in the folder.
func (c *comparison) customizationFiles(side Side) map[string]customizationFile {
	out := map[string]customizationFile{}
	for _, o := range side.folder().Kustomizations() {
		at := delivery.PathIn(side.Root, o.File())
		of := out[at]
		if of.all = append(of.all, o); c.isPaired(o) {
			of.paired = &o
		}
		out[at] = of
	}
	return out
}

// compareKustomizations names each kustomization that differs from the one in the same file of the other side, and returns those that pass: a pipeline writes the tag of an
// image there. Of all else that a kustomization does, no table says that it cannot matter.
func (c *comparison) compareKustomizations() (out []Change, passed []Passed) {
	olds, recents := c.customizationFiles(c.old), c.customizationFiles(c.recent)
	paths := slices.AppendSeq(slices.Collect(maps.Keys(olds)), maps.Keys(recents))
	slices.Sort(paths)
	for _, at := range slices.Compact(paths) {
		was, is := olds[at], recents[at]
		switch {
		case was.paired == nil && is.paired == nil:
		case is.paired == nil:
			out = append(out, changeOf(*was.paired, isGone))
		case was.paired == nil:
			out = append(out, changeOf(*is.paired, isNew))
		case max(len(was.all), len(is.all)) > 1 && !slices.EqualFunc(was.all, is.all, func(a, b clusterobject.Object) bool { return reflect.DeepEqual(a.Fields, b.Fields) }):
			out = append(out, changeOf(*is.paired, "is in one file with another one, of which Kustomize reads one, and they have changed"))
		default:
			changes, fields := c.bothKustomized(*was.paired, *is.paired, recents)
			if out = append(out, changes...); len(fields) > 0 {
				passed = append(passed, Passed{is.paired.Doc.Place(""), is.paired.String(), isChanged, fields})
			}
		}
	}
	return out, passed
}

// bothKustomized names the keys that differ, and returns those that pass.
func (c *comparison) bothKustomized(was, is clusterobject.Object, files map[string]customizationFile) (out []Change, passed []string) {
	olds := fieldvalue.Mapping(was.Fields)
	keys := fieldvalue.Mapping(is.Fields)
	for _, key := range slices.Sorted(maps.Keys(union(olds, keys))) {
		switch of := is; {
		case reflect.DeepEqual(olds[key], keys[key]):
		case key == "images" && haveOtherTags(olds[key], keys[key]) && c.takesWorkloadsAlone(is, files):
			passed = append(passed, key)
		default:
			if _, has := keys[key]; !has {
				of = was
			}
			out = append(out, Change{of.Doc.Place(key), of.String(), isChanged})
		}
	}
	return out, passed
}

// haveOtherTags reports whether two lists are about the same images, under other tags and digests alone, and about none of a control plane or of a sidecar.
func haveOtherTags(was, is any) bool {
	olds, ok := imagesOf(was)
	recents, isKnown := imagesOf(is)
	if !ok || !isKnown || len(olds) != len(recents) {
		return false
	}
	for i, old := range olds {
		if recent := recents[i]; old["name"] != recent["name"] || old["newName"] != recent["newName"] {
			return false
		}
	}
	return true
}

// imagesOf returns the items of images. It returns false where it does not know what they are about.
func imagesOf(value any) (out []map[string]any, known bool) {
	list, _ := value.([]any)
	out = fieldvalue.Mappings(value)
	known = len(out) == len(list) && len(list) > 0
	for _, item := range out {
		for key, value := range item {
			text, isText := value.(string)
			isName := key == "name" || key == "newName"
			image := "/" + text + ":"
			switch {
			case !isName && key != "newTag" && key != "digest":
				known = false
			case isName && (!isText || !literalImage.MatchString(text) || clusterobject.IsOfMeshImage(image)):
				known = false
			}
		}
		known = known && item["name"] != nil
	}
	return out, known
}

// takesWorkloadsAlone reports whether all that a kustomization takes is in the folder, and belongs neither to a control plane nor to a tool that applies or signs objects, and
// has no sidecar of its own: Kustomize takes the name of an image for a regular expression, which may be about that. No kustomization carries a value of it into a policy.
func (c *comparison) takesWorkloadsAlone(o clusterobject.Object, files map[string]customizationFile) bool {
	docs, known := c.takenBy(o, files)
	all := c.recent.folder().Kustomizations()
	if !known || slices.ContainsFunc(c.reaches().Overlays(o), placesInPlane) || slices.ContainsFunc(all, carriesValues) {
		return false
	}
	return !slices.ContainsFunc(docs, func(doc manifest.Document) bool {
		one := clusterobject.Read(doc)
		return one.IsOfSystem() || one.IsOfControlPlane() || slices.ContainsFunc(one.Containers("containers", "initContainers"), clusterobject.IsSidecar)
	})
}

// placesInPlane reports whether a kustomization gives objects the namespace of a control plane or of such a tool.
func placesInPlane(o clusterobject.Object) bool {
	namespace, _ := fieldvalue.Lookup(o.Fields, "namespace").(string)
	return clusterobject.IsOfPlane(namespace)
}

// carriesValues reports whether a kustomization may carry a value of one object into another one.
func carriesValues(o clusterobject.Object) bool {
	keys := fieldvalue.Mapping(o.Fields)
	return slices.ContainsFunc(slices.Collect(maps.Keys(keys)), func(key string) bool { return !carriedKeys[key] })
}

// takenBy returns the documents that a kustomization takes, by others too, and whether it is known what these are.
func (c *comparison) takenBy(o clusterobject.Object, files map[string]customizationFile) (out []manifest.Document, known bool) {
	root := c.recent.Root
	seen := map[string]bool{}
	known = true
	var take func(at string, o clusterobject.Object)
	take = func(at string, o clusterobject.Object) {
		fields := fieldvalue.Mapping(o.Fields)
		for _, key := range []string{"helmCharts", "helmChartInflationGenerator", "generators", "transformers"} {
			known = known && fields[key] == nil
		}
		for _, name := range o.TakenNames() {
			path := filepath.Join(at, name)
			if known = known && !delivery.IsElsewhere(at, name); !known || seen[path] {
				continue
			}
			seen[path] = true
			found := 0
			for _, doc := range c.recent.Placed {
				if delivery.PathIn(root, metadata.FileOf(doc)) == path {
					out, found = append(out, doc), found+1
				}
			}
			for _, base := range []string{"kustomization.yaml", "kustomization.yml"} {
				if below := files[filepath.Join(path, base)].paired; below != nil {
					found++
					take(path, *below)
				}
			}
			known = known && found > 0
		}
	}
	take(delivery.PathIn(root, filepath.Dir(o.File())), o)
	return out, known
}
