package clusterobject

import (
	"slices"

	"github.com/meshproof/meshproof/policy/manifest"
)

// List has objects in the order of their documents, and by their keys.
type List struct {
	All   []Object
	ByKey map[string][]Object
	// Repeated counts by their keys what is there once more, and alike.
	Repeated map[string]int
}

// ReadAll returns the objects of documents. One that is there twice alike is there once.
func ReadAll(docs []manifest.Document) List {
	out, seen := List{ByKey: map[string][]Object{}, Repeated: map[string]int{}}, map[string]bool{}
	for _, doc := range docs {
		o := Read(doc)
		if id := o.Key + doc.Flow(); seen[id] {
			out.Repeated[o.Key]++
		} else {
			seen[id] = true
			out.All = append(out.All, o)
			out.ByKey[o.Key] = append(out.ByKey[o.Key], o)
		}
	}
	return out
}

// Map returns the list with what a function makes of each object, by the same keys.
func (l List) Map(of func(Object) Object) List {
	return l.each(func(o Object) Object {
		made := of(o)
		made.Key = o.Key
		return made
	})
}

// ByOtherKeys returns the list with the key that a function gives to each object.
func (l List) ByOtherKeys(key func(Object) string) List {
	return l.each(func(o Object) Object {
		o.Key = key(o)
		return o
	})
}

func (l List) each(of func(Object) Object) List {
	out := List{ByKey: map[string][]Object{}, Repeated: l.Repeated}
	for _, o := range l.All {
		made := of(o)
		out.All = append(out.All, made)
		out.ByKey[made.Key] = append(out.ByKey[made.Key], made)
	}
	return out
}

// EachPair calls a function for each object of two lists, with what both have of it. The objects of the second list come first.
func EachPair(olds, recents List, of func(was, is []Object)) {
	seen := map[string]bool{}
	for _, o := range slices.Concat(recents.All, olds.All) {
		if !seen[o.Key] {
			seen[o.Key] = true
			of(olds.ByKey[o.Key], recents.ByKey[o.Key])
		}
	}
}
