package manifestdiff

import (
	"slices"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
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
func (c *comparison) compareUnplaced(before, after objects) (out []Change) {
	add := func(o object, effect string) {
		if !slices.ContainsFunc(out, func(c Change) bool { return c.Object == o.String() }) {
			out = append(out, Change{o.doc.Place("metadata"), o.String(), effect})
		}
	}
	namesDefault := slices.ContainsFunc(slices.Concat(before.all, after.all), func(o object) bool { return o.hasNamespace() && o.written() == "default" })
	namesTarget := slices.ContainsFunc(slices.Concat(c.oldObjects.all, c.recentObjects.all), func(tool object) bool {
		target, _ := fieldvalue.Lookup(tool.fields, "spec", "destination", "namespace").(string)
		return tool.kind == "Application" && target != "" && (slices.Contains([]string{"istio-system", "kuma-system"}, target) ||
			slices.ContainsFunc(slices.Concat(before.all, after.all), func(o object) bool { return o.written() == target }))
	})
	for _, sides := range [][2]objects{{after, before}, {before, after}} {
		own, other := sides[0], sides[1]
		for _, o := range own.all {
			if !o.hasNamespace() || o.written() != "" || other.has(o) {
				continue
			}
			for _, theirs := range other.all {
				if theirs.written() != "" && o.isNamesake(theirs) && !own.has(theirs) {
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

// written is the namespace that an object names.
func (o object) written() string { return metadata.TextAt(o.doc, "metadata.namespace") }

// hasNamespace reports whether a policy is of a namespace, named or not.
func (o object) hasNamespace() bool {
	return o.identity().IsNamespaced()
}

// isNamesake reports whether two objects have one kind and one name.
func (o object) isNamesake(other object) bool {
	return o.group == other.group && o.kind == other.kind && o.name == other.name && o.universal == other.universal
}

// has reports whether one of the objects is the same, as data.
func (all objects) has(o object) bool {
	return slices.ContainsFunc(all.byKey[o.key], func(own object) bool { return own.doc.Flow() == o.doc.Flow() })
}
