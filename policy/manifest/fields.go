package manifest

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// fields are the names under which a struct type takes values.
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
	slices.Sort(f.names)
	cached, _ := fieldCache.LoadOrStore(t, f)
	return cached.(*fields)
}

// hint says which name an unknown field may have meant.
func (f *fields) hint(unknown string) string {
	for _, name := range f.names {
		if strings.EqualFold(name, unknown) {
			return ": did you mean " + name + "?"
		}
	}
	if len(f.names) == 0 {
		return ""
	}
	return ": use one of " + strings.Join(f.names, ", ")
}
