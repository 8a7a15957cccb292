package delivery

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/metadata"
)

// Folders are the folders of files in a root, and those that these are in.
type Folders struct {
	all map[string]bool
	// named has what [Folders.Named] has found, by the paths.
	named map[string][]string
}

// Folders returns the folders of the files of a side.
func (s Folder) Folders() *Folders {
	out := &Folders{map[string]bool{".": true}, map[string][]string{}}
	for _, doc := range s.Placed {
		for at := PathIn(s.Root, metadata.FileOf(doc)); !out.all[at]; at = filepath.Dir(at) {
			out.all[at] = true
		}
	}
	return out
}

// Named returns those of the folders that the path of a tool may mean: the one with this path, or else those whose path ends so, as an artifact of Flux may have a part
// of the repository, or with which this path ends, as the root may be a part of it.
func (f *Folders) Named(path string) []string {
	out, known := f.named[path]
	if !known {
		out = f.find(path)
		f.named[path] = out
	}
	return out
}

func (f *Folders) find(path string) (out []string) {
	if f.all[path] {
		return []string{path}
	}
	for folder := range f.all {
		if strings.HasSuffix(folder, "/"+path) {
			out = append(out, folder)
		}
	}
	slices.Sort(out)
	for _, rest, more := strings.Cut(path, "/"); more && len(out) == 0; _, rest, more = strings.Cut(rest, "/") {
		if f.all[rest] {
			out = append(out, rest)
		}
	}
	return out
}

// ArePart reports whether no path of some tools leads into the folders, so that these may be a part of a repository in which the paths begin elsewhere.
func (f *Folders) ArePart(tools []clusterobject.Object) bool {
	return !slices.ContainsFunc(tools, func(by clusterobject.Object) bool {
		return slices.ContainsFunc(by.Takes(), func(at string) bool {
			folder := Literal(at)
			return folder != "." && len(f.Named(folder)) > 0 // each root has that one
		})
	})
}
