package manifest

import (
	"fmt"
	"math"

	"github.com/goccy/go-yaml/ast"
)

// converter turns the parser's tree into nodes. A node is smaller, and it has only what
// this package accepts.
type converter struct{ file string }

func (c *converter) node(from ast.Node, field string) (*node, error) {
	n := &node{line: line(from)}
	switch from := from.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		n.kind, n.scalar = boolean, fmt.Sprint(from.Value)
	case *ast.IntegerNode:
		n.kind, n.scalar = integer, fmt.Sprint(from.Value)
	case *ast.FloatNode:
		n.kind, n.scalar = float, from.Token.Value
		if math.IsInf(from.Value, 0) {
			return nil, &Error{File: c.file, Line: n.line, Field: field, Reason: "the number is too large"}
		}
	case *ast.InfinityNode:
		n.kind, n.scalar = float, from.Token.Value
	case *ast.NanNode:
		n.kind, n.scalar = float, from.Token.Value
	case *ast.StringNode:
		n.kind, n.scalar = text, from.Value
	case *ast.LiteralNode:
		n.kind, n.scalar = text, from.Value.Value
	case *ast.SequenceNode:
		n.kind = list
		return n, c.items(n, from.Values, field)
	case *ast.MappingNode:
		n.kind = mapping
		return n, c.entries(n, from.Values, field)
	case *ast.MappingValueNode:
		n.kind = mapping
		return n, c.entries(n, []*ast.MappingValueNode{from}, field)
	default:
		return nil, &Error{File: c.file, Line: n.line, Field: field, Reason: "malformed YAML: a value was expected"}
	}
	return n, nil
}

func (c *converter) items(n *node, values []ast.Node, field string) error {
	n.items = make([]*node, len(values))
	for i, value := range values {
		item, err := c.node(value, index(field, i))
		if err != nil {
			return err
		}
		n.items[i] = item
	}
	return nil
}

func (c *converter) entries(n *node, values []*ast.MappingValueNode, field string) error {
	n.entries = make([]entry, len(values))
	seen := make(map[string]int, len(values))
	for i, value := range values {
		e := entry{line: line(value.Key)}
		switch key := value.Key.(type) {
		case *ast.StringNode:
			e.key = key.Value
		case *ast.LiteralNode, *ast.MappingKeyNode, *ast.NullNode, *ast.MergeKeyNode:
			return &Error{File: c.file, Line: e.line, Field: field, Reason: "a key must be text on one line"}
		default:
			e.key = key.GetToken().Value
		}
		if first, ok := seen[e.key]; ok {
			return &Error{File: c.file, Line: e.line, Field: child(field, e.key), Reason: fmt.Sprintf("the key appears twice, first on line %d", first)}
		}
		seen[e.key] = e.line
		var err error
		if e.value, err = c.node(value.Value, child(field, e.key)); err != nil {
			return err
		}
		n.entries[i] = e
	}
	return nil
}

// line returns the line on which a node begins. A mapping begins with its first key, and
// the parser gives it the line of the colon.
func line(n ast.Node) int {
	switch from := n.(type) {
	case *ast.MappingNode:
		if !from.IsFlowStyle && len(from.Values) > 0 {
			return line(from.Values[0])
		}
	case *ast.MappingValueNode:
		return line(from.Key)
	case nil:
		return 0
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}
