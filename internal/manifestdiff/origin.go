package manifestdiff

import (
	"maps"
	"reflect"
	"slices"

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
var entities = fields("all cluster cluster-mesh host ingress kube-apiserver remote-node unmanaged world world-ipv4 world-ipv6")

// choosesByOrigin reports whether a policy chooses callers by their addresses.
func (o object) choosesByOrigin() bool {
	found := false
	eachText(o.fields, func(text string) { found = found || isAddress(text) || o.group == "cilium.io" && entities[text] })
	return found
}

// isOfIngress reports whether an object says by which controller requests come, and how.
func (o object) isOfIngress() bool {
	return o.group == "networking.k8s.io" && (o.kind == "Ingress" || o.kind == "IngressClass")
}

// origins returns by their paths the annotations of an object that say who reaches a balancer, or from which address it sends
// requests, and as fields what says by which controller.
func (o object) origins() (annotations, spec map[string]any) {
	annotations, spec = map[string]any{}, map[string]any{}
	settings, _ := fieldvalue.Lookup(o.fields, "metadata", "annotations").(map[string]any)
	for key, value := range settings {
		if o.kind == "Ingress" && begins(key, originsOfIngress) || o.kind == "IngressClass" && key == defaultClass {
			annotations[fieldpath.Child("metadata.annotations", key)] = value
		}
	}
	fields, _ := fieldvalue.Lookup(o.fields, "spec").(map[string]any)
	for key, value := range fields {
		if o.kind == "IngressClass" || key == "ingressClassName" {
			spec[fieldpath.Child("spec", key)] = value
		}
	}
	return annotations, spec
}

// compareOrigins compares by which controllers requests come, and from which addresses. It matters where policies choose callers
// by their addresses: else the policies judge a controller by its name.
func (c *comparison) compareOrigins(olds, recents []object) []Change {
	all := slices.Concat(recents, olds)
	o := all[0]
	if !c.byOrigin || !o.isOfIngress() || len(recents) == 0 && !c.symmetric {
		return nil // nobody reaches by it any more
	}
	if len(olds) > 1 || len(recents) > 1 {
		if slices.EqualFunc(olds, recents, func(a, b object) bool { return a.doc.Flow() == b.doc.Flow() }) {
			return nil
		}
		return []Change{o.change(isTwice)}
	}
	if len(all) == 1 {
		if annotations, _ := o.origins(); len(annotations) > 0 {
			return c.alone(o, c.olds, c.recents, isNew)
		}
		return nil
	}
	w := walker{comparison: c, kind: o.kind}
	oldAnnotations, oldSpec := olds[0].origins()
	annotations, spec := recents[0].origins()
	was, is := union(oldAnnotations, oldSpec), union(annotations, spec)
	for _, path := range slices.Sorted(maps.Keys(union(was, is))) {
		if !reflect.DeepEqual(was[path], is[path]) {
			w.find(path, was[path], is[path])
		}
	}
	return w.changes(olds[0], recents[0])
}
