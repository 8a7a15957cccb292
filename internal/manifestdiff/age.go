package manifestdiff

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// compareAges compares the ages of the objects that a function takes: of two that are about the same, the older one counts. So it
// is with objects of Linkerd, and with Services, of which Istio takes the protocol of a port. For Istio's own kinds see
// [compareModes]. No age counts in Kuma or Cilium.
func compareAges(before, after clusterobject.List, takes func(clusterobject.Object) bool, rivals func(a, b clusterobject.Object) bool) (out []Change) {
	olds, recents := agesOf(before, takes), agesOf(after, takes)
	aged := slices.DeleteFunc(slices.Clone(after.All), func(o clusterobject.Object) bool { return !takes(o) || len(before.ByKey[o.Key]) == 0 })
	for i, a := range aged {
		for _, b := range aged[:i] {
			was, is := order(olds, a, b), order(recents, a, b)
			stated := was*is != 0 || a.Category != clusterobject.Service // what an API server has, and a file has not, is no other age of a Service
			if was != is && stated && rivals(a, b) {
				out = append(out, Change{a.Doc.Place("metadata.creationTimestamp"), a.String(), "is older or younger than " + b.String() + " now"})
			}
		}
	}
	return out
}

// order says which of two objects is the older one, 0 where no file says it.
func order(ages map[string]string, a, b clusterobject.Object) int {
	if ages[a.Key] == "" || ages[b.Key] == "" {
		return 0
	}
	return strings.Compare(ages[a.Key], ages[b.Key])
}

// agesOf are the times of creation of those objects that a function takes and whose file states one, by their keys.
func agesOf(all clusterobject.List, takes func(clusterobject.Object) bool) map[string]string {
	of := map[string]string{}
	for _, o := range all.All {
		if age, ok := fieldvalue.Lookup(o.Fields, "metadata", "creationTimestamp").(string); ok && takes(o) {
			of[o.Key] = age
		}
	}
	return of
}

// sharePods reports whether a pod may be behind both of two Services.
func sharePods(a, b clusterobject.Object) bool {
	if a.Namespace != b.Namespace {
		return false
	}
	first := fieldvalue.Mapping(fieldvalue.Lookup(a.Fields, "spec", "selector"))
	second := fieldvalue.Mapping(fieldvalue.Lookup(b.Fields, "spec", "selector"))
	return len(first)*len(second) > 0 && !contradict(first, second)
}

// contradict reports whether two selectors ask for different values of one label.
func contradict(first, second map[string]any) bool {
	for key, value := range first {
		if other, asks := second[key]; asks && fmt.Sprint(other) != fmt.Sprint(value) {
			return true
		}
	}
	return false
}

// orderChanges reports whether two ports of a Service that lead to one port of its pods have changed places: Istio takes the
// protocol of the first one.
func orderChanges(olds, recents []any) bool {
	place := map[string]int{}
	for i, port := range recents {
		place[keyOf(port, itemKeys["spec.ports"])] = i + 1
	}
	for i, port := range olds {
		for _, other := range olds[:i] {
			first, second := place[keyOf(other, itemKeys["spec.ports"])], place[keyOf(port, itemKeys["spec.ports"])]
			if first > second && second > 0 && fmt.Sprint(targetOf(other)) == fmt.Sprint(targetOf(port)) {
				return true
			}
		}
	}
	return false
}

// targetOf is the port of the pods to which a port of a Service leads, a name or a number.
func targetOf(port any) any {
	if of := fieldvalue.Lookup(port, "targetPort"); of != nil {
		return of
	}
	return fieldvalue.Lookup(port, "port")
}

// compareModes names the PeerAuthentications of Istio that are about one workload, and of which the files say the other one is the
// older: the older one counts. An API server keeps the time of what is there, and what only the other side has is younger, whatever time its file says.
func compareModes(before, after clusterobject.List) (out []Change) {
	isNew := func(o clusterobject.Object) bool { return len(before.ByKey[o.Key]) == 0 }
	takes := func(o clusterobject.Object) bool { return o.Kind == "PeerAuthentication" && o.IsOfIstio() }
	recents := slices.DeleteFunc(slices.Clone(after.All), func(o clusterobject.Object) bool { return !takes(o) })
	for i, a := range recents {
		for _, b := range recents[:i] {
			switch {
			case !selectTogether(a, b):
			case isNew(a) && isNew(b):
				out = append(out, changeOf(a, "is as new as "+b.String()+", and no file says which one counts, the older"))
			case isNew(a) && isOlder(a, b), isNew(b) && isOlder(b, a):
				out = append(out, Change{a.Doc.Place("metadata.creationTimestamp"), a.String(), "or " + b.String() + " is new, and the younger one whatever its file says"})
			case !isNew(a) && !isNew(b) && isOlder(a, b) != isOlder(before.ByKey[a.Key][0], before.ByKey[b.Key][0]):
				out = append(out, Change{a.Doc.Place("metadata.creationTimestamp"), a.String(), "is older or younger than " + b.String() + " now"})
			}
		}
	}
	return out
}

// isOlder reports whether Istio takes one object before another, by what their files say: the older one, or the one whose name is first.
func isOlder(a, b clusterobject.Object) bool {
	created := func(o clusterobject.Object) time.Time {
		text, _ := fieldvalue.Lookup(o.Fields, "metadata", "creationTimestamp").(string)
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return time.Time{}
		}
		return at
	}
	if was, is := created(a), created(b); !was.Equal(is) {
		return was.Before(is)
	}
	return a.Name < b.Name
}

// selectTogether reports whether two PeerAuthentications may be about one workload and on one level: of one namespace, with
// labels that do not contradict each other, or both without labels.
func selectTogether(a, b clusterobject.Object) bool {
	labels := func(o clusterobject.Object) map[string]any {
		of := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "spec", "selector", "matchLabels"))
		return of
	}
	first, second := labels(a), labels(b)
	return a.Namespace == b.Namespace && (len(first) == 0) == (len(second) == 0) && !contradict(first, second)
}
