package manifestdiff

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
)

// untaken returns the files with policies of which no Kustomization of Flux and no Application of Argo CD takes the folder, as paths in the folder of the side. It
// returns none where no such object takes any of the folder, or where it is not known what one takes.
func (s Side) untaken(beside objects) (out []string) {
	var taken []string
	files := map[string]bool{}
	for _, doc := range s.Placed {
		files[pathIn(s.Root, metadata.FileOf(doc))] = true
	}
	known := false
	customized := map[string][]string{}
	for _, o := range s.kustomizations() {
		at := pathIn(s.Root, o.file())
		for _, file := range FilesOf(o.doc) {
			customized[at] = append(customized[at], pathIn(s.Root, file))
		}
	}
	for _, o := range beside.all {
		switch {
		case o.isOfKustomize():
			continue
		case o.kind == "ApplicationSet" || o.group == "fleet.cattle.io":
			return nil
		}
		for _, at := range o.takes() {
			at = cleanFolder(at)
			if at == "." || strings.ContainsAny(at, "{$") {
				return nil
			}
			known = known || slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(file string) bool { return isBelow(file, at) })
			taken = append(taken, at)
		}
	}
	if !known {
		return nil
	}
	isTaken := func(file string) bool {
		return slices.ContainsFunc(taken, func(at string) bool { return isBelow(file, at) })
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
		file := pathIn(s.Root, metadata.FileOf(doc))
		if files[file] && !isTaken(file) {
			delete(files, file) // it is told once
			out = append(out, file)
		}
	}
	return out
}

// takes returns the folders from which a tool takes manifests by an object.
func (o object) takes() (out []string) {
	switch {
	case o.group == "kustomize.toolkit.fluxcd.io" && o.kind == "Kustomization":
		at, _ := fieldvalue.Lookup(o.fields, "spec", "path").(string)
		return []string{at}
	case o.group == "helm.toolkit.fluxcd.io" && o.kind == "HelmRelease":
		if at, _ := fieldvalue.Lookup(o.fields, "spec", "chart", "spec", "chart").(string); strings.HasPrefix(at, ".") {
			out = append(out, at)
		}
	case o.group == "argoproj.io" && o.kind == "Application":
		for _, source := range o.sources() {
			if at, _ := source["path"].(string); at != "" || source["chart"] == nil {
				out = append(out, at)
			}
		}
	}
	return out
}

// sources returns the sources of an Application of Argo CD.
func (o object) sources() []map[string]any {
	out := fieldvalue.Mappings(fieldvalue.Lookup(o.fields, "spec", "sources"))
	if source, ok := fieldvalue.Lookup(o.fields, "spec", "source").(map[string]any); ok {
		out = append(out, source)
	}
	return out
}

// leavesFoldersOut reports whether an Application of Argo CD may leave out a folder of a side: it takes none below its own, unless it
// is told to. So it may where the side has no file in its folder.
func (s Side) leavesFoldersOut(o object) bool {
	for _, source := range o.sources() {
		if fieldvalue.Lookup(source, "directory", "recurse") == true {
			continue
		}
		at, _ := source["path"].(string)
		at = cleanFolder(at)
		known := false
		if at == "." {
			return true // the side may be a folder below
		}
		for _, doc := range s.Placed {
			file := pathIn(s.Root, metadata.FileOf(doc))
			switch {
			case path.Dir(file) == at:
				known = true
			case isBelow(file, at):
				return true
			}
		}
		if !known {
			return true
		}
	}
	return len(o.sources()) == 0
}

// cleanFolder returns a folder as an object writes it, as a path from the root of the repository.
func cleanFolder(at string) string { return strings.TrimPrefix(path.Clean(at), "/") }

// isBelow reports whether a file is in a folder or below it, or is what has the name itself.
func isBelow(file, folder string) bool { return file == folder || strings.HasPrefix(file, folder+"/") }
