package manifestdiff

import (
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/internal/fieldpath"
)

const toolFile = "a file of a tool that changes manifests or leaves some out"

// compareFiles compares the files of tools, and names what Kustomize may take although it is not read.
func (c *comparison) compareFiles() (out []Change) {
	out = append(otherFiles(c.old.Files, c.recent.Files, toolFile), otherFiles(c.old.Sources, c.recent.Sources, "a file of which a tool may make manifests")...)
	for _, place := range slices.Concat(c.recent.Absent, c.old.Absent) {
		out = append(out, Change{place, "what a kustomization names", "is not in the folder: write out with kustomize build what is applied"})
	}
	for _, name := range slices.Concat(c.recent.WithoutFiles, c.old.WithoutFiles) {
		out = append(out, Change{name, "a folder without files", "may be a module of Git that is not checked out: check it out, or delete the folder"})
	}
	if !c.customized {
		return out
	}
	for _, name := range slices.Concat(c.recent.PassedOver, c.old.PassedOver) {
		out = append(out, Change{name, "a file that is not read because of its name", "may be named by a kustomization"})
	}
	return out
}

// otherFiles names the files of one side alone, and those that are not alike.
func otherFiles(old, recent map[string]string, what string) (out []Change) {
	for _, name := range slices.Sorted(maps.Keys(recent)) {
		if was, found := old[name]; !found {
			out = append(out, Change{name, what, isNew})
		} else if was != recent[name] {
			out = append(out, Change{name, what, isChanged})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if _, found := recent[name]; !found {
			out = append(out, Change{name, what, isGone})
		}
	}
	return out
}

// harmlessKeys are the keys of a kustomization by which it changes no policy.
var harmlessKeys = fieldpath.SetOf("apiVersion kind metadata resources bases images replicas configMapGenerator secretGenerator generatorOptions sortOptions buildMetadata")

// reaches returns what the kustomizations of the second side take.
func (c *comparison) reaches() *delivery.Reaches {
	if c.allReaches == nil {
		c.allReaches = c.recent.folder().Reaches()
	}
	return c.allReaches
}

// compareKustomized names what Kustomize does with policies of which some have changed: it changes them, or
// leaves one out that hides what another one lets in.
func (c *comparison) compareKustomized(policies clusterobject.List) (out []Change) {
	folder := c.recent.folder()
	kustomizations := folder.KustomizationsByDir()
	for _, o := range folder.Kustomizations() {
		keys, _ := o.Fields.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if !harmlessKeys[key] && !c.changesNoPolicy(o, key, keys[key], kustomizations) {
				out = append(out, Change{o.Doc.Place(key), o.String(), "may change policies, and some of them have changed: write out with kustomize build what is applied"})
			}
		}
	}
	if len(kustomizations) == 0 {
		return nil
	}
	by := delivery.ReadFlux(folder)
	for _, o := range policies.All {
		if !by.Applies(o.File()) {
			out = append(out, changeOf(o, "is not named by the kustomization of its folder, and policies have changed"))
		}
	}
	return out
}
