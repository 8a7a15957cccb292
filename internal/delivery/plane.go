package delivery

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// placement is a tool that gives objects without a namespace one of a control plane.
type placement struct {
	// namespace is "" where a parameter stands for it: it may be the name of each folder in which the object stands.
	namespace string
	// folder is what the tool takes, as a path in the root.
	folder string
}

// namespaceOf is the namespace that a placement gives to what stands in a file, by one of the ways to it, "" where that is none of a control plane.
func (p placement) namespaceOf(ways []string) string {
	if p.folder != "." && !slices.ContainsFunc(ways, func(way string) bool { return IsBelow(way, p.folder) }) {
		return ""
	}
	if p.namespace != "" {
		return p.namespace
	}
	var parts []string
	for _, way := range ways {
		parts = append(parts, strings.Split(filepath.Dir(way), string(filepath.Separator))...)
	}
	if i := slices.IndexFunc(parts, clusterobject.IsOfPlane); i >= 0 {
		return parts[i]
	}
	return ""
}

// InPlanes returns the objects of a list, each in the namespace of the control plane, or of the tool that applies or signs objects, in which Flux, Argo CD, Fleet or
// Kustomize places it. That is so for an object of a kind with namespaces that names none. Where no path of a tool leads into the folder, the folder may be a part of a repository, and each path counts.
func (f Folder) InPlanes(all clusterobject.List) clusterobject.List {
	placements := f.placements(all)
	if len(placements) == 0 {
		return all
	}
	reaches := f.Reaches()
	return all.Map(func(o clusterobject.Object) clusterobject.Object {
		if !o.IsNamespaced() || o.Written() != "" || o.IsNone() {
			return o
		}
		ways := reaches.Ways(o.File())
		for _, p := range placements {
			if namespace := p.namespaceOf(ways); namespace != "" {
				return o.PlacedIn(namespace)
			}
		}
		for _, by := range reaches.WithComponents(reaches.Takers(o.File())) {
			if of := planesIn(fieldvalue.Lookup(by.Fields, "namespace")); len(of) > 0 {
				return o.PlacedIn(of[0])
			}
		}
		return o
	})
}

// placements returns the tools among some objects that give others the namespace of a control plane: of a kustomization, the folder in which it stands.
func (f Folder) placements(all clusterobject.List) (out []placement) {
	var byTools []placement
	tools := all.Deliveries()
	for _, by := range tools {
		if by.IsOfKustomize() || by.IsFleetFile() {
			for _, namespace := range planesIn(fieldvalue.Lookup(by.Fields, "namespace"), fieldvalue.Lookup(by.Fields, "defaultNamespace")) {
				out = append(out, placement{namespace, PathIn(f.Root, filepath.Dir(by.File()))})
			}
			continue
		}
		for _, one := range append(by.Applications(), by) {
			for _, namespace := range givenBy(one) {
				for _, at := range one.Takes() {
					byTools = append(byTools, placement{namespace, Literal(at)})
				}
			}
		}
	}
	if len(byTools) == 0 {
		return out
	}
	folders := f.Folders(tools)
	for _, p := range byTools {
		in := folders.Named(p.folder)
		if folders.IsPart {
			in = []string{"."}
		}
		for _, folder := range in {
			out = append(out, placement{p.namespace, folder})
		}
	}
	return out
}

// givenBy returns the namespaces of control planes that an object of Flux or Argo CD gives to what it takes, "" for a parameter. A release has its own namespace
// where it names no other one.
func givenBy(o clusterobject.Object) (out []string) {
	values := []any{fieldvalue.Lookup(o.Fields, "spec", "targetNamespace"), fieldvalue.Lookup(o.Fields, "spec", "destination", "namespace")}
	if o.Kind == "HelmRelease" && values[0] == nil {
		values = append(values, o.Namespace)
	}
	for _, source := range o.Sources() {
		values = append(values, fieldvalue.Lookup(source, "kustomize", "namespace"))
	}
	if slices.ContainsFunc(values, func(value any) bool { text, _ := value.(string); return parameterIn(text) < len(text) }) {
		out = append(out, "")
	}
	return append(out, planesIn(values...)...)
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
