package manifestdiff

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/podtemplate"
)

// walker compares the fields of one object.
type walker struct {
	*comparison
	category  clusterobject.Category
	kind      string
	namespace string
	// alone is true where the other side does not have the object, and places are the namespaces in which it may be then.
	alone  bool
	places []string
	// owned is true where pods are held against what made them.
	owned bool
	// mayRepeatPorts is true for a Service that may get a second port for a port of its pods.
	mayRepeatPorts bool
	// states are the fields of the security context of a pod, on either side.
	states map[string]any
	found  []finding
}

// finding is the path of a field that differs.
type finding struct {
	path string
	// gone is true where only the old side has the field.
	gone bool
}

// changes names what was found. Not every field of a large object is named.
func (w *walker) changes(was, is clusterobject.Object) (out []Change) {
	const most = 5
	w.told.addFields(is.Key, w.found, w.alone)
	for i, f := range w.found {
		of, effect := is, isChanged
		if f.gone {
			of = was
		}
		if w.alone {
			effect = "opens something, and the other side does not have the object"
		}
		if more := len(w.found) - most; i == most && more > 1 {
			return append(out, Change{is.Doc.Place(""), is.String(), fmt.Sprintf("has changed in %d more fields", more)})
		}
		out = append(out, Change{of.Doc.Place(f.path), of.String(), effect})
	}
	return out
}

func (w *walker) find(path string, was, is any) {
	w.found = append(w.found, finding{path, is == nil && was != nil})
}

// walk compares a field. The first path has no indexes, the second one leads to the field.
func (w *walker) walk(path, place string, was, is any) {
	if w.isHarmless(path, was, is) {
		return
	}
	if w.category != clusterobject.Unknown {
		was, is = w.withDefault(path, was), w.withDefault(path, is)
	}
	if reflect.DeepEqual(was, is) {
		return
	}
	if w.category == clusterobject.Workload && w.relative(path) == "spec" {
		w.states = union(fieldvalue.Mapping(fieldvalue.Lookup(was, "securityContext")), fieldvalue.Mapping(fieldvalue.Lookup(is, "securityContext")))
	}
	oldFields, wasMapping := was.(map[string]any)
	newFields, isMapping := is.(map[string]any)
	if w.relative(path) == "spec.initContainers[]" && !w.alone && (hasPower(oldFields) || hasPower(newFields) || clusterobject.IsSidecar(oldFields) || clusterobject.IsSidecar(newFields)) {
		w.find(place, was, is) // whatever it does, it may do to the rules by which the sidecar gets connections
		return
	}
	oldItems, wasList := was.([]any)
	newItems, isList := is.([]any)
	switch {
	case w.isSettings(path):
		w.walkSettings(path, place, oldFields, newFields)
	case wasMapping && isMapping, w.isTyped() && (wasMapping && is == nil || isMapping && was == nil), path == "":
		oldFields, newFields = w.normalized(path, oldFields), w.normalized(path, newFields)
		for _, key := range slices.Sorted(maps.Keys(union(oldFields, newFields))) {
			w.walk(fieldpath.Join(path, key), fieldpath.Child(place, key), oldFields[key], newFields[key])
		}
	case wasList && isList, w.isTyped() && (wasList && is == nil || isList && was == nil):
		w.walkItems(path, place, oldItems, newItems)
	case !w.alone, w.opens(path, is):
		w.find(place, was, is)
	}
}

// isTyped reports whether a mapping without fields says as much as none. In a Dataplane it may turn something
// on.
func (w *walker) isTyped() bool {
	return w.category != clusterobject.Unknown && w.category != clusterobject.Dataplane
}

// walkItems compares lists: those of containers, volumes and ports item by item, whatever their order.
func (w *walker) walkItems(path, place string, olds, recents []any) {
	relative := w.relative(path)
	keys, byKey := itemKeys[relative]
	switch {
	case w.isSet(relative):
		if w.canonical(path, olds) != w.canonical(path, recents) && (!w.alone || w.opens(path, recents)) {
			w.find(place, anyOf(olds), anyOf(recents))
		}
	case byKey && w.category != clusterobject.Unknown && (isRepeated(olds, keys) || isRepeated(recents, keys)), w.category == clusterobject.Service && relative == "spec.ports" && orderChanges(olds, recents):
		w.find(place, anyOf(olds), anyOf(recents))
	case byKey && w.category != clusterobject.Unknown:
		found := map[string]bool{}
		item := func(list []any, key string) (int, any) {
			for i, one := range list {
				if keyOf(one, keys) == key {
					return i, one
				}
			}
			return -1, nil
		}
		for _, one := range slices.Concat(recents, olds) {
			key := keyOf(one, keys)
			if found[key] {
				continue
			}
			found[key] = true
			i, was := item(olds, key)
			n, is := item(recents, key)
			if i < 0 && w.mayRepeatPorts && relative == "spec.ports" && repeatsPort(recents, n) {
				continue
			}
			if n < 0 {
				n = i
			}
			w.walkItem(path, place+"["+strconv.Itoa(n)+"]", was, is)
		}
	case w.alone && relative == "spec.initContainers":
		for i := range recents {
			w.walkItem(path, fieldpath.Item(place, i), nil, recents[i])
		}
	case w.alone || len(olds) == len(recents) && slices.EqualFunc(olds, recents, func(a, b any) bool { return keyOf(a, []string{"name"}) == keyOf(b, []string{"name"}) }):
		for i := range recents {
			var was any
			if i < len(olds) {
				was = olds[i]
			}
			w.walk(path+"[]", fieldpath.Item(place, i), was, recents[i])
		}
	default:
		w.find(place, anyOf(olds), anyOf(recents))
	}
}

// walkItem compares an item of a list whose items have names; one of the two may be nil.
func (w *walker) walkItem(path, place string, was, is any) {
	old := fieldvalue.Mapping(was)
	recent := fieldvalue.Mapping(is)
	switch relative := w.relative(path); {
	case w.alone && (relative == "spec.containers" || relative == "spec.initContainers") && clusterobject.IsSidecar(recent):
		w.find(place, nil, is)
	case w.alone:
		w.walk(path+"[]", place, was, is)
	case relative == "spec.containers" && (clusterobject.IsSidecar(old) || clusterobject.IsSidecar(recent)):
		if !reflect.DeepEqual(was, is) {
			w.find(place, was, is)
		}
	case relative == "spec.volumes" && (w.isVolumeOfSidecar(old) || w.isVolumeOfSidecar(recent)):
		if !reflect.DeepEqual(was, is) {
			w.find(place, was, is)
		}
	case relative == "spec.containers[].ports":
		if w.isOtherPort(old, recent) {
			w.find(place, was, is)
		}
	case relative == "networking.inbound" && (was == nil || is == nil):
		// That an inbound is new or gone is told with the inbounds.
		if forwards(recent) || forwards(old) {
			w.find(place, was, is)
		}
	case relative == "spec.ports" && (was == nil || is == nil):
		w.find(place, was, is)
	default:
		w.walk(path+"[]", place, was, is)
	}
}

// relative returns a path below a pod as the tables have it.
func (w *walker) relative(path string) string {
	if place, ok := podtemplate.PlaceOf(w.kind); ok && w.category == clusterobject.Workload {
		return strings.TrimPrefix(path, place)
	}
	return path
}

// isHarmless reports whether a field cannot matter.
func (w *walker) isHarmless(path string, was, is any) bool {
	relative := w.relative(path)
	head, field, _ := cutLast(path)
	switch {
	case w.isMetadata(head):
		isOfPods := w.category == clusterobject.Workload
		if harmlessMetadata[field] && !(field == "ownerReferences" && (w.category == clusterobject.Unknown || w.category == clusterobject.Service) && is != nil) || isOfPods && field == "deletionTimestamp" {
			return true
		}
	case w.category == clusterobject.Service && path == "spec.clusterIP":
		return was != "None" && is != "None"
	case strings.HasSuffix(relative, "securityContext.capabilities.drop"):
		return is != nil && includes(is, was)
	}
	if w.givesUser(relative, was, is) || w.losesToken(relative, was, is) {
		return true
	}
	if path == "spec.strategy" && w.kind == "Rollout" || w.isDerivedFrom(path, was, is) || w.givesToken(relative, was, is) || w.givesVolume(relative, was, is) {
		return false // it may give pods other labels, the name of another caller, or what a sidecar reads
	}
	if path == "status" && agents[w.kind] {
		return false // it has no other fields
	}
	if harmlessFields[w.category][path] || w.category == clusterobject.Workload && (relative != path || w.kind == "Pod") && podFields[relative] {
		return true
	}
	return is != nil && slices.Contains(harmlessValues[relative], is)
}

// harmlessMetadata are the fields of metadata that an API server writes, and those that are the identity.
var harmlessMetadata = fieldpath.SetOf(`name namespace generateName uid resourceVersion generation managedFields ownerReferences finalizers selfLink
	creationTimestamp deletionGracePeriodSeconds`)

// withDefault returns the value that an API server takes.
func (w *walker) withDefault(path string, value any) any {
	if byDefault, ok := defaults[w.relative(path)]; ok && value == nil {
		return byDefault
	}
	return value
}

// normalized returns the fields of a pod or of a port in one way of writing.
func (w *walker) normalized(path string, of map[string]any) map[string]any {
	of = maps.Clone(of)
	maps.DeleteFunc(of, func(_ string, value any) bool { return value == nil })
	switch w.relative(path) {
	case "spec":
		if name, ok := of["serviceAccount"]; ok && w.category == clusterobject.Workload && w.kind != "WorkloadEntry" {
			delete(of, "serviceAccount")
			if of["serviceAccountName"] == nil {
				of["serviceAccountName"] = name
			}
		}
		if w.category == clusterobject.Workload {
			if of = withPorts(of); w.kind == "Pod" {
				of = withoutTokens(of)
			}
		}
	case "spec.ports[]":
		if of["port"] != nil && w.category == clusterobject.Service {
			of["targetPort"] = targetOf(of)
		}
	}
	return of
}

// isSet reports whether the order of a list does not matter.
func (w *walker) isSet(path string) bool {
	return itemSets[path] && (w.category != clusterobject.Unknown || w.kind == "NetworkPolicy")
}

// canonical prints a value so that equal sets are equal texts.
func (w *walker) canonical(path string, value any) string {
	switch value := value.(type) {
	case []any:
		items := make([]string, len(value))
		for i, item := range value {
			items[i] = w.canonical(path+"[]", item)
		}
		if w.isSet(w.relative(path)) {
			slices.Sort(items)
		}
		return "[" + strings.Join(items, ",") + "]"
	case map[string]any:
		var b strings.Builder
		for _, key := range slices.Sorted(maps.Keys(value)) {
			fmt.Fprintf(&b, "%q:%s,", key, w.canonical(fieldpath.Join(path, key), value[key]))
		}
		return "{" + b.String() + "}"
	default:
		text, _ := json.Marshal(value)
		return string(text)
	}
}

// includes reports whether a list has all items of another one, or says that it has everything.
func includes(list, other any) bool {
	items, _ := list.([]any)
	others, _ := other.([]any)
	if slices.Contains(items, any("ALL")) {
		return true
	}
	return !slices.ContainsFunc(others, func(one any) bool { return !slices.Contains(items, one) })
}

// isRepeated reports whether two items of a list have one key.
func isRepeated(list []any, keys []string) bool {
	seen := map[string]bool{}
	for _, item := range list {
		key := keyOf(item, keys)
		if seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}

func keyOf(item any, keys []string) string {
	fields, ok := item.(map[string]any)
	if !ok {
		return fmt.Sprint(item)
	}
	var parts []any
	for _, key := range keys {
		value := fields[key]
		if value == nil && key == "protocol" {
			value = "TCP"
		}
		parts = append(parts, value)
	}
	return fmt.Sprint(parts...)
}

func union(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, b)
	return out
}

// anyOf returns nil for a list that is not there.
func anyOf(list []any) any {
	if list == nil {
		return nil
	}
	return list
}

func cutLast(path string) (head, last string, found bool) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}
