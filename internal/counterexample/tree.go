package counterexample

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/policy/manifest"
)

// kind is what a node has below it.
type kind uint8

const (
	leaf kind = iota
	list
	mapping
)

// tree is a value in a policy. It never changes: a [candidate] says which nodes are
// removed.
type tree struct {
	kind kind
	// key is the key of an entry of a mapping.
	key string
	// text is a leaf as it is written.
	text     string
	children []*tree
}

// newTrees returns the list of the policies.
func newTrees(docs []manifest.Document) *tree {
	root := &tree{kind: list}
	for _, doc := range docs {
		// Written again, each entry has its own line, and the lines tell the order.
		again, err := manifest.Parse("policy", doc.YAML())
		if err != nil || len(again) != 1 {
			again = []manifest.Document{doc}
		}
		root.children = append(root.children, newTree("", again[0]))
	}
	return root
}

func newTree(key string, doc manifest.Document) *tree {
	node := &tree{key: key}
	var items []manifest.Document
	var entries map[string]manifest.Document
	switch {
	case doc.Decode(&items) == nil && len(items) > 0:
		node.kind = list
		for _, item := range items {
			node.children = append(node.children, newTree("", item))
		}
	case doc.Decode(&entries) == nil && len(entries) > 0:
		node.kind = mapping
		for key, value := range entries {
			node.children = append(node.children, newTree(key, value))
		}
		slices.SortFunc(node.children, func(a, b *tree) int { return cmp.Compare(entries[a.key].Line(), entries[b.key].Line()) })
	default:
		node.text = cmp.Or(strings.TrimSuffix(string(doc.YAML()), "\n"), "null")
	}
	return node
}

// alive returns the children of a node that are not removed.
func (c candidate) alive(node *tree) []*tree {
	return slices.DeleteFunc(slices.Clone(node.children), func(child *tree) bool { return c.removed[child] })
}

// text writes what is left of a node, in braces.
func (c candidate) text(node *tree) string {
	var b strings.Builder
	c.write(&b, node)
	return b.String()
}

func (c candidate) write(b *strings.Builder, node *tree) {
	if node.kind == leaf {
		b.WriteString(node.text)
		return
	}
	brackets := "[]"
	if node.kind == mapping {
		brackets = "{}"
	}
	b.WriteByte(brackets[0])
	for i, child := range c.alive(node) {
		if i > 0 {
			b.WriteString(",\n ")
		}
		if node.kind == mapping {
			b.WriteString(strconv.Quote(child.key) + ": ")
		}
		c.write(b, child)
	}
	b.WriteByte(brackets[1])
}

// texts calls each with every text that is left below a node.
func (c candidate) texts(node *tree, each func(string)) {
	if node.kind == leaf {
		if docs, err := manifest.Parse("policy", []byte(node.text)); err == nil && len(docs) == 1 {
			var text string
			if docs[0].Decode(&text) == nil {
				each(text)
			}
		}
	}
	for _, child := range c.alive(node) {
		c.texts(child, each)
	}
}

// minimize leaves out items while take accepts the rest. It tries no item at all, then
// halves, then smaller parts and all without one part (ddmin of delta debugging). In the
// end no single item can be left out. The function take keeps what it accepts.
func minimize[T any](items []T, take func(kept []T) bool) {
	if len(items) == 0 || take(nil) {
		return
	}
	for parts := 2; len(items) > 1; {
		kept, one := smaller(items, parts, take)
		switch {
		case one:
			items, parts = kept, 2
		case kept != nil:
			items, parts = kept, max(parts-1, 2)
		case parts >= len(items):
			return
		default:
			parts = min(2*parts, len(items))
		}
	}
}

// smaller returns the first that take accepts: one part of the items, or all items
// without one part. It returns nil where take accepts nothing.
func smaller[T any](items []T, parts int, take func([]T) bool) (kept []T, one bool) {
	bound := func(part int) int { return part * len(items) / parts }
	for part := range parts {
		if some := items[bound(part):bound(part+1)]; take(some) {
			return some, true
		}
	}
	// Of two parts, all without one is the other part: it was tried.
	for part := 0; part < parts && parts > 2; part++ {
		if rest := slices.Concat(items[:bound(part)], items[bound(part+1):]); take(rest) {
			return rest, false
		}
	}
	return nil, false
}
