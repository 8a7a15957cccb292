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

	"github.com/meshproof/meshproof/policy"
)

var rows []*policy.Attribute

// add puts a row into the table.
func add(row *policy.Attribute) *policy.Attribute {
	rows = append(rows, row)
	return row
}

// All returns the rows in the order of their names.
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
