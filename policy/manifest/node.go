package manifest

import "strconv"

// kind is the type of a node as the text shows it.
type kind uint8

const (
	null kind = iota
	boolean
	integer
	float
	text
	list
	mapping
)

var kindNames = [...]string{"nothing", "a boolean", "a number", "a number", "text", "a list", "a mapping"}

// node is one value of a document. Only the fields of its kind are set.
type node struct {
	kind    kind
	line    int
	scalar  string
	items   []*node
	entries []entry
}

// entry is one key of a mapping, with its value.
type entry struct {
	key   string
	line  int
	value *node
}

func (n *node) entry(key string) (entry, bool) {
	for _, e := range n.entries {
		if e.key == key {
			return e, true
		}
	}
	return entry{}, false
}

// describe names the node in an error: "the number 8080", "a list".
func (n *node) describe() string {
	switch n.kind {
	case boolean:
		return "the boolean " + n.scalar
	case integer, float:
		return "the number " + n.scalar
	case text:
		return "the text " + strconv.Quote(shorten(n.scalar))
	default:
		return kindNames[n.kind]
	}
}

func shorten(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
