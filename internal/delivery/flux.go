package delivery

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Flux are the Kustomizations of Flux of a side that may take the folders of the side.
type Flux struct {
	root           string
	kustomizations map[string]clusterobject.Object
	all            []delivery
	// byEnd is true where the side may be a folder of a repository: the paths of its objects begin above it, and lead to none of its own folders.
	byEnd bool
	// oneSource is true where all that lead to folders of the side take them from one source: another one has folders of another repository.
	oneSource bool
}

// delivery is a Kustomization of Flux, with the folder that it takes.
type delivery struct {
	clusterobject.Object
	folder string
	// installation is the folder of the cluster in which the object stands, "" where it is for all.
	installation string
}

// ReadFlux returns the Kustomizations of Flux of a folder, but for those in folders that nobody may apply.
func ReadFlux(f Folder) Flux {
	out := Flux{root: f.Root, kustomizations: f.KustomizationsByDir(), byEnd: true}
	sources := map[string]bool{}
	for _, doc := range f.Others { // each cluster may have the same object
		o := clusterobject.Read(doc)
		parts := partsIn(out.root, o.Doc)
		if o.Group != "kustomize.toolkit.fluxcd.io" || slices.ContainsFunc(parts[:len(parts)-1], isIdle) {
			continue
		}
		for _, at := range o.Takes() {
			one := delivery{Object: o, folder: Clean(at), installation: installationOf(out.root, parts)}
			isOwn := slices.ContainsFunc(f.Placed, func(doc manifest.Document) bool { return IsBelow(PathIn(out.root, metadata.FileOf(doc)), one.folder) })
			out.byEnd = out.byEnd && !isOwn
			if isOwn {
				sources[one.source()] = true
			}
			out.all = append(out.all, one)
		}
	}
	out.oneSource = len(sources) < 2
	return out
}

// source is the place from which Flux takes the folder.
func (d delivery) source() string {
	of := func(key string) any { return fieldvalue.Lookup(d.Fields, "spec", "sourceRef", key) }
	return fmt.Sprint(of("kind"), of("namespace"), of("name"))
}

// installationOf returns the folder of the cluster that the parts of a path lead into, "" for none.
func installationOf(root string, parts []string) string {
	for i := len(parts) - 2; i >= 0; i-- {
		if isStage(parts[i], false) || isHolder(root, parts[:i]) {
			return strings.Join(parts[:i+1], "/")
		}
	}
	return ""
}

// take reports whether objects of Flux take a folder. Where that has no kustomization, Flux takes all manifests in it and below (generator.go in
// fluxcd/pkg/kustomize). Where a cluster has an object that takes a folder above, it also has to have an object that takes this folder.
func (all Flux) take(folder string, on []string) bool {
	if folder == "." || !all.oneSource {
		return false
	}
	var own []delivery
	for _, d := range all.all {
		if (d.folder == folder || all.byEnd && strings.HasSuffix(d.folder, "/"+folder)) && all.comes(d.File(), on) {
			own = append(own, d)
		}
	}
	return len(own) > 0 && !slices.ContainsFunc(all.all, func(above delivery) bool {
		return IsBelow(own[0].folder, above.folder) && above.folder != own[0].folder && !slices.ContainsFunc(own, func(d delivery) bool { return all.standsBy(d, above) })
	})
}

// standsBy reports whether d is applied where above is. The file of d is in the folder of above, below that folder, or in the folder that above takes, and d is of no other
// cluster.
func (all Flux) standsBy(d, above delivery) bool {
	file, beside := PathIn(all.root, d.File()), filepath.Dir(PathIn(all.root, above.File()))
	isBeside := beside == "." || IsBelow(file, beside) || IsBelow(file, above.folder) || all.byEnd
	return isBeside && (d.installation == "" || d.installation == above.installation)
}

// Applies reports whether a file is applied. The nearest kustomization, in its folder or above, has to name the file, unless an object of Flux takes a folder between the two.
func (all Flux) Applies(file string) bool { return all.comes(file, nil) }

// comes is [Flux.Applies], where on are the files that are asked for already.
func (all Flux) comes(file string, on []string) bool {
	if slices.Contains(on, file) {
		return false
	}
	on = append(slices.Clone(on), file)
	for folder := filepath.Dir(file); ; {
		if of, found := all.kustomizations[folder]; found {
			return slices.Contains(FilesOf(of), filepath.Clean(file))
		}
		up := filepath.Dir(folder)
		if up == folder || all.take(PathIn(all.root, folder), on) {
			return true
		}
		folder = up
	}
}
