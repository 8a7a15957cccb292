package manifest

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/meshproof/meshproof/internal/fieldpath"
)

// maxCopied bounds the values that the aliases of one document stand for, all together.
const maxCopied = 100_000

// unsupportedAnchor refuses an anchor behind another one: YAML has one for each value, and the parser nests them without a bound.
func unsupportedAnchor(t *token.Token) string {
	if t.PreviousType() == token.AnchorType || t.Prev != nil && t.Prev.PreviousType() == token.AnchorType {
		return "a value has two anchors: leave one out"
	}
	return ""
}

// anchored returns the value behind an anchor, and keeps it for the aliases that follow.
func (c *converter) anchored(from *ast.AnchorNode, field string) (*node, error) {
	n := &node{line: line(from)}
	if from.Value != nil {
		var err error
		if n, err = c.node(from.Value, field); err != nil {
			return nil, err
		}
	}
	if c.anchors == nil {
		c.anchors = map[string]*node{}
	}
	c.anchors[from.Name.GetToken().Value] = n
	return n, nil
}

// aliased returns a copy of what an alias stands for, on the line of the alias.
func (c *converter) aliased(from *ast.AliasNode, field string) (*node, error) {
	at := line(from)
	if c.alias == 0 {
		c.alias = at
	}
	name := from.Value.GetToken().Value
	n, ok := c.anchors[name]
	if !ok {
		return nil, &Error{File: c.file, Line: at, Field: field, Reason: fmt.Sprintf("there is no anchor &%s before this alias", shorten(name))}
	}
	return c.copy(n, at, field, c.depth)
}

// aliasedKey returns the text that an alias stands for as a key.
func (c *converter) aliasedKey(from *ast.AliasNode, field string) (string, error) {
	n, err := c.aliased(from, field)
	if err == nil && n.kind != text {
		err = &Error{File: c.file, Line: n.line, Field: field, Reason: "a key is a text, and this alias stands for " + n.describe()}
	}
	if err != nil {
		return "", err
	}
	return n.scalar, nil
}

func (c *converter) copy(n *node, at int, field string, depth int) (*node, error) {
	refuse := func(reason string, bound int) (*node, error) {
		return nil, &Error{File: c.file, Line: at, Field: field, Reason: fmt.Sprintf(reason, bound)}
	}
	if c.copied++; c.copied > maxCopied {
		return refuse("aliases stand for more than %d values", maxCopied)
	}
	if depth > maxDepth {
		return refuse("nested deeper than %d levels", maxDepth)
	}
	out := *n
	out.line, out.items, out.entries = at, nil, nil
	for _, item := range n.items {
		to, err := c.copy(item, at, field, depth+1)
		if err != nil {
			return nil, err
		}
		out.items = append(out.items, to)
	}
	for _, e := range n.entries {
		to, err := c.copy(e.value, at, field, depth+1)
		if err != nil {
			return nil, err
		}
		out.entries = append(out.entries, entry{key: e.key, line: at, value: to})
	}
	return &out, nil
}

// merge adds the entries of what a merge key names, a mapping or a list of them, but those whose key is there already.
func (c *converter) merge(n *node, from *ast.MappingValueNode, field string) error {
	if c.alias == 0 {
		c.alias = line(from.Key)
	}
	value, err := c.node(from.Value, fieldpath.Child(field, "<<"))
	if err != nil {
		return err
	}
	all := []*node{value}
	if value.kind == list {
		all = value.items
	}
	has := map[string]bool{}
	for _, e := range n.entries {
		has[e.key] = true
	}
	for _, one := range all {
		if one.kind != mapping {
			return &Error{File: c.file, Line: line(from.Key), Field: field, Reason: "a merge key names mappings, and this is " + one.describe()}
		}
		for _, e := range one.entries {
			if !has[e.key] {
				has[e.key] = true
				n.entries = append(n.entries, e)
			}
		}
	}
	if len(n.entries) > maxKeys {
		return &Error{File: c.file, Line: line(from.Key), Field: field, Reason: fmt.Sprintf("more than %d keys in one mapping", maxKeys)}
	}
	return nil
}
