package manifestdiff

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// deliveries are the Kustomizations of Flux of a side that may take the folders of the side.
type deliveries struct {
	root           string
	kustomizations map[string]object
	all            []delivery
	// byEnd is true where the side may be a folder of a repository: the paths of its objects begin above it, and lead to none of its own folders.
	byEnd bool
	// oneSource is true where all that lead to folders of the side take them from one source: another one has folders of another repository.
	oneSource bool
}

// delivery is a Kustomization of Flux, with the folder that it takes.
type delivery struct {
	object
	folder string
	// installation is the folder of the cluster in which the object stands, "" where it is for all.
	installation string
}

// deliveriesOf returns the Kustomizations of Flux of the second side, but for those in folders that nobody may apply.
func (c *comparison) deliveriesOf(kustomizations map[string]object) deliveries {
	out := deliveries{root: c.recent.Root, kustomizations: kustomizations, byEnd: true}
	sources := map[string]bool{}
	for _, doc := range c.recent.Others { // each cluster may have the same object
		o := objectOf(doc)
		parts := partsIn(out.root, o.doc)
		if o.group != "kustomize.toolkit.fluxcd.io" || slices.ContainsFunc(parts[:len(parts)-1], isIdle) {
			continue
		}
		for _, at := range o.takes() {
			one := delivery{object: o, folder: cleanFolder(at), installation: installationOf(out.root, parts)}
			isOwn := slices.ContainsFunc(c.recent.Placed, func(doc manifest.Document) bool { return isBelow(pathIn(out.root, metadata.FileOf(doc)), one.folder) })
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
	of := func(key string) any { return fieldvalue.Lookup(d.fields, "spec", "sourceRef", key) }
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
func (all deliveries) take(folder string, on []string) bool {
	if folder == "." || !all.oneSource {
		return false
	}
	var own []delivery
	for _, d := range all.all {
		if (d.folder == folder || all.byEnd && strings.HasSuffix(d.folder, "/"+folder)) && all.comes(d.file(), on) {
			own = append(own, d)
		}
	}
	return len(own) > 0 && !slices.ContainsFunc(all.all, func(above delivery) bool {
		return isBelow(own[0].folder, above.folder) && above.folder != own[0].folder && !slices.ContainsFunc(own, func(d delivery) bool { return all.standsBy(d, above) })
	})
}

// standsBy reports whether d is applied where above is. The file of d is in the folder of above, below that folder, or in the folder that above takes, and d is of no other
// cluster.
func (all deliveries) standsBy(d, above delivery) bool {
	file, beside := pathIn(all.root, d.file()), filepath.Dir(pathIn(all.root, above.file()))
	isBeside := beside == "." || isBelow(file, beside) || isBelow(file, above.folder) || all.byEnd
	return isBeside && (d.installation == "" || d.installation == above.installation)
}

// comes reports whether a file is applied. The nearest kustomization, in its folder or above, has to name the file, unless an object of Flux takes a folder between the two.
// On are the files that are asked for already.
func (all deliveries) comes(file string, on []string) bool {
	if slices.Contains(on, file) {
		return false
	}
	on = append(slices.Clone(on), file)
	for folder := filepath.Dir(file); ; {
		if of, found := all.kustomizations[folder]; found {
			return slices.Contains(FilesOf(of.doc), filepath.Clean(file))
		}
		up := filepath.Dir(folder)
		if up == folder || all.take(pathIn(all.root, folder), on) {
			return true
		}
		folder = up
	}
}
