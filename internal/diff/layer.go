package diff

import (
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Layer is two sides with the policies of one dialect.
type Layer struct {
	// Dialect is its name.
	Dialect     string
	Old, Recent Side
	// Paths are the files of NEW with these policies, and those with Dataplanes; nil where one of them has policies of another dialect too.
	Paths []string
}

// ofSeveral is the dialect that several meshes enforce beside their own policies, in a way that no text defines.
const ofSeveral = "gateway"

const (
	// ofConnections is the dialect that judges connections beside a mesh.
	ofConnections = "cilium"
	// closed is the dialect of a mesh that lets nobody in without a policy: where its last policy goes, the mesh itself may go.
	closed = "kuma"
)

// Layers returns a pair of sides for each dialect, where the policies of one side are of two: Cilium's for connections, and those of a
// mesh for requests. A request has to pass both, so that access widens only where it widens under one. It returns nil where each side has one
// dialect, or policies that cannot be told apart so: those of cases, those of Gateway API, and those of two meshes, as a workload may go from one to the other.
func Layers(old, recent Side) (out []Layer) {
	names := func(docs []manifest.Document) (all []string) {
		for _, d := range dialects.Having[language.Dialect]() {
			if slices.ContainsFunc(docs, d.Owns) {
				all = append(all, d.Name())
			}
		}
		return all
	}
	ofOld, ofNew := names(old.Policies), names(recent.Policies)
	all := slices.Concat(ofOld, ofNew)
	if len(ofOld) < 2 && len(ofNew) < 2 || old.HasCases || recent.HasCases || slices.Contains(all, ofSeveral) {
		return nil
	}
	slices.Sort(all)
	all = slices.Compact(all)
	meshes := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name == ofConnections })
	if len(meshes) > 1 || slices.Contains(ofOld, closed) && !slices.Contains(ofNew, closed) {
		return nil
	}
	for _, name := range all {
		out = append(out, Layer{name, old.ofDialect(name), recent.ofDialect(name), recent.pathsOf(name)})
	}
	return out
}

// pathsOf returns the files with the policies of one dialect, and with the Dataplanes; nil where one of them has policies of another dialect too.
func (s Side) pathsOf(dialect string) []string {
	own, others := map[string]bool{}, map[string]bool{}
	for _, doc := range s.Written {
		own[metadata.FileOf(doc)] = true
	}
	for _, doc := range s.Policies {
		if ownerOf([]manifest.Document{doc}) == dialect {
			own[metadata.FileOf(doc)] = true
		} else {
			others[metadata.FileOf(doc)] = true
		}
	}
	for file := range own {
		if others[file] {
			return nil
		}
	}
	return slices.Sorted(maps.Keys(own))
}

// ofDialect returns a side with the policies of one dialect alone.
func (s Side) ofDialect(name string) Side {
	s.Files = s.ReplacingPolicies(func(docs []manifest.Document) []manifest.Document {
		return slices.DeleteFunc(slices.Clone(docs), func(doc manifest.Document) bool { return ownerOf([]manifest.Document{doc}) != name })
	})
	s.Options.Dialect = name
	return s
}
