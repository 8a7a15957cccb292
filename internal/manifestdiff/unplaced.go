package manifestdiff

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// The effects on a policy that names no namespace.
const (
	isPlaced   = "names its namespace on one side alone: without one, whoever applies it chooses the namespace"
	isSent     = "is not the same on both sides and names no namespace: a tool may apply it in one that has a say in the mesh, or that other policies name: write it down"
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
	decides := func(target string) bool {
		return target != "" && (slices.Contains([]string{"istio-system", "kuma-system"}, target) ||
			slices.ContainsFunc(slices.Concat(before.All, after.All), func(o clusterobject.Object) bool { return o.Written() == target }))
	}
	decidesAnywhere := sync.OnceValue(func() bool { return slices.ContainsFunc(c.targetsOfAll(), decides) })
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
			if decidesAnywhere() || slices.ContainsFunc(c.targetsOf(o), decides) {
				add(o, isSent)
			}
		}
	}
	return out
}

// spaces find the namespaces to which a script applies what it names: by an option, by a variable or by another command.
var spaces = regexp.MustCompile(`(?:^|\s)(?:-n|--namespace)[\s=]*["']?([a-z0-9-]+)|(?i:\b(?:\w+[_-])?(?:default)?namespace|\bns)["']?[ \t]*(?:[?:]?=|:)?[ \t]*["']?([a-z0-9-]+)|\b(?:kubens|project)[ \t]+([a-z0-9-]+)`)

// spaceKey is the key of a setting by which a program applies what it names to a namespace.
var spaceKey = regexp.MustCompile(`(?i)^(?:\S+[_-])?(?:default)?namespace$`)

// targetsOfAll returns the namespaces to which Argo CD and scripts may apply any policy that names none.
func (c *comparison) targetsOfAll() (out []string) {
	for _, tool := range c.tools() {
		if tool.Kind == "Application" {
			out = append(out, textsAt(tool, "spec.destination.namespace")...)
		}
	}
	for _, text := range c.scripts() {
		for _, found := range spaces.FindAllStringSubmatch(text, -1) {
			out = append(out, found[1]+found[2]+found[3])
		}
	}
	for _, o := range c.recentObjects.All { // the steps of a job, and the configuration of a program
		if !o.IsNone() && o.Group != "skaffold" || o.IsOfKustomize() || o.IsFleetFile() {
			continue
		}
		fieldvalue.Any(o.Fields, func(value any) bool {
			for key, value := range fieldvalue.Mapping(value) {
				if text, isText := value.(string); isText && spaceKey.MatchString(key) {
					out = append(out, text)
				}
			}
			return false
		})
	}
	return out
}

// targetsOf returns the namespaces to which Flux and Fleet may apply a policy that names none, by the folder in which it stands.
func (c *comparison) targetsOf(o clusterobject.Object) (out []string) {
	for _, tool := range c.tools() {
		switch {
		case tool.Group == "kustomize.toolkit.fluxcd.io" && c.mayTakeBy(tool, o):
			out = append(out, textsAt(tool, "spec.targetNamespace")...)
		case tool.IsFleetFile() && c.takes(c.dirOf(tool), o):
			out = append(out, textsAt(tool, "namespace", "defaultNamespace")...)
		}
	}
	return out
}

// tools are the objects of both sides, with those of tools that others of the second side make.
func (c *comparison) tools() []clusterobject.Object {
	return slices.Concat(c.deliveries(), c.oldObjects.All)
}

// textsAt returns the texts of some fields of an object, without empty ones.
func textsAt(o clusterobject.Object, fields ...string) (out []string) {
	for _, field := range fields {
		if text, _ := fieldvalue.Lookup(o.Fields, strings.Split(field, ".")...).(string); text != "" {
			out = append(out, text)
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
