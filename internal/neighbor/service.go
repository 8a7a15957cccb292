package neighbor

import (
	"slices"
	"strings"
)

// workloads are the pods that one side describes, in order and by the keys of their objects.
type workloads struct {
	all   []pods
	byKey map[string]pods
}

// pods are those of one object.
type pods struct {
	key, kind, namespace, name string
	labels                     map[string]any
	account                    any
	spec                       map[string]any
}

func workloadsOf(all []object) workloads {
	out := workloads{byKey: map[string]pods{}}
	for _, o := range all {
		place, known := podPlaces[o.kind]
		if o.category == harmless || !known {
			continue
		}
		head := strings.Split(place, ".")
		labels, _ := fieldOf(o.fields, append(slices.Clone(head), "metadata", "labels")...).(map[string]any)
		spec, _ := fieldOf(o.fields, append(slices.Clone(head), "spec")...).(map[string]any)
		account := spec["serviceAccountName"]
		if account == nil {
			account = spec["serviceAccount"]
		}
		p := pods{o.key, o.kind, o.namespace, o.name, labels, account, spec}
		out.all = append(out.all, p)
		out.byKey[o.key] = p
	}
	return out
}

func (w workloads) hasKey(key string) bool {
	_, found := w.byKey[key]
	return found
}

// replaces reports whether a new workload may be one that is gone, so that other policies select it or name it:
// no workload that is gone has its namespace, its account and the labels that something selects by, or one
// of another kind has its name.
func (c *comparison) replaces(o object) bool {
	if _, known := podPlaces[o.kind]; !known || c.symmetric || o.category != workload {
		return false
	}
	isGone, isAlike := false, false
	own := c.recents.byKey[o.key]
	for _, p := range c.olds.all {
		switch {
		case c.recents.hasKey(p.key):
		case p.namespace == o.namespace && p.name == o.name:
			return true
		default:
			isGone = true
			isAlike = isAlike || p.namespace == o.namespace && p.account == own.account && c.sameNamed(p.labels, own.labels)
		}
	}
	return isGone && !isAlike
}

// sameNamed reports whether labels that something selects by are the same.
func (c *comparison) sameNamed(was, is map[string]any) bool {
	for key := range union(was, is) {
		if c.named.has(key) && was[key] != is[key] {
			return false
		}
	}
	return true
}

// selected returns the keys of the objects whose pods a Service selects.
func (w workloads) selected(service object) map[string]bool {
	out := map[string]bool{}
	selector, _ := fieldOf(service.fields, "spec", "selector").(map[string]any)
	for _, p := range w.all {
		matches := len(selector) > 0 && p.namespace == service.namespace
		for key, value := range selector {
			matches = matches && p.labels[key] == value
		}
		if matches {
			out[p.key] = true
		}
	}
	return out
}

// isMissing reports that a side has none of the workloads that a Service of the other side selects there.
// Its ports are then new or gone together with the pods. A Service tells the mesh the protocol of a port, and
// Kuma that there is an inbound: for pods of both sides, or pods that no file describes, a Service of one
// side alone may change what the policies judge. A Service without a selector has no pods.
func (w workloads) isMissing(service object, own workloads) bool {
	if selector, _ := fieldOf(service.fields, "spec", "selector").(map[string]any); len(selector) == 0 {
		return true
	}
	there := own.selected(service)
	for key := range w.selected(service) {
		there[key] = false
	}
	for key, isThere := range there {
		if !isThere || w.hasKey(key) {
			return false
		}
	}
	return len(there) > 0
}
