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
	// roots are the paths of the root in the repository, as the paths of tools say it that lead into the root by their end, and isPart is true where none leads into it.
	roots  []string
	isPart bool
	// named has what [Folders.Named] has found, by the paths.
	named map[string][]string
}

// Folders returns the folders of the files of a side, for the paths of some tools.
func (s Folder) Folders(tools []clusterobject.Object) *Folders {
	out := &Folders{root: s.Root, all: map[string]bool{".": true}, isPart: true, named: map[string][]string{}}
	for _, doc := range s.Placed {
		for in := PathIn(s.Root, metadata.FileOf(doc)); !out.all[in]; in = filepath.Dir(in) {
			out.all[in] = true
		}
	}
	for _, by := range tools {
		for _, at := range by.Takes() {
			path := Literal(at)
			found, above := out.find(path)
			out.isPart = out.isPart && (path == "." || len(found) == 0) // each root has that one
			if above != "" {
				out.roots = append(out.roots, above)
			}
		}
	}
	return out
}

// Named returns those of the folders that the path of a tool may mean: the one with this path, or else those whose path ends so, as an artifact of Flux may have a part
// of the repository, or with which this path ends, as the root may be a part of it. A path of the root, or of a folder above it, means the whole root. A link is what it
// leads to, and a folder without documents, or out of the root, is the whole root too: a program there may take any file.
func (f *Folders) Named(path string) []string {
	out, known := f.named[path]
	if !known {
		out, _ = f.find(path)
		if len(out) == 0 && slices.ContainsFunc(f.roots, func(root string) bool { return IsBelow(root, path) }) {
			out = []string{"."}
		}
		f.named[path] = out
	}
	return out
}

// find returns the folders, and what stands in front of the end of a path by which it leads into the root.
func (f *Folders) find(path string) (out []string, above string) {
	if at := f.reach(path); at != "" {
		return []string{at}, ""
	}
	for folder := range f.all {
		if strings.HasSuffix(folder, "/"+path) {
			out = append(out, folder)
		}
	}
	slices.Sort(out)
	for _, rest, more := strings.Cut(path, "/"); more && len(out) == 0; _, rest, more = strings.Cut(rest, "/") {
		if at := f.reach(rest); at != "" {
			return []string{at}, strings.TrimSuffix(path, "/"+rest)
		}
	}
	return out, ""
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

// ArePart reports whether no path of the tools leads into the folders, so that these may be a part of a repository in which the paths begin elsewhere.
func (f *Folders) ArePart() bool { return f.isPart }
