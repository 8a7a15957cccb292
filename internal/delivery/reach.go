package delivery

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/internal/rendering"
)

// Reaches are what the kustomizations of a folder take, each by itself and by others.
type Reaches struct {
	root string
	all  []*reach
	// byFile are the places in all of those that name a file, and unbounded those of others that may take it all the same.
	byFile    map[string][]int
	unbounded []int
	// ways has what [Reaches.Ways] has found, by the files.
	ways map[string][]string
}

// reach is what a kustomization takes by itself, and not by another one of the folder.
type reach struct {
	kustomization clusterobject.Object
	// files are what it names, and folders where a chart of it may stand.
	files   map[string]bool
	folders []string
	// urls are what it takes from elsewhere. That may be a file of the folder, by its address.
	urls []string
	// isAny is true where it may take any file: a program says which ones, or a kustomization that is not read.
	isAny bool
	// takers are the kustomization and those that take it, by others too, nil where nobody has asked.
	takers []clusterobject.Object
}

// Reaches returns what the kustomizations of the folder take.
func (s Folder) Reaches() *Reaches {
	out := &Reaches{root: s.Root, byFile: map[string][]int{}, ways: map[string][]string{}}
	isUnread := s.unreadKustomizations()
	for i, of := range s.Kustomizations() {
		one := reachOf(of, isUnread)
		out.all = append(out.all, one)
		for file := range one.files {
			out.byFile[file] = append(out.byFile[file], i)
		}
		if one.isAny || len(one.folders) > 0 || len(one.urls) > 0 {
			out.unbounded = append(out.unbounded, i)
		}
	}
	return out
}

// Takers returns the kustomizations that may take a file, by others too. A kustomization is there again for each way.
func (r *Reaches) Takers(file string) (out []clusterobject.Object) {
	inRoot := PathIn(r.root, file)
	asked := slices.Concat(r.byFile[file], r.unbounded)
	slices.Sort(asked)
	for _, i := range slices.Compact(asked) {
		if of := r.all[i]; of.takes(file, inRoot) {
			out = append(out, r.overlays(of)...)
		}
	}
	return out
}

// Ways returns a file and the files of the kustomizations that may take it, by others too, as paths in the root: a tool that takes one of them may take the file by that.
func (r *Reaches) Ways(file string) []string {
	out, known := r.ways[file]
	if !known {
		out = []string{PathIn(r.root, file)}
		for _, by := range r.Takers(file) {
			if at := PathIn(r.root, by.File()); !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
		r.ways[file] = out
	}
	return out
}

// Overlays returns a kustomization and those of the folder that take it, by others too.
func (r *Reaches) Overlays(kustomization clusterobject.Object) []clusterobject.Object {
	i := slices.IndexFunc(r.all, func(of *reach) bool { return of.kustomization.File() == kustomization.File() })
	if i < 0 {
		return []clusterobject.Object{kustomization}
	}
	return r.overlays(r.all[i])
}

func (r *Reaches) overlays(from *reach) []clusterobject.Object {
	if from.takers != nil {
		return from.takers
	}
	seen := map[string]bool{from.kustomization.File(): true}
	from.takers = []clusterobject.Object{from.kustomization}
	for i := 0; i < len(from.takers); i++ {
		dir := filepath.Dir(from.takers[i].File())
		for _, other := range r.all {
			if !seen[other.kustomization.File()] && (other.files[dir] || len(other.urls) > 0 && takesByURL(other.kustomization, PathIn(r.root, dir))) {
				seen[other.kustomization.File()] = true
				from.takers = append(from.takers, other.kustomization)
			}
		}
	}
	return from.takers
}

// WithComponents returns some kustomizations with the components that they take, by others too: a component changes what such a kustomization takes.
func (r *Reaches) WithComponents(all []clusterobject.Object) []clusterobject.Object {
	seen := map[string]bool{}
	for i := 0; i < len(all); i++ {
		for _, name := range fieldvalue.Texts(fieldvalue.Lookup(all[i].Fields, "components")) {
			dir := filepath.Join(filepath.Dir(all[i].File()), name)
			for _, of := range r.all {
				if file := of.kustomization.File(); !seen[file] && filepath.Dir(file) == dir {
					seen[file] = true
					all = append(all, of.kustomization)
				}
			}
		}
	}
	return all
}

// unreadKustomizations returns a function that reports whether a kustomization that is not read may stand in a folder.
func (s Folder) unreadKustomizations() func(folder string) bool {
	folders, read := map[string]bool{}, map[string]bool{}
	for _, doc := range s.Placed {
		file := metadata.FileOf(doc)
		for at := filepath.Dir(file); !folders[at]; at = filepath.Dir(at) {
			folders[at] = true
		}
		if rendering.IsKustomizationFile(file) {
			read[filepath.Dir(file)] = true
		}
	}
	isAny := slices.ContainsFunc(slices.Collect(maps.Keys(s.Files)), rendering.IsKustomizationFile)
	return func(folder string) bool { return !read[folder] && (isAny || folders[folder]) }
}

// chartKeys are the keys by which a kustomization takes charts, which may stand in the folder.
var chartKeys = []string{"helmCharts", "helmChartInflationGenerator", "helmGlobals"}

func reachOf(of clusterobject.Object, isUnread func(folder string) bool) *reach {
	dir := filepath.Dir(of.File())
	out := &reach{kustomization: of, files: map[string]bool{}, isAny: fieldvalue.Lookup(of.Fields, "generators") != nil}
	named := FilesOf(of)
	for _, file := range named {
		out.files[file] = true
	}
	if slices.ContainsFunc(chartKeys, func(key string) bool { return fieldvalue.Lookup(of.Fields, key) != nil }) {
		out.folders = append(named, dir)
	}
	for _, name := range of.TakenNames() {
		if ofRepository.MatchString(name) {
			out.urls = append(out.urls, name)
		} else if !isManifestFile(name) {
			out.isAny = out.isAny || isUnread(filepath.Join(dir, name))
		}
	}
	return out
}

// takes reports whether a kustomization may take a file by itself, which is a path in the root too.
func (r *reach) takes(file, inRoot string) bool {
	return r.isAny || r.files[file] ||
		slices.ContainsFunc(r.folders, func(folder string) bool { return IsBelow(file, folder) }) ||
		slices.ContainsFunc(r.urls, func(url string) bool {
			url, _, _ = strings.Cut(url, "?")
			return strings.HasSuffix(url, "/"+inRoot)
		})
}

// isManifestFile reports whether a path is that of a file, and not of a folder.
func isManifestFile(path string) bool {
	return slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path))
}

// ofRepository finds what Kustomize takes for a repository, also where a folder has that name (NewRepoSpecFromURL in api/internal/git).
var ofRepository = regexp.MustCompile(`(?i)[?@:\n]|github\.com|\.git|_git/`)

// IsElsewhere reports whether a resource of a kustomization in a folder is none of the root: a repository, or a path out of the root.
func IsElsewhere(at, name string) bool {
	return ofRepository.MatchString(name) || filepath.IsAbs(name) || !filepath.IsLocal(filepath.Join(at, name))
}

// takesByURL reports whether a kustomization takes a folder of the root from its repository: that is the part of the URL behind the last "//", or its end. The folder
// of the root may be the whole repository.
func takesByURL(of clusterobject.Object, at string) bool {
	return slices.ContainsFunc(of.TakenNames(), func(name string) bool {
		name, _, _ = strings.Cut(name, "?")
		i := strings.LastIndex(name, "//")
		path := Clean(name[max(i, 0):])
		return ofRepository.MatchString(name) && (at == "." && !isManifestFile(path) || path == at || strings.HasSuffix(path, "/"+at))
	})
}
