package diff

import (
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Layer is two sides with the policies of one dialect.
type Layer struct {
	// Dialect is its name.
	Dialect     string
	Old, Recent Side
}

// Layers returns a pair of sides for each dialect, where the policies of one side are of two: Cilium's for connections, and those of a
// mesh for requests. A request has to pass both, so that access widens only where it widens under one. It returns nil where each side has one
// dialect, or policies that cannot be told apart so: those of cases, those of Gateway API, and those of two meshes, as a workload may go from one to the other.
func Layers(old, recent Side) (out []Layer) {
	ofOld, ofNew := dialects.OwnersOf(old.Policies), dialects.OwnersOf(recent.Policies)
	if len(ofOld) < 2 && len(ofNew) < 2 || old.HasCases || recent.HasCases {
		return nil
	}
	meshes := 0
	for _, d := range dialects.OwnersOf(slices.Concat(old.Policies, recent.Policies)) {
		layered, ok := d.(capability.Layered)
		if !ok {
			return nil
		}
		if layered.Layer().Closed && slices.Contains(ofOld, d) && !slices.Contains(ofNew, d) {
			return nil
		}
		one := Layer{d.Name(), old.ofDialect(d), recent.ofDialect(d)}
		if layered.Layer().BesideMesh {
			// A connection is judged before the requests in it.
			out = slices.Insert(out, 0, one)
			continue
		}
		meshes++
		out = append(out, one)
	}
	if meshes > 1 {
		return nil
	}
	return out
}

// ofDialect returns a side with the policies of one dialect alone.
func (s Side) ofDialect(d language.Dialect) Side {
	s.Files = s.ReplacingPolicies(func(docs []manifest.Document) []manifest.Document {
		return slices.DeleteFunc(slices.Clone(docs), func(doc manifest.Document) bool { return !d.Owns(doc) })
	})
	s.Options.Dialect = d.Name()
	return s
}
