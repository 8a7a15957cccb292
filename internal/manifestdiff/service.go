package manifestdiff

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// workloads are the pods that one side describes, in order and by the keys of their objects.
type workloads struct {
	all   []pods
	byKey map[string]pods
	// byName has them by kind, namespace and name, byLabel by namespace and one label.
	byName  map[[3]string]pods
	byLabel map[[3]string][]pods
}

// pods are those of one object.
type pods struct {
	key, kind, namespace, name string
	labels, annotations        map[string]any
	account                    any
	spec                       map[string]any
}

func workloadsOf(all []object) workloads {
	out := workloads{byKey: map[string]pods{}, byName: map[[3]string]pods{}, byLabel: map[[3]string][]pods{}}
	for _, o := range all {
		place, known := podPlaces[o.kind]
		if o.category == harmless || !known {
			continue
		}
		head := strings.Split(place, ".")
		labels, _ := fieldOf(o.fields, append(slices.Clone(head), "metadata", "labels")...).(map[string]any)
		annotations, _ := fieldOf(o.fields, append(slices.Clone(head), "metadata", "annotations")...).(map[string]any)
		spec, _ := fieldOf(o.fields, append(slices.Clone(head), "spec")...).(map[string]any)
		account := spec["serviceAccountName"]
		if account == nil {
			account = spec["serviceAccount"]
		}
		p := pods{o.key, o.kind, o.namespace, o.name, labels, annotations, account, spec}
		out.all = append(out.all, p)
		out.byKey[o.key], out.byName[[3]string{p.kind, p.namespace, p.name}] = p, p
		for key, value := range labels {
			label := [3]string{p.namespace, key, fmt.Sprint(value)}
			out.byLabel[label] = append(out.byLabel[label], p)
		}
	}
	return out
}

func (w workloads) hasKey(key string) bool {
	_, found := w.byKey[key]
	return found
}

// departed are the workloads that are gone.
type departed struct {
	// names have their namespaces and names, selectable what policies may select and name them by.
	names, selectable map[string]bool
}

func (c *comparison) departed() departed {
	out := departed{map[string]bool{}, map[string]bool{}}
	for _, p := range c.olds.all {
		if !c.recents.hasKey(p.key) {
			out.names[p.namespace+"/"+p.name], out.selectable[c.selectors(p)] = true, true
		}
	}
	return out
}

// replaces reports whether a new workload may be one that is gone, so that other policies select it or name it:
// no workload that is gone has its namespace, its account and the labels that something selects by, or one
// of another kind has its name.
func (c *comparison) replaces(o object) bool {
	if _, known := podPlaces[o.kind]; !known || c.symmetric || o.category != workload || len(c.gone.names) == 0 {
		return false
	}
	return c.gone.names[o.namespace+"/"+o.name] || !c.gone.selectable[c.selectors(c.recents.byKey[o.key])]
}

// selectors has the namespace, the account and the labels by which something selects pods.
func (c *comparison) selectors(p pods) string {
	parts := []string{p.namespace, fmt.Sprint(normal("serviceAccountName", p.account))}
	for _, key := range slices.Sorted(maps.Keys(p.labels)) {
		if c.named.has(key) {
			parts = append(parts, fmt.Sprintf("%s=%v", key, p.labels[key]))
		}
	}
	return strings.Join(parts, " ")
}

// selected returns the keys of the objects whose pods a Service selects.
func (w workloads) selected(service object) map[string]bool {
	out := map[string]bool{}
	selector, _ := fieldOf(service.fields, "spec", "selector").(map[string]any)
	for key, value := range selector {
		for _, p := range w.byLabel[[3]string{service.namespace, key, fmt.Sprint(value)}] {
			matches := true
			for key, value := range selector {
				matches = matches && p.labels[key] == value
			}
			if matches {
				out[p.key] = true
			}
		}
		break
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
