package manifestdiff

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/internal/rendering"
)

// reach is what a kustomization of NEW takes by itself, and not by another one of the side.
type reach struct {
	kustomization clusterobject.Object
	// files are what it names, and folders where a chart of it may stand.
	files   map[string]bool
	folders []string
	// urls are what it takes from elsewhere. That may be a file of the side, by its address.
	urls []string
	// isAny is true where it may take any file: a program says which ones, or a kustomization that is not read.
	isAny bool
	// takers are the kustomization and those that take it, by others too, nil where nobody has asked.
	takers []clusterobject.Object
}

// chartKeys are the keys by which a kustomization takes charts, which may stand in the folder.
var chartKeys = []string{"helmCharts", "helmChartInflationGenerator", "helmGlobals"}

// reaches returns what each kustomization of NEW takes.
func (c *comparison) reaches() []*reach {
	if c.allReaches == nil {
		c.allReaches = []*reach{}
		isUnread := c.unreadKustomizations()
		for _, of := range c.recent.folder().Kustomizations() {
			c.allReaches = append(c.allReaches, reachOf(of, isUnread))
		}
	}
	return c.allReaches
}

// unreadKustomizations returns a function that reports whether a kustomization of NEW that is not read may stand in a folder.
func (c *comparison) unreadKustomizations() func(folder string) bool {
	folders, read := map[string]bool{}, map[string]bool{}
	for _, doc := range c.recent.Placed {
		file := metadata.FileOf(doc)
		for at := filepath.Dir(file); !folders[at]; at = filepath.Dir(at) {
			folders[at] = true
		}
		if rendering.IsKustomizationFile(file) {
			read[filepath.Dir(file)] = true
		}
	}
	isAny := slices.ContainsFunc(slices.Collect(maps.Keys(c.recent.Files)), rendering.IsKustomizationFile)
	return func(folder string) bool { return !read[folder] && (isAny || folders[folder]) }
}

func reachOf(of clusterobject.Object, isUnread func(folder string) bool) *reach {
	dir := filepath.Dir(of.File())
	out := &reach{kustomization: of, files: map[string]bool{}, isAny: fieldvalue.Lookup(of.Fields, "generators") != nil}
	named := delivery.FilesOf(of.Doc)
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

// isManifestFile reports whether a path is that of a file, and not of a folder.
func isManifestFile(path string) bool {
	return slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path))
}

// takes reports whether a kustomization may take a file by itself, which is a path in the root too.
func (r *reach) takes(file, inRoot string) bool {
	return r.isAny || r.files[file] ||
		slices.ContainsFunc(r.folders, func(folder string) bool { return delivery.IsBelow(file, folder) }) ||
		slices.ContainsFunc(r.urls, func(url string) bool {
			url, _, _ = strings.Cut(url, "?")
			return strings.HasSuffix(url, "/"+inRoot)
		})
}

// overlays returns a kustomization and those of all that take it, by others too.
func (r *reach) overlays(root string, all []*reach) []clusterobject.Object {
	if r.takers != nil {
		return r.takers
	}
	seen := map[string]bool{r.kustomization.File(): true}
	r.takers = []clusterobject.Object{r.kustomization}
	for i := 0; i < len(r.takers); i++ {
		dir := filepath.Dir(r.takers[i].File())
		for _, other := range all {
			if !seen[other.kustomization.File()] && (other.files[dir] || len(other.urls) > 0 && takesByURL(other.kustomization, delivery.PathIn(root, dir))) {
				seen[other.kustomization.File()] = true
				r.takers = append(r.takers, other.kustomization)
			}
		}
	}
	return r.takers
}
