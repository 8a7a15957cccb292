package manifestdiff

import (
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// plainKeys are the keys of a kustomization by which it takes objects as they are, but for their images, their number and their namespace. What it generates
// is as it was.
var plainKeys = fields("apiVersion kind metadata resources images replicas namespace sortOptions buildMetadata configMapGenerator secretGenerator generatorOptions")

// generatorKeys are those of them by which it makes objects of its own: they are plain where they were there before.
var generatorKeys = fields("configMapGenerator secretGenerator generatorOptions")

// carriedKeys are all keys of kustomizations by which no value of one object gets into another one, such as the number of pods into a policy.
var carriedKeys = fields(`apiVersion kind metadata resources bases components images replicas namespace namePrefix nameSuffix labels commonLabels commonAnnotations patches patchesStrategicMerge
	patchesJson6902 sortOptions buildMetadata configMapGenerator secretGenerator generatorOptions crds helmCharts helmGlobals helmChartInflationGenerator generators validators`)

// imageKeys and replicaKeys are those of an item of images and of replicas.
var (
	imageKeys   = fields("name newName newTag digest")
	replicaKeys = fields("name count")
)

// podNumbers are labels that are made of the number of a pod.
var podNumbers = []string{"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"}

// isPaired reports whether an object is a kustomization that is known by its file: it has no name, and both sides are folders.
func (c *comparison) isPaired(o object) bool {
	return !c.symmetric && o.name == "" && o.isOfKustomize() && c.old.Root != "" && c.recent.Root != ""
}

// kustomizations returns those of a side that are known by their files, by their paths in the folder.
func (c *comparison) kustomizations(side Side) map[string]object {
	out := map[string]object{}
	for _, doc := range side.Others {
		if o := objectOf(doc); c.isPaired(o) {
			out[pathIn(side.Root, o.file())] = o
		}
	}
	return out
}

// compareKustomizations names what differs in kustomizations, each held against the one that stands in the same file of the other side, and returns what passes.
func (c *comparison) compareKustomizations() (out []Change, passed []Passed) {
	olds, recents := c.kustomizations(c.old), c.kustomizations(c.recent)
	for _, at := range slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(olds)), maps.Keys(recents))))) {
		was, had := olds[at]
		is, has := recents[at]
		switch {
		case !slices.EqualFunc(c.others(c.old, at), c.others(c.recent, at), func(a, b object) bool { return reflect.DeepEqual(a.fields, b.fields) }):
			of := is
			if !has {
				of = was
			}
			out = append(out, of.change("is in one file with another one, of which Kustomize reads one, and they have changed"))
		case had && has:
			changes, fields := c.bothKustomized(was, is, recents)
			if out = append(out, changes...); len(fields) > 0 {
				passed = append(passed, Passed{is.doc.Place(""), is.String(), isChanged, fields})
			}
		case had && !hasBelow(c.recent, filepath.Dir(at)) && c.goesAlone(was):
			passed = append(passed, Passed{Place: was.doc.Place(""), Object: was.String(), Effect: isGone})
		case had:
			out = append(out, was.change(isGone))
		case !hasBelow(c.old, filepath.Dir(at)) && c.takesNewAlone(is, textsOf(fieldOf(is.fields, "resources")), recents):
			passed = append(passed, Passed{Place: is.doc.Place(""), Object: is.String(), Effect: isNew})
		default:
			out = append(out, is.change(isNew))
		}
	}
	return out, passed
}

// others returns the kustomizations of a file of which there are several.
func (c *comparison) others(side Side, at string) (out []object) {
	for _, o := range side.kustomizations() {
		if pathIn(side.Root, o.file()) == at {
			out = append(out, o)
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// goesAlone reports whether all that a kustomization of the first side takes is in its folder, so that it is gone with it, and compared as it was.
func (c *comparison) goesAlone(was object) bool {
	at := pathIn(c.old.Root, filepath.Dir(was.file()))
	return c.isPlain(was) && !generates(was) && !slices.ContainsFunc(textsOf(fieldOf(was.fields, "resources")), func(name string) bool {
		path := filepath.Join(at, name)
		return isElsewhere(at, name) || !isBelow(path, at) || !hasBelow(c.old, path)
	})
}

// generates reports whether a kustomization makes objects of its own.
func generates(o object) bool {
	keys, _ := o.fields.(map[string]any)
	return slices.ContainsFunc(slices.Collect(maps.Keys(keys)), func(key string) bool { return generatorKeys[key] })
}

// bothKustomized names the keys that differ, and returns those that pass.
func (c *comparison) bothKustomized(was, is object, recents map[string]object) (out []Change, passed []string) {
	olds, _ := was.fields.(map[string]any)
	keys, _ := is.fields.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(union(olds, keys))) {
		switch of := is; {
		case reflect.DeepEqual(olds[key], keys[key]):
		case c.keyPasses(key, was, is, recents):
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

// keyPasses reports whether a key of a kustomization has another value by which it changes and leaves out nothing that matters.
func (c *comparison) keyPasses(key string, was, is object, recents map[string]object) bool {
	before, after := fieldOf(was.fields, key), fieldOf(is.fields, key)
	switch key {
	case "images":
		return c.takesWorkloadsAlone(is) && areImages(before) && areImages(after)
	case "replicas":
		return c.takesWorkloadsAlone(is) && areReplicas(before) && areReplicas(after) && !slices.ContainsFunc(podNumbers, c.named.has)
	case "labels":
		return c.labelNobody(before) && c.labelNobody(after)
	case "resources":
		olds, added := textsOf(before), textsOf(after)
		removed := slices.DeleteFunc(slices.Clone(olds), func(name string) bool { return slices.Contains(added, name) })
		stay := slices.DeleteFunc(slices.Clone(olds), func(name string) bool { return slices.Contains(removed, name) })
		alsoStay := slices.DeleteFunc(slices.Clone(added), func(name string) bool { return !slices.Contains(olds, name) })
		added = slices.DeleteFunc(added, func(name string) bool { return slices.Contains(olds, name) })
		at := pathIn(c.recent.Root, filepath.Dir(is.file()))
		return slices.Equal(stay, alsoStay) && c.takesNewAlone(is, added, recents) && !slices.ContainsFunc(removed, func(name string) bool {
			return isElsewhere(at, name) || !hasBelow(c.old, filepath.Join(at, name)) || hasBelow(c.recent, filepath.Join(at, name))
		})
	default:
		return false
	}
}

// labelNobody reports whether labels of a kustomization get to the metadata of objects alone, and matter on none: they are those of pods without a workload, too.
func (c *comparison) labelNobody(value any) bool {
	list, isList := value.([]any)
	labels := mappings(value)
	return (isList || value == nil) && len(labels) == len(list) && !slices.ContainsFunc(labels, func(label map[string]any) bool {
		pairs, _ := label["pairs"].(map[string]any)
		w := walker{comparison: c, category: namespace}
		for key, value := range pairs {
			if w.matters(true, key, nil, value) || w.matters(true, key, value, nil) {
				return true
			}
		}
		return !c.labelsIdly(label)
	})
}

// withoutOwnLabels returns the fields of an object, without those labels of a kustomization, or of one of Flux, by which nothing selects.
func (o object) withoutOwnLabels() any {
	fields, _ := o.fields.(map[string]any)
	if spec, is := fields["spec"].(map[string]any); is && o.group == "kustomize.toolkit.fluxcd.io" {
		fields, spec = maps.Clone(fields), maps.Clone(spec)
		delete(spec, "commonMetadata")
		fields["spec"] = spec
		return fields
	}
	if !o.isOfKustomize() || slices.ContainsFunc(mappings(fields["labels"]), func(label map[string]any) bool { return !isOfMetadata(label) }) {
		return o.fields
	}
	fields = maps.Clone(fields)
	delete(fields, "labels")
	return fields
}

// areImages reports whether a value gives containers images that are none of a control plane or of a sidecar.
func areImages(value any) bool {
	return areItems(value, imageKeys, func(item map[string]any) bool {
		for _, key := range []string{"name", "newName"} {
			name, isText := item[key].(string)
			if image := "/" + name + ":"; item[key] != nil && !isText || has(image, planeImages) || has(image, sidecarImages) {
				return false
			}
		}
		return true
	})
}

// areReplicas reports whether a value gives workloads a number of pods.
func areReplicas(value any) bool {
	return areItems(value, replicaKeys, func(map[string]any) bool { return true })
}

// areItems reports whether a value is a list of mappings with a name that have known keys alone and meet a condition, or nothing.
func areItems(value any, known map[string]bool, meets func(map[string]any) bool) bool {
	list, isList := value.([]any)
	items := mappings(value)
	return (isList || value == nil) && len(items) == len(list) && !slices.ContainsFunc(items, func(item map[string]any) bool {
		name, _ := item["name"].(string)
		return name == "" || !meets(item) || slices.ContainsFunc(slices.Collect(maps.Keys(item)), func(key string) bool { return !known[key] })
	})
}

// takesWorkloadsAlone reports whether all that a kustomization takes is in the folder, and belongs neither to a control plane nor to a tool that applies or signs objects, and
// has no sidecar of its own: Kustomize takes the name of an image for a regular expression, which may be about that. No kustomization carries a value of it into a policy.
func (c *comparison) takesWorkloadsAlone(o object) bool {
	docs, known := c.takenBy(o)
	if !known || slices.ContainsFunc(c.overlaysOf(o), placesInPlane) || slices.ContainsFunc(c.recent.kustomizations(), carriesValues) {
		return false
	}
	return !slices.ContainsFunc(docs, func(doc manifest.Document) bool {
		one := objectOf(doc)
		return one.isOfSystem() || one.isOfControlPlane() || slices.ContainsFunc(one.containers("containers", "initContainers"), isSidecar)
	})
}

// placesInPlane reports whether a kustomization gives objects the namespace of a control plane or of such a tool.
func placesInPlane(o object) bool {
	namespace, _ := fieldOf(o.fields, "namespace").(string)
	return isOfPlane(namespace)
}

func isOfPlane(namespace string) bool {
	return slices.Contains(planeNamespaces, namespace) || slices.Contains(systemNamespaces, namespace)
}

// carriesValues reports whether a kustomization may carry a value of one object into another one.
func carriesValues(o object) bool {
	keys, _ := o.fields.(map[string]any)
	return slices.ContainsFunc(slices.Collect(maps.Keys(keys)), func(key string) bool { return !carriedKeys[key] })
}

// takenBy returns the documents that a kustomization takes, by others too, and whether it is known what these are.
func (c *comparison) takenBy(o object) (out []manifest.Document, known bool) {
	root := c.recent.Root
	kustomizations := c.kustomizations(c.recent)
	seen := map[string]bool{}
	known = true
	var take func(at string, o object)
	take = func(at string, o object) {
		fields, _ := o.fields.(map[string]any)
		for _, key := range []string{"helmCharts", "helmChartInflationGenerator", "generators", "transformers"} {
			known = known && fields[key] == nil
		}
		for _, name := range slices.Concat(textsOf(fields["resources"]), textsOf(fields["bases"]), textsOf(fields["components"])) {
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
				if below, has := kustomizations[filepath.Join(path, base)]; has {
					found++
					take(path, below)
				}
			}
			known = known && found > 0
		}
	}
	take(pathIn(root, filepath.Dir(o.file())), o)
	return out, known
}

// takesNewAlone reports whether resources that a kustomization takes now are new as a whole, so that they are compared as they are: nothing changes them on their way, and it
// gives them no other namespace than they have.
func (c *comparison) takesNewAlone(o object, added []string, recents map[string]object) bool {
	at := pathIn(c.recent.Root, filepath.Dir(o.file()))
	chain := c.overlaysOf(o)
	for _, name := range added {
		path := filepath.Join(at, name)
		if isElsewhere(at, name) || hasBelow(c.old, path) || !hasBelow(c.recent, path) {
			return false
		}
		for file, below := range recents {
			if isBelow(file, path) {
				chain = append(chain, below)
			}
		}
		for _, doc := range c.recent.Placed {
			one := objectOf(doc)
			if !isBelow(pathIn(c.recent.Root, one.file()), path) {
				continue
			}
			if _, changes := c.changedBy(one); changes || !keepNamespace(chain, one) {
				return false
			}
		}
	}
	olds := c.kustomizations(c.old)
	return !slices.ContainsFunc(chain, func(of object) bool {
		_, had := olds[pathIn(c.recent.Root, of.file())]
		return !c.isPlain(of) || !had && generates(of)
	})
}

// overlaysOf returns a kustomization and those that take it, by others too.
func (c *comparison) overlaysOf(o object) []object {
	out, seen := []object{o}, map[string]bool{o.file(): true}
	for i := 0; i < len(out); i++ {
		dir := filepath.Dir(out[i].file())
		for _, other := range c.recent.kustomizations() {
			if !seen[other.file()] && (slices.Contains(FilesOf(other.doc), dir) || takesByURL(other, pathIn(c.recent.Root, dir))) {
				seen[other.file()] = true
				out = append(out, other)
			}
		}
	}
	return out
}

// keepNamespace reports whether kustomizations give an object no other namespace than it names. Where it names none, each one counts that it may have, but that of a control
// plane: there, other things count.
func keepNamespace(chain []object, o object) bool {
	return !slices.ContainsFunc(chain, func(of object) bool {
		namespace := fieldOf(of.fields, "namespace")
		return namespace != nil && o.written() != "" && namespace != o.written() || o.written() == "" && placesInPlane(of)
	})
}

// isPlain reports whether a kustomization takes objects as they are.
func (c *comparison) isPlain(o object) bool {
	keys, _ := o.fields.(map[string]any)
	for key, value := range keys {
		if !plainKeys[key] && (key != "labels" || !c.labelNobody(value)) || key == "images" && !areImages(value) {
			return false
		}
	}
	return true
}

// ofRepository finds what Kustomize takes for a repository, also where a folder has that name (NewRepoSpecFromURL in api/internal/git).
var ofRepository = regexp.MustCompile(`(?i)[?@:\n]|github\.com|\.git|_git/`)

// isElsewhere reports whether a resource of a kustomization in a folder is none of the side: a repository, or a path out of the side.
func isElsewhere(at, name string) bool {
	return ofRepository.MatchString(name) || filepath.IsAbs(name) || !filepath.IsLocal(filepath.Join(at, name))
}

// takesByURL reports whether a kustomization takes a folder of the side from its repository: that is the part of the URL behind the last "//".
func takesByURL(of object, at string) bool {
	return slices.ContainsFunc(slices.Concat(textsOf(fieldOf(of.fields, "resources")), textsOf(fieldOf(of.fields, "bases")), textsOf(fieldOf(of.fields, "components"))), func(name string) bool {
		name, _, _ = strings.Cut(name, "?")
		i := strings.LastIndex(name, "//")
		path := cleanFolder(name[max(i, 0):])
		return ofRepository.MatchString(name) && i > 0 && (path == at || strings.HasSuffix(path, "/"+at))
	})
}

// hasBelow reports whether a side has a document, or another file that counts, in a file or below a folder of it.
func hasBelow(side Side, path string) bool {
	isIn := func(file string) bool { return path == "." || isBelow(file, path) }
	for _, files := range []map[string]string{side.Files, side.Sources, side.Unread} {
		for file := range files {
			if isIn(file) {
				return true
			}
		}
	}
	return slices.ContainsFunc(side.Placed, func(doc manifest.Document) bool { return isIn(pathIn(side.Root, metadata.FileOf(doc))) })
}
