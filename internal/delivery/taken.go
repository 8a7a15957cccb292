package delivery

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
)

// untaken returns the files with policies of which no Kustomization of Flux and no Application of Argo CD takes the folder, as paths in the folder of the side. It
// returns none where no such object takes any of the folder, or where it is not known what one takes.
func (s Folder) untaken(beside clusterobject.List) (out []string) {
	var taken []string
	files := map[string]bool{}
	for _, doc := range s.Placed {
		files[PathIn(s.Root, metadata.FileOf(doc))] = true
	}
	known := false
	customized := map[string][]string{}
	for _, o := range s.Kustomizations() {
		at := PathIn(s.Root, o.File())
		for _, file := range FilesOf(o) {
			customized[at] = append(customized[at], PathIn(s.Root, file))
		}
	}
	for _, o := range beside.All {
		switch {
		case o.IsOfKustomize():
			continue
		case o.Kind == "ApplicationSet" || o.Group == "fleet.cattle.io":
			return nil
		}
		for _, at := range o.Takes() {
			at = Clean(at)
			if at == "." || strings.ContainsAny(at, "{$") {
				return nil
			}
			known = known || slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(file string) bool { return IsBelow(file, at) })
			taken = append(taken, at)
		}
	}
	if !known {
		return nil
	}
	isTaken := func(file string) bool {
		return slices.ContainsFunc(taken, func(at string) bool { return IsBelow(file, at) })
	}
	// A kustomization that is taken takes what it names, which may be other kustomizations.
	for found := true; found; {
		found = false
		for _, at := range slices.Sorted(maps.Keys(customized)) {
			if isTaken(at) {
				taken, found = append(taken, customized[at]...), true
				delete(customized, at)
			}
		}
	}
	for _, doc := range s.Policies {
		file := PathIn(s.Root, metadata.FileOf(doc))
		if files[file] && !isTaken(file) {
			delete(files, file) // it is told once
			out = append(out, file)
		}
	}
	return out
}

// LeavesFoldersOut reports whether an Application of Argo CD may leave out a folder of a side: it takes none below its own, unless it
// is told to. So it may where the side has no file in its folder.
func (s Folder) LeavesFoldersOut(o clusterobject.Object) bool {
	for _, source := range o.Sources() {
		if fieldvalue.Lookup(source, "directory", "recurse") == true {
			continue
		}
		at, _ := source["path"].(string)
		at = Clean(at)
		known := false
		if at == "." {
			return true // the side may be a folder below
		}
		for _, doc := range s.Placed {
			file := PathIn(s.Root, metadata.FileOf(doc))
			switch {
			case path.Dir(file) == at:
				known = true
			case IsBelow(file, at):
				return true
			}
		}
		if !known {
			return true
		}
	}
	return len(o.Sources()) == 0
}
