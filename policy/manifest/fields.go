package manifest

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// fields has the fields of a struct type that a document can set, by name.
type fields struct {
	byName map[string][]int
	names  []string
}

var fieldCache sync.Map // of reflect.Type to *fields

func fieldsOf(t reflect.Type) *fields {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.(*fields)
	}
	f := &fields{byName: map[string][]int{}}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if name == "" || name == "-" || !field.IsExported() {
			continue
		}
		f.byName[name] = field.Index
		f.names = append(f.names, name)
	}
	cached, _ := fieldCache.LoadOrStore(t, f)
	return cached.(*fields)
}

// fieldOf returns the field of that name in the first struct that has one.
func fieldOf(structs []reflect.Value, name string) (reflect.Value, bool) {
	for _, v := range structs {
		if path, ok := fieldsOf(v.Type()).byName[name]; ok {
			return v.FieldByIndex(path), true
		}
	}
	return reflect.Value{}, false
}

// hint says which name an unknown field may have meant.
func hint(structs []reflect.Value, unknown string) string {
	var names []string
	for _, v := range structs {
		names = append(names, fieldsOf(v.Type()).names...)
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.EqualFold(name, unknown) {
			return ": did you mean " + name + "?"
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ": use one of " + strings.Join(names, ", ")
}
