package manifestdiff

import (
	"fmt"
	"reflect"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/podtemplate"
)

// workloads are the pods that one side describes, in order and by the keys of their objects.
type workloads struct {
	all   []pods
	byKey map[string]pods
	// byName has them by kind, namespace and name, byLabel by namespace and one label, byMaker by what made them.
	byName  map[[3]string]pods
	byLabel map[[3]string][]pods
	byMaker map[string][]pods
}

// pods are those of one object.
type pods struct {
	key, kind, namespace, name string
	labels, annotations        map[string]any
	account                    any
	spec                       map[string]any
	// maker is what made the object, as makerOf says it.
	maker string
}

func workloadsOf(all []clusterobject.Object) workloads {
	out := workloads{byKey: map[string]pods{}, byName: map[[3]string]pods{}, byLabel: map[[3]string][]pods{}, byMaker: map[string][]pods{}}
	for _, o := range all {
		if o.Category == clusterobject.Workload && o.Kind == "WorkloadEntry" {
			out.add(podsOf(o, podtemplate.MachineOf(o.Fields)))
		}
		if of, known := podtemplate.PodsOf(o.Kind, o.Fields); known && o.Category != clusterobject.Harmless {
			out.add(podsOf(o, of))
		}
	}
	return out
}

// podsOf returns the pods of an object, which says of them what is given.
func podsOf(o clusterobject.Object, of podtemplate.Pods) pods {
	return pods{o.Key, o.Kind, o.Namespace, o.Name, of.Labels, of.Annotations, of.Account, of.Spec, makerOf(o, of.Labels)}
}

func (w *workloads) add(p pods) {
	w.all, w.byMaker[p.maker] = append(w.all, p), append(w.byMaker[p.maker], p)
	w.byKey[p.key], w.byName[[3]string{p.kind, p.namespace, p.name}] = p, p
	for key, value := range p.labels {
		label := [3]string{p.namespace, key, fmt.Sprint(value)}
		w.byLabel[label] = append(w.byLabel[label], p)
	}
}

func (w workloads) hasKey(key string) bool {
	_, found := w.byKey[key]
	return found
}

// selected returns the keys of the objects whose pods a Service selects.
func (w workloads) selected(service clusterobject.Object) map[string]bool {
	out := map[string]bool{}
	selector := fieldvalue.Mapping(fieldvalue.Lookup(service.Fields, "spec", "selector"))
	for key, value := range selector {
		for _, p := range w.byLabel[[3]string{service.Namespace, key, fmt.Sprint(value)}] {
			matches := true
			for key, value := range selector {
				matches = matches && reflect.DeepEqual(p.labels[key], value)
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
// side alone may change what the policies judge. A Service without a selector has the addresses that somebody
// writes, unless it is another name of a host.
func (w workloads) isMissing(service clusterobject.Object, own workloads) bool {
	if selector, _ := fieldvalue.Lookup(service.Fields, "spec", "selector").(map[string]any); len(selector) == 0 {
		return fieldvalue.Lookup(service.Fields, "spec", "type") == "ExternalName"
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
