package delivery

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/metadata"
)

// Folders are the folders of files in a root, and those that these are in.
type Folders struct {
	root string
	all  map[string]bool
	// named has what [Folders.Named] has found, by the paths.
	named map[string][]string
}

// Folders returns the folders of the files of a side.
func (s Folder) Folders() *Folders {
	out := &Folders{s.Root, map[string]bool{".": true}, map[string][]string{}}
	for _, doc := range s.Placed {
		for at := PathIn(s.Root, metadata.FileOf(doc)); !out.all[at]; at = filepath.Dir(at) {
			out.all[at] = true
		}
	}
	return out
}

// Named returns those of the folders that the path of a tool may mean: the one with this path, or else those whose path ends so, as an artifact of Flux may have a part
// of the repository, or with which this path ends, as the root may be a part of it. A link is what it leads to, and a folder without documents, or out of the root, the
// whole root: a program there may take any file.
func (f *Folders) Named(path string) []string {
	out, known := f.named[path]
	if !known {
		out = f.find(path)
		f.named[path] = out
	}
	return out
}

func (f *Folders) find(path string) (out []string) {
	if at := f.reach(path); at != "" {
		return []string{at}
	}
	for folder := range f.all {
		if strings.HasSuffix(folder, "/"+path) {
			out = append(out, folder)
		}
	}
	slices.Sort(out)
	for _, rest, more := strings.Cut(path, "/"); more && len(out) == 0; _, rest, more = strings.Cut(rest, "/") {
		if at := f.reach(rest); at != "" {
			out = append(out, at)
		}
	}
	return out
}

// reach returns the folder of documents that a path in the root leads to, "" where it leads to no folder.
func (f *Folders) reach(path string) string {
	if f.all[path] {
		return path
	}
	if f.root == "" {
		return ""
	}
	goal, err := filepath.EvalSymlinks(filepath.Join(f.root, path))
	if err != nil {
		return ""
	}
	if info, err := os.Stat(goal); err != nil || !info.IsDir() {
		return ""
	}
	root, err := filepath.EvalSymlinks(f.root)
	if inside := PathIn(root, goal); err == nil && f.all[inside] {
		return inside
	}
	return "."
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
