package manifestdiff

import (
	"maps"
	"reflect"
	"slices"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/internal/fieldpath"
)

// pairByFile returns the objects of both sides, of which a document without a kind and a name, such as the values of a chart, is known by its file: where the
// file has one other document on the other side in the place of it, the fields that differ are named, and not two documents.
func pairByFile(old, recent Side, olds, recents clusterobject.List) (_, _ clusterobject.List) {
	if old.Root == "" || recent.Root == "" {
		return olds, recents
	}
	before, after := nameless(old.Root, olds, recents), nameless(recent.Root, recents, olds)
	key := func(root string) func(clusterobject.Object) string {
		return func(o clusterobject.Object) string {
			at := delivery.PathIn(root, o.File())
			if was, is := before[at], after[at]; len(was) == 1 && len(is) == 1 && (was[0] == o.Key || is[0] == o.Key) {
				return "file " + at
			}
			return o.Key
		}
	}
	return olds.ByOtherKeys(key(old.Root)), recents.ByOtherKeys(key(recent.Root))
}

// nameless returns the keys of the documents of a list without a kind and a name that the other list lacks, by their files.
func nameless(root string, of, other clusterobject.List) map[string][]string {
	out := map[string][]string{}
	for _, o := range of.All {
		if isNameless(o) && other.ByKey[o.Key] == nil {
			at := delivery.PathIn(root, o.File())
			out[at] = append(out[at], o.Key)
		}
	}
	return out
}

// isNameless reports whether a document has neither a kind nor a name, as the values of a chart.
func isNameless(o clusterobject.Object) bool {
	return o.Kind == "" && o.Name == "" && !o.IsOfKustomize()
}

// walkValues compares the values of a chart. Each one counts, whatever it is called, and so does one without a value: Helm takes a default away by it.
func (w *walker) walkValues(place string, was, is any) {
	if reflect.DeepEqual(was, is) {
		return
	}
	oldFields, wasMapping := was.(map[string]any)
	newFields, isMapping := is.(map[string]any)
	oldItems, wasList := was.([]any)
	newItems, isList := is.([]any)
	switch {
	case wasMapping && isMapping:
		for _, key := range slices.Sorted(maps.Keys(union(oldFields, newFields))) {
			was, had := oldFields[key]
			is, has := newFields[key]
			if at := fieldpath.Child(place, key); had == has {
				w.walkValues(at, was, is)
			} else {
				w.found = append(w.found, finding{at, had})
			}
		}
	case wasList && isList && len(oldItems) == len(newItems):
		for i := range newItems {
			w.walkValues(fieldpath.Item(place, i), oldItems[i], newItems[i])
		}
	default:
		w.find(place, was, is)
	}
}
