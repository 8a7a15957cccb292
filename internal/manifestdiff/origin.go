package manifestdiff

import (
	"maps"
	"reflect"
	"slices"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// originsOfIngress begin the annotations by which the controller of an Ingress decides who reaches its balancer, or from which
// address the balancer sends requests. They are among those of idleOfIngress, which is a closed world.
var originsOfIngress = []string{
	"kubernetes.io/ingress.class", "alb.ingress.kubernetes.io/scheme", "alb.ingress.kubernetes.io/target-type", "alb.ingress.kubernetes.io/subnets", "alb.ingress.kubernetes.io/security-groups",
	"alb.ingress.kubernetes.io/group.", "traefik.ingress.kubernetes.io/router.entrypoints",
}

// defaultClass says that an Ingress without a class has this one.
const defaultClass = "ingressclass.kubernetes.io/is-default-class"

// entities are the callers of Cilium that have no labels: their addresses tell them.
var entities = fieldpath.SetOf("all cluster cluster-mesh host ingress kube-apiserver remote-node unmanaged world world-ipv4 world-ipv6")

// choosesByOrigin reports whether a policy chooses callers by their addresses.
func choosesByOrigin(o clusterobject.Object) bool {
	found := false
	fieldvalue.EachText(o.Fields, func(text string) { found = found || isAddress(text) || o.Group == "cilium.io" && entities[text] })
	return found
}

// originsOf returns by their paths the annotations of an object that say who reaches a balancer, or from which address it sends
// requests, and as fields what says by which controller.
func originsOf(o clusterobject.Object) (annotations, spec map[string]any) {
	annotations, spec = map[string]any{}, map[string]any{}
	settings := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "metadata", "annotations"))
	for key, value := range settings {
		if o.Kind == "Ingress" && fieldvalue.HasAnyPrefix(key, originsOfIngress) || o.Kind == "IngressClass" && key == defaultClass {
			annotations[fieldpath.Child("metadata.annotations", key)] = value
		}
	}
	fields := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "spec"))
	for key, value := range fields {
		if o.Kind == "IngressClass" || key == "ingressClassName" {
			spec[fieldpath.Child("spec", key)] = value
		}
	}
	return annotations, spec
}

// compareOrigins compares by which controllers requests come, and from which addresses. It matters where policies choose callers
// by their addresses: else the policies judge a controller by its name.
func (c *comparison) compareOrigins(olds, recents []clusterobject.Object) []Change {
	all := slices.Concat(recents, olds)
	o := all[0]
	if !c.byOrigin || !o.IsOfIngress() || len(recents) == 0 && !c.symmetric {
		return nil // nobody reaches by it any more
	}
	if len(olds) > 1 || len(recents) > 1 {
		if slices.EqualFunc(olds, recents, func(a, b clusterobject.Object) bool { return a.Doc.Flow() == b.Doc.Flow() }) {
			return nil
		}
		return []Change{changeOf(o, isTwice)}
	}
	if len(all) == 1 {
		if annotations, _ := originsOf(o); len(annotations) > 0 {
			return c.alone(o, c.olds, c.recents, isNew)
		}
		return nil
	}
	w := walker{comparison: c, kind: o.Kind}
	oldAnnotations, oldSpec := originsOf(olds[0])
	annotations, spec := originsOf(recents[0])
	was, is := union(oldAnnotations, oldSpec), union(annotations, spec)
	for _, path := range slices.Sorted(maps.Keys(union(was, is))) {
		if !reflect.DeepEqual(was[path], is[path]) {
			w.find(path, was[path], is[path])
		}
	}
	return w.changes(olds[0], recents[0])
}
