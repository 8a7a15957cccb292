package diff

import (
	"slices"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Layer is two sides with the policies of one dialect.
type Layer struct {
	// Dialect is its name.
	Dialect     string
	Old, Recent Side
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
	ofOld, ofNew := lab.DialectsOf(old.Policies), lab.DialectsOf(recent.Policies)
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
		out = append(out, Layer{name, old.ofDialect(name), recent.ofDialect(name)})
	}
	return out
}

// ofDialect returns a side with the policies of one dialect alone.
func (s Side) ofDialect(name string) Side {
	s.Files = s.ReplacingPolicies(func(docs []manifest.Document) []manifest.Document {
		return slices.DeleteFunc(slices.Clone(docs), func(doc manifest.Document) bool { return ownerOf([]manifest.Document{doc}) != name })
	})
	s.Options.Dialect = name
	return s
}
