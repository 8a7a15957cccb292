package delivery

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Installation is one of several clusters, or stages, of which each has policies in a folder or a file of its own.
type Installation struct {
	// Name is its folder or its file, as a path in the folder of the side.
	Name string
	// others are the names of those beside it, and roots the folders of the two sides.
	others []string
	roots  [2]string
	// why says why nobody may apply the others, "" where they are of other clusters.
	why string
}

// String says why its policies are compared by themselves.
func (i Installation) String() string {
	const most = 3
	if names := i.others; i.why != "" {
		if more := len(names) - most; more > 1 {
			names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", more))
		}
		return strings.Join(names, ", ") + " may not be applied: " + i.why
	}
	return i.Name + " may be of another cluster than the folders beside it"
}

// holders are the names of folders that have one folder for each cluster or stage.
var holders = fieldpath.SetOf(`cluster clusters customers datacenters env envs environment environments fleet fleets installations locations meshes overlay overlays region regions
	sites stage stages tenant tenants zone zones`)

// idleFolders are the names of folders whose manifests nobody may apply. So it is with those that begin with a dot, such as .github.
var idleFolders = fieldpath.SetOf(`archive archived attic backup backups deprecated disabled draft drafts example examples inactive obsolete old retired sample samples
	testdata tests trash unused wip`)

// isIdle reports whether nobody may apply a folder, by one word of its name.
func isIdle(folder string) bool {
	return strings.HasPrefix(folder, ".") || slices.ContainsFunc(wordsIn(folder), func(word string) bool { return idleFolders[word] })
}

// wordsIn returns the words of a name, as in prod-eu.
func wordsIn(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == '.' })
}

// shared are the names of folders with what is for all clusters.
var shared = fieldpath.SetOf("base bases common component components global shared")

// stages are words in the names of folders, and the names of files, of which each is for one cluster or stage.
var stages = fieldpath.SetOf(`acceptance canary dev devel development int integration live nonprod perf preprod preproduction prd pre prod production qa sandbox stage
	staging stg test testing tst uat`)

// region is the name of a region of a cloud, such as eu-west-1 and europe-west4.
var region = regexp.MustCompile(`^(af|ap|asia|australia|ca|cn|eu|europe|il|me|northamerica|sa|southamerica|us)-[a-z]+-?[0-9]+[a-z]?$`)

// OfOld and OfRecent return the policies of one side that the cluster may have: all but those of the others.
func (i Installation) OfOld(policies []manifest.Document) []manifest.Document {
	return i.policiesIn(i.roots[0], policies)
}

// OfRecent is [Installation.OfOld] for the second side.
func (i Installation) OfRecent(policies []manifest.Document) []manifest.Document {
	return i.policiesIn(i.roots[1], policies)
}

func (i Installation) policiesIn(root string, policies []manifest.Document) []manifest.Document {
	return slices.DeleteFunc(slices.Clone(policies), func(doc manifest.Document) bool {
		file := PathIn(root, metadata.FileOf(doc))
		return slices.ContainsFunc(i.others, func(other string) bool { return IsBelow(file, other) })
	})
}

// Installations returns the clusters and stages that the names of folders and files tell apart: those below a folder
// such as clusters, those of which several have names such as dev and prod, and those that have one workload, account or Service each, which no cluster
// has twice. So it does with what stands outside of folders that nobody may apply, and with what tools take by their objects.
// A cluster is there once more without what is not applied so, and without the clusters beside the folders that it is in. Objects are those of the second
// side beside the policies.
func Installations(old, recent Folder, objects clusterobject.List) (out []Installation) {
	beside, idle := map[string]map[string]bool{}, map[string]bool{}
	add := func(parent, name string) {
		if beside[parent] == nil {
			beside[parent] = map[string]bool{}
		}
		beside[parent][name] = true
	}
	for _, side := range []Folder{old, recent} {
		for _, doc := range side.Placed {
			parts := partsIn(side.Root, doc)
			for i, part := range parts {
				parent, name := strings.Join(parts[:i], "/"), strings.Join(parts[:i+1], "/")
				isFile := i == len(parts)-1
				if isFile && isStage(strings.TrimSuffix(part, filepath.Ext(part)), isFile) || !isFile && (isStage(part, isFile) || isHolder(side.Root, parts[:i])) {
					add(parent, name)
				}
				if !isFile && isIdle(part) && !isBelowAny(parent, idle) {
					idle[name] = true
				}
			}
		}
		addTwins(side, add)
	}
	roots := [2]string{old.Root, recent.Root}
	unapplied := slices.Sorted(maps.Keys(idle))
	if len(unapplied) > 0 {
		out = append(out, Installation{others: unapplied, roots: roots, why: "so its name says"})
	}
	if untaken := recent.untaken(objects); len(untaken) > 0 {
		out = append(out, Installation{others: untaken, roots: roots, why: "no Kustomization of Flux and no Application of Argo CD takes it"})
		unapplied = slices.Concat(unapplied, untaken)
	}
	for _, parent := range slices.Sorted(maps.Keys(beside)) {
		names := slices.Sorted(maps.Keys(beside[parent]))
		for i, name := range names {
			if len(names) < 2 {
				continue
			}
			others := slices.Delete(slices.Clone(names), i, i+1)
			out = append(out, Installation{Name: name, others: others, roots: roots})
			if more := slices.Concat(besideFoldersOf(parent, beside), notAbove(unapplied, name)); len(more) > 0 {
				out = append(out, Installation{Name: name, others: slices.Concat(others, more), roots: roots})
			}
		}
	}
	return out
}

// isBelowAny reports whether a folder is one of some folders, or below one.
func isBelowAny(folder string, of map[string]bool) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(of)), func(one string) bool { return IsBelow(folder, one) })
}

// besideFoldersOf returns the clusters beside a folder and beside each folder that it is in, such as dev where the folder is prod.
func besideFoldersOf(folder string, beside map[string]map[string]bool) (out []string) {
	for at := folder; at != ""; {
		parent := at[:max(0, strings.LastIndex(at, "/"))]
		for _, name := range slices.Sorted(maps.Keys(beside[parent])) {
			if name != at && beside[parent][at] {
				out = append(out, name)
			}
		}
		at = parent
	}
	return out
}

// notAbove returns those of some folders that a folder is not in.
func notAbove(folders []string, folder string) []string {
	return slices.DeleteFunc(slices.Clone(folders), func(one string) bool { return IsBelow(folder, one) })
}

// addTwins adds the folders of which two have the same workload, account or Service: each is of another cluster.
func addTwins(side Folder, add func(parent, name string)) {
	places := map[string][][]string{}
	for _, doc := range side.Placed {
		switch o := clusterobject.Read(doc); o.Category {
		case clusterobject.Workload, clusterobject.Account, clusterobject.Service:
			parts := partsIn(side.Root, doc)
			places[o.Key] = append(places[o.Key], parts[:len(parts)-1])
		}
	}
	for _, all := range places {
		for i, a := range all {
			for _, b := range all[:i] {
				n := 0
				for n < len(a) && n < len(b) && a[n] == b[n] {
					n++
				}
				if n < len(a) && n < len(b) && !shared[a[n]] && !shared[b[n]] {
					parent := strings.Join(a[:n], "/")
					add(parent, strings.Join(a[:n+1], "/"))
					add(parent, strings.Join(b[:n+1], "/"))
				}
			}
		}
	}
}

// isHolder reports whether a folder has one folder for each cluster.
func isHolder(root string, parts []string) bool {
	name := filepath.Base(root)
	if len(parts) > 0 {
		name = parts[len(parts)-1]
	}
	return holders[strings.ToLower(name)]
}

// isStage reports whether a folder or a file has the name of a cluster or a stage. One word of a folder is enough.
func isStage(name string, whole bool) bool {
	name = strings.ToLower(name)
	words := wordsIn(name)
	if whole {
		words = []string{name}
	}
	return slices.ContainsFunc(words, func(word string) bool { return stages[word] }) || region.MatchString(name) || strings.HasPrefix(name, "cluster") && !holders[name]
}
