package manifestdiff

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/policy/manifest"
)

// FilesOf returns the files and folders that a kustomization may name, as paths beside it; nil for another
// document. A URL is none of them: it stays what it is as long as the kustomization does.
func FilesOf(doc manifest.Document) (out []string) {
	o := objectOf(doc)
	if !o.isOfKustomize() {
		return nil
	}
	var add func(value any)
	add = func(value any) {
		switch value := value.(type) {
		case string:
			if value != "" && !strings.Contains(value, "://") && !strings.ContainsAny(value, "\n?") && !filepath.IsAbs(value) {
				_, file, isPair := strings.Cut(value, "=")
				if !isPair {
					file = value
				}
				out = append(out, filepath.Join(filepath.Dir(o.file()), file))
			}
		case []any:
			for _, item := range value {
				add(item)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				add(value[key])
			}
		}
	}
	add(o.fields)
	return out
}

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
var harmlessKeys = fields("apiVersion kind metadata resources bases images replicas configMapGenerator secretGenerator generatorOptions sortOptions buildMetadata")

// kustomizations returns those of a side. Several folders may have one that is alike, and each is about its own folder.
func (s Side) kustomizations() (out []object) {
	for _, doc := range s.Others {
		if rendering.IsKustomization(doc) {
			out = append(out, objectOf(doc))
		}
	}
	return out
}

// takenNames returns what a kustomization takes, as it is written: files, folders and repositories.
func (o object) takenNames() (out []string) {
	for _, key := range []string{"resources", "bases", "components"} {
		out = append(out, fieldvalue.Texts(fieldvalue.Lookup(o.fields, key))...)
	}
	return out
}

// compareKustomized names what Kustomize does with policies of which some have changed: it changes them, or
// leaves one out that hides what another one lets in.
func (c *comparison) compareKustomized(policies objects) (out []Change) {
	kustomizations := map[string]object{}
	all := c.recent.kustomizations()
	for _, o := range all {
		kustomizations[filepath.Dir(o.file())] = o
	}
	for _, o := range all {
		keys, _ := o.fields.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if !harmlessKeys[key] && !c.changesNoPolicy(o, key, keys[key], kustomizations) {
				out = append(out, Change{o.doc.Place(key), o.String(), "may change policies, and some of them have changed: write out with kustomize build what is applied"})
			}
		}
	}
	if len(kustomizations) == 0 {
		return nil
	}
	by := c.deliveriesOf(kustomizations)
	for _, o := range policies.all {
		if !by.comes(o.file(), nil) {
			out = append(out, o.change("is not named by the kustomization of its folder, and policies have changed"))
		}
	}
	return out
}
