package manifestdiff

import (
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// carriedKeys are all keys of kustomizations by which no value of one object gets into another one, such as the number of pods into a policy.
var carriedKeys = fields(`apiVersion kind metadata resources bases components images replicas namespace namePrefix nameSuffix labels commonLabels commonAnnotations patches patchesStrategicMerge
	patchesJson6902 sortOptions buildMetadata configMapGenerator secretGenerator generatorOptions crds helmCharts helmGlobals helmChartInflationGenerator generators validators`)

// literalImage is met by the name of an image that is no pattern: Kustomize takes it for a regular expression.
var literalImage = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:-]*$`)

// isPaired reports whether an object is a kustomization that is known by its file: it has no name, and both sides are folders.
func (c *comparison) isPaired(o object) bool {
	return !c.symmetric && o.name == "" && o.isOfKustomize() && c.old.Root != "" && c.recent.Root != ""
}

// customizationFile has the kustomizations that stand in one file.
type customizationFile struct {
	all []object
	// paired is the one that is known by its file, nil for none.
	paired *object
}

// customizationFiles returns the files of a side with kustomizations, by their paths in the folder.
func (c *comparison) customizationFiles(side Side) map[string]customizationFile {
	out := map[string]customizationFile{}
	for _, o := range side.kustomizations() {
		at := pathIn(side.Root, o.file())
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
			out = append(out, was.paired.change(isGone))
		case was.paired == nil:
			out = append(out, is.paired.change(isNew))
		case max(len(was.all), len(is.all)) > 1 && !slices.EqualFunc(was.all, is.all, func(a, b object) bool { return reflect.DeepEqual(a.fields, b.fields) }):
			out = append(out, is.paired.change("is in one file with another one, of which Kustomize reads one, and they have changed"))
		default:
			changes, fields := c.bothKustomized(*was.paired, *is.paired, recents)
			if out = append(out, changes...); len(fields) > 0 {
				passed = append(passed, Passed{is.paired.doc.Place(""), is.paired.String(), isChanged, fields})
			}
		}
	}
	return out, passed
}

// bothKustomized names the keys that differ, and returns those that pass.
func (c *comparison) bothKustomized(was, is object, files map[string]customizationFile) (out []Change, passed []string) {
	olds, _ := was.fields.(map[string]any)
	keys, _ := is.fields.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(union(olds, keys))) {
		switch of := is; {
		case reflect.DeepEqual(olds[key], keys[key]):
		case key == "images" && haveOtherTags(olds[key], keys[key]) && c.takesWorkloadsAlone(is, files):
			passed = append(passed, key)
		default:
			if _, has := keys[key]; !has {
				of = was
			}
			out = append(out, Change{of.doc.Place(key), of.String(), isChanged})
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
			case isName && (!isText || !literalImage.MatchString(text) || has(image, planeImages) || has(image, sidecarImages)):
				known = false
			}
		}
		known = known && item["name"] != nil
	}
	return out, known
}

// takesWorkloadsAlone reports whether all that a kustomization takes is in the folder, and belongs neither to a control plane nor to a tool that applies or signs objects, and
// has no sidecar of its own: Kustomize takes the name of an image for a regular expression, which may be about that. No kustomization carries a value of it into a policy.
func (c *comparison) takesWorkloadsAlone(o object, files map[string]customizationFile) bool {
	docs, known := c.takenBy(o, files)
	all := c.recent.kustomizations()
	if !known || slices.ContainsFunc(c.overlaysOf(o, all), placesInPlane) || slices.ContainsFunc(all, carriesValues) {
		return false
	}
	return !slices.ContainsFunc(docs, func(doc manifest.Document) bool {
		one := objectOf(doc)
		return one.isOfSystem() || one.isOfControlPlane() || slices.ContainsFunc(one.containers("containers", "initContainers"), isSidecar)
	})
}

// placesInPlane reports whether a kustomization gives objects the namespace of a control plane or of such a tool.
func placesInPlane(o object) bool {
	namespace, _ := fieldvalue.Lookup(o.fields, "namespace").(string)
	return isOfPlane(namespace)
}

// isOfPlane reports whether a namespace is that of a control plane, or of a tool that applies or signs objects.
func isOfPlane(namespace string) bool {
	return slices.Contains(planeNamespaces, namespace) || slices.Contains(systemNamespaces, namespace)
}

// carriesValues reports whether a kustomization may carry a value of one object into another one.
func carriesValues(o object) bool {
	keys, _ := o.fields.(map[string]any)
	return slices.ContainsFunc(slices.Collect(maps.Keys(keys)), func(key string) bool { return !carriedKeys[key] })
}

// takenBy returns the documents that a kustomization takes, by others too, and whether it is known what these are.
func (c *comparison) takenBy(o object, files map[string]customizationFile) (out []manifest.Document, known bool) {
	root := c.recent.Root
	seen := map[string]bool{}
	known = true
	var take func(at string, o object)
	take = func(at string, o object) {
		fields, _ := o.fields.(map[string]any)
		for _, key := range []string{"helmCharts", "helmChartInflationGenerator", "generators", "transformers"} {
			known = known && fields[key] == nil
		}
		for _, name := range o.takenNames() {
			path := filepath.Join(at, name)
			if known = known && !isElsewhere(at, name); !known || seen[path] {
				continue
			}
			seen[path] = true
			found := 0
			for _, doc := range c.recent.Placed {
				if pathIn(root, metadata.FileOf(doc)) == path {
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
	take(pathIn(root, filepath.Dir(o.file())), o)
	return out, known
}

// overlaysOf returns a kustomization and those of all that take it, by others too.
func (c *comparison) overlaysOf(o object, all []object) []object {
	out, seen := []object{o}, map[string]bool{o.file(): true}
	for i := 0; i < len(out); i++ {
		dir := filepath.Dir(out[i].file())
		for _, other := range all {
			if !seen[other.file()] && (slices.Contains(FilesOf(other.doc), dir) || takesByURL(other, pathIn(c.recent.Root, dir))) {
				seen[other.file()] = true
				out = append(out, other)
			}
		}
	}
	return out
}

// ofRepository finds what Kustomize takes for a repository, also where a folder has that name (NewRepoSpecFromURL in api/internal/git).
var ofRepository = regexp.MustCompile(`(?i)[?@:\n]|github\.com|\.git|_git/`)

// isElsewhere reports whether a resource of a kustomization in a folder is none of the side: a repository, or a path out of the side.
func isElsewhere(at, name string) bool {
	return ofRepository.MatchString(name) || filepath.IsAbs(name) || !filepath.IsLocal(filepath.Join(at, name))
}

// takesByURL reports whether a kustomization takes a folder of the side from its repository: that is the part of the URL behind the last "//".
func takesByURL(of object, at string) bool {
	return slices.ContainsFunc(of.takenNames(), func(name string) bool {
		name, _, _ = strings.Cut(name, "?")
		i := strings.LastIndex(name, "//")
		path := cleanFolder(name[max(i, 0):])
		return ofRepository.MatchString(name) && i > 0 && (path == at || strings.HasSuffix(path, "/"+at))
	})
}
