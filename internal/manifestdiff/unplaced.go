package manifestdiff

import (
	"slices"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// The effects on a policy that names no namespace.
const (
	isPlaced   = "names its namespace on one side alone: without one, whoever applies it chooses the namespace"
	isSent     = "is not the same on both sides and names no namespace: Argo CD applies it in one that has a say in the mesh, or that other policies name: write it down"
	isUnplaced = "is not the same on both sides and names no namespace: whoever applies it chooses one, and other policies name the namespace default"
)

// compareUnplaced names the policies without a namespace that the dialects may take for others. They read such a
// policy as one of the namespace default, and kubectl or a tool may apply it elsewhere. Where no side
// names a namespace, nothing moves.
func (c *comparison) compareUnplaced(before, after clusterobject.List) (out []Change) {
	add := func(o clusterobject.Object, effect string) {
		if !slices.ContainsFunc(out, func(c Change) bool { return c.Object == o.String() }) {
			out = append(out, Change{o.Doc.Place("metadata"), o.String(), effect})
		}
	}
	namesDefault := slices.ContainsFunc(slices.Concat(before.All, after.All), func(o clusterobject.Object) bool { return o.IsNamespaced() && o.Written() == "default" })
	namesTarget := slices.ContainsFunc(c.objects(), func(tool clusterobject.Object) bool {
		target, _ := fieldvalue.Lookup(tool.Fields, "spec", "destination", "namespace").(string)
		return tool.Kind == "Application" && target != "" && (slices.Contains([]string{"istio-system", "kuma-system"}, target) ||
			slices.ContainsFunc(slices.Concat(before.All, after.All), func(o clusterobject.Object) bool { return o.Written() == target }))
	})
	for _, sides := range [][2]clusterobject.List{{after, before}, {before, after}} {
		own, other := sides[0], sides[1]
		for _, o := range own.All {
			if !o.IsNamespaced() || o.Written() != "" || hasNamesake(other, o) {
				continue
			}
			for _, theirs := range other.All {
				if theirs.Written() != "" && areNamesakes(o, theirs) && !hasNamesake(own, theirs) {
					add(o, isPlaced)
				}
			}
			if namesDefault {
				add(o, isUnplaced)
			}
			if namesTarget {
				add(o, isSent)
			}
		}
	}
	return out
}

// areNamesakes reports whether two objects have one kind and one name.
func areNamesakes(o clusterobject.Object, other clusterobject.Object) bool {
	return o.Group == other.Group && o.Kind == other.Kind && o.Name == other.Name && o.Universal == other.Universal
}

// hasNamesake reports whether one of the objects is the same, as data.
func hasNamesake(all clusterobject.List, o clusterobject.Object) bool {
	return slices.ContainsFunc(all.ByKey[o.Key], func(own clusterobject.Object) bool { return own.Doc.Flow() == o.Doc.Flow() })
}
