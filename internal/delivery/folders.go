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
	// IsPart is true where no path of the tools leads into the folders, so that these may be a part of a repository in which the paths begin elsewhere.
	IsPart bool
	// root is what the root of the side is without links, "" where it has none.
	root string
	all  map[string]bool
	// roots are the paths of the root in the repository, as the paths of tools say it that lead into the root by their end.
	roots []string
	// known has what was looked for, by the paths.
	known map[string]lead
}

// lead is where a path leads to: the folders, and the path of the root where only the end of the path leads into it.
type lead struct {
	folders []string
	root    string
}

// Folders returns the folders of the files of a side, for the paths of some tools.
func (s Folder) Folders(tools []clusterobject.Object) *Folders {
	out := &Folders{IsPart: true, all: map[string]bool{".": true}, known: map[string]lead{}}
	if root, err := filepath.EvalSymlinks(s.Root); err == nil && s.Root != "" {
		out.root = root
	}
	for _, doc := range s.Placed {
		for in := PathIn(s.Root, metadata.FileOf(doc)); !out.all[in]; in = filepath.Dir(in) {
			out.all[in] = true
		}
	}
	for _, by := range tools {
		for _, at := range by.Takes() {
			path := Literal(at)
			found := out.find(path)
			out.IsPart = out.IsPart && (path == "." || len(found.folders) == 0) // each root has that one
			if found.root != "" {
				out.roots = append(out.roots, found.root)
			}
		}
	}
	return out
}

// Named returns those of the folders that the path of a tool may mean: the one with this path, or else those whose path ends so, as an artifact of Flux may have a part
// of the repository, or with which this path ends, as the root may be a part of it. A path of the root, or of a folder above it, means the whole root. A link is what it
// leads to, and a folder without documents, or out of the root, is the whole root too: a program there may take any file.
func (f *Folders) Named(path string) []string {
	found := f.find(path).folders
	if len(found) == 0 && slices.ContainsFunc(f.roots, func(root string) bool { return IsBelow(root, path) }) {
		return []string{"."}
	}
	return found
}

// find returns where a path leads to.
func (f *Folders) find(path string) lead {
	out, known := f.known[path]
	if !known {
		out = f.look(path)
		f.known[path] = out
	}
	return out
}

func (f *Folders) look(path string) (out lead) {
	if at := f.reach(path); at != "" {
		return lead{folders: []string{at}}
	}
	for folder := range f.all {
		if strings.HasSuffix(folder, "/"+path) {
			out.folders = append(out.folders, folder)
		}
	}
	slices.Sort(out.folders)
	for _, rest, more := strings.Cut(path, "/"); more && len(out.folders) == 0; _, rest, more = strings.Cut(rest, "/") {
		if at := f.reach(rest); at != "" {
			return lead{[]string{at}, strings.TrimSuffix(path, "/"+rest)}
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
	if inside := PathIn(f.root, goal); f.all[inside] {
		return inside
	}
	return "."
}
