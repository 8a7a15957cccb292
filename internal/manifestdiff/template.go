package manifestdiff

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/assumption"
	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/policy/manifest"
)

// compareTemplates names the policies with placeholders, and the files with instructions of template tools, of
// either side: such a text says neither what was applied nor what is.
func (c *comparison) compareTemplates() (out []Change) {
	seen := map[string]bool{}
	for _, doc := range slices.Concat(c.recent.Policies, c.old.Policies) {
		if found, has := rendering.PlaceholderOf(doc); has {
			o := clusterobject.Read(doc)
			if !seen[o.Key] {
				seen[o.Key] = true
				out = append(out, Change{doc.Place(found.Field), o.String(), fmt.Sprintf("has %q, which a template tool may replace, and %s", found.Text, rendering.Remedy)})
			}
		}
	}
	for _, side := range []Side{c.recent, c.old} {
		found := rendering.InstructionsOf(slices.Concat(side.Policies, side.Dataplanes, slices.DeleteFunc(slices.Clone(side.Others), saysNothing)))
		for _, found := range append(found, overlaysOf(side)...) {
			effect := fmt.Sprintf("stands in a file with the comment %q, which a template tool reads, and %s", found.Text, rendering.Remedy)
			out = append(out, Change{found.Place, found.Document.String(), effect})
		}
	}
	return out
}

// overlaysOf returns the instructions of files of ytt by which it changes other files. The documents there say nothing by themselves.
func overlaysOf(side Side) []rendering.Instruction {
	silent := slices.DeleteFunc(slices.Clone(side.Others), func(doc manifest.Document) bool { return !saysNothing(doc) })
	return slices.DeleteFunc(rendering.InstructionsOf(silent), func(found rendering.Instruction) bool { return !found.IsOverlay() })
}

// saysNothing reports whether nothing of a document is taken for true: it is no object, or one of which each change is named. A template tool
// makes the same of it as before.
func saysNothing(doc manifest.Document) bool {
	o := clusterobject.Read(doc)
	return o.IsNone() || o.Category == clusterobject.Unknown && !o.IsOfTool() && !assumption.IsOfMeshConfig(o)
}
