// Package attribute has the attributes of a request that a policy can ask for, one
// file for each. A file is a row: the name, the layer, the values in a request, how
// Envoy joins several values, the kinds of matches, the forms of gates that show the
// attribute.
//
// Two other tables have a row for each attribute. Package xds says how a filter asks
// about it. Package policy/classes says which values can be sent. The package
// guarantees that a new attribute is three files: a test walks the three tables and names
// each attribute that lacks a row. Package attribute itself knows no Envoy message and no dialect.
package attribute

import (
	"slices"
	"strings"
	"sync"

	"github.com/meshproof/meshproof/policy"
)

var rows []*policy.Attribute

// add puts a row into the table.
func add(row *policy.Attribute) *policy.Attribute {
	rows = append(rows, row)
	return row
}

// family makes attributes that differ by a key alone, such as the headers of a request. The
// same key gives the same attribute, so that pointers tell attributes apart.
type family struct {
	make func(key string) *policy.Attribute
	made sync.Map
}

// addFamily puts a family into the table. The key is that of the attribute that stands for
// the family in the table.
func addFamily(name, key string, of func(key string) *policy.Attribute) *family {
	f := &family{make: func(key string) *policy.Attribute {
		a := of(key)
		a.Name, a.Family, a.Key = name+" "+key, name, key
		return a
	}}
	rows = append(rows, f.attribute(key))
	return f
}

func (f *family) attribute(key string) *policy.Attribute {
	if made, ok := f.made.Load(key); ok {
		return made.(*policy.Attribute)
	}
	made, _ := f.made.LoadOrStore(key, f.make(key))
	return made.(*policy.Attribute)
}

// All returns the rows in the order of their names. One attribute stands for its family.
func All() []*policy.Attribute {
	return slices.SortedFunc(slices.Values(rows), func(a, b *policy.Attribute) int { return strings.Compare(a.Name, b.Name) })
}

// valueAt returns value i of a list.
func valueAt(values []string, i int) (string, bool) {
	if i < len(values) {
		return values[i], true
	}
	return "", false
}
