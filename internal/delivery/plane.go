package delivery

import (
	"path/filepath"
	"slices"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// placement is a tool that gives objects without a namespace one of a control plane.
type placement struct {
	namespace string
	// folder is what the tool takes, as a path in the root.
	folder string
	// files are single files and folders that a kustomization names, beside its folder.
	files []string
}

// InPlanes returns the objects of a list, each in the namespace of the control plane, or of the tool that applies or signs objects, in which Flux, Argo CD or
// Kustomize places it. That is so for an object of a kind with namespaces that names none. Where no path of a tool leads into the folder, the folder may be a part of a repository, and each path counts.
func (f Folder) InPlanes(all clusterobject.List) clusterobject.List {
	placements := f.placements(all)
	if len(placements) == 0 {
		return all
	}
	return all.Map(func(o clusterobject.Object) clusterobject.Object {
		if !o.IsNamespaced() || o.Written() != "" || o.IsNone() {
			return o
		}
		file := PathIn(f.Root, o.File())
		for _, p := range placements {
			if p.folder == "." || IsBelow(file, p.folder) || slices.ContainsFunc(p.files, func(of string) bool { return IsBelow(file, of) }) {
				return o.PlacedIn(p.namespace)
			}
		}
		return o
	})
}

// placements returns the tools among some objects that give others the namespace of a control plane.
func (f Folder) placements(all clusterobject.List) (out []placement) {
	add := func(namespace any, folder string, files ...string) {
		if name, _ := namespace.(string); clusterobject.IsOfPlane(name) {
			out = append(out, placement{name, folder, files})
		}
	}
	isOwn := func(folder string) bool {
		return folder == "." || slices.ContainsFunc(f.Placed, func(doc manifest.Document) bool { return IsBelow(PathIn(f.Root, metadata.FileOf(doc)), folder) })
	}
	isPart := true
	for _, by := range all.All {
		for _, at := range by.Takes() {
			isPart = isPart && !isOwn(Clean(at))
		}
	}
	for _, by := range all.All {
		if by.IsOfKustomize() {
			if namespace := fieldvalue.Lookup(by.Fields, "namespace"); namespace != nil {
				add(namespace, PathIn(f.Root, filepath.Dir(by.File())), f.takenBy(by)...)
			}
			continue
		}
		for _, at := range by.Takes() {
			if at = Clean(at); isPart {
				at = "."
			}
			for _, field := range [][]string{{"spec", "targetNamespace"}, {"spec", "destination", "namespace"}} {
				add(fieldvalue.Lookup(by.Fields, field...), at)
			}
			for _, source := range by.Sources() {
				add(fieldvalue.Lookup(source, "kustomize", "namespace"), at)
			}
		}
	}
	return out
}

// takenBy returns the files and folders that a kustomization names, and those that are named by the kustomizations in these, as paths in the root.
func (f Folder) takenBy(by clusterobject.Object) (out []string) {
	byDir, seen := f.KustomizationsByDir(), map[string]bool{}
	for waiting := FilesOf(by.Doc); len(waiting) > 0; waiting = waiting[1:] {
		file := waiting[0]
		if seen[file] {
			continue
		}
		seen[file] = true
		out = append(out, PathIn(f.Root, file))
		if below, found := byDir[file]; found {
			waiting = append(waiting, FilesOf(below.Doc)...)
		}
	}
	return out
}
