package delivery

import (
	"path/filepath"
	"slices"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
)

// placement is a tool that gives objects without a namespace one of a control plane.
type placement struct {
	namespace string
	// folder is what the tool takes, as a path in the root.
	folder string
}

// InPlanes returns the objects of a list, each in the namespace of the control plane, or of the tool that applies or signs objects, in which Flux, Argo CD or
// Kustomize places it. That is so for an object of a kind with namespaces that names none. Where no path of a tool leads into the folder, the folder may be a part of a repository, and each path counts.
func (f Folder) InPlanes(all clusterobject.List) clusterobject.List {
	placements, kustomized := f.placements(all)
	if len(placements) == 0 {
		return all
	}
	reaches := &Reaches{}
	if kustomized {
		reaches = f.Reaches()
	}
	return all.Map(func(o clusterobject.Object) clusterobject.Object {
		if !o.IsNamespaced() || o.Written() != "" || o.IsNone() {
			return o
		}
		file := PathIn(f.Root, o.File())
		for _, p := range placements {
			if p.folder == "." || IsBelow(file, p.folder) {
				return o.PlacedIn(p.namespace)
			}
		}
		for _, by := range reaches.Takers(o.File()) {
			if of := planesIn(fieldvalue.Lookup(by.Fields, "namespace")); len(of) > 0 {
				return o.PlacedIn(of[0])
			}
		}
		return o
	})
}

// placements returns the tools among some objects that give others the namespace of a control plane, and whether a kustomization is one of them: of
// that, the folder in which it stands.
func (f Folder) placements(all clusterobject.List) (out []placement, kustomized bool) {
	var byTools []placement
	for _, by := range all.All {
		if by.IsOfKustomize() {
			for _, namespace := range planesIn(fieldvalue.Lookup(by.Fields, "namespace")) {
				out, kustomized = append(out, placement{namespace, PathIn(f.Root, filepath.Dir(by.File()))}), true
			}
			continue
		}
		named := []any{fieldvalue.Lookup(by.Fields, "spec", "targetNamespace"), fieldvalue.Lookup(by.Fields, "spec", "destination", "namespace")}
		for _, source := range by.Sources() {
			named = append(named, fieldvalue.Lookup(source, "kustomize", "namespace"))
		}
		for _, namespace := range planesIn(named...) {
			for _, at := range by.Takes() {
				byTools = append(byTools, placement{namespace, Clean(at)})
			}
		}
	}
	if len(byTools) > 0 && f.isPart(all) {
		for i := range byTools {
			byTools[i].folder = "."
		}
	}
	return append(out, byTools...), kustomized
}

// planesIn returns those of some values that are the namespace of a control plane.
func planesIn(values ...any) (out []string) {
	for _, value := range values {
		if name, _ := value.(string); clusterobject.IsOfPlane(name) {
			out = append(out, name)
		}
	}
	return out
}

// isPart reports whether no path of a tool leads into the folder, so that it may be a part of a repository.
func (f Folder) isPart(all clusterobject.List) bool {
	folders := map[string]bool{".": true}
	for _, doc := range f.Placed {
		for at := PathIn(f.Root, metadata.FileOf(doc)); !folders[at]; at = filepath.Dir(at) {
			folders[at] = true
		}
	}
	return !slices.ContainsFunc(all.All, func(by clusterobject.Object) bool {
		return slices.ContainsFunc(by.Takes(), func(at string) bool { return folders[Clean(at)] })
	})
}
