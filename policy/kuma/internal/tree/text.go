package tree

import (
	"fmt"
	"strings"
)

// String returns the tree as text, with one line for each node. Below each question are
// its two ways, and at the end are the conditions.
func (n *Node) String() string {
	var b strings.Builder
	n.write(&b, "")
	for i, g := range n.asked() {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s, of %s: %s\n", g, g.Action, g.Condition())
	}
	return b.String()
}

// write writes the node behind what is on the line already. The lines below it begin
// with the indent.
func (n *Node) write(b *strings.Builder, indent string) {
	b.WriteString(n.label())
	b.WriteByte('\n')
	if n.Leaf() {
		return
	}
	b.WriteString(indent + "├─ yes  ")
	n.Yes.write(b, indent+"│       ")
	b.WriteString(indent + "└─ no   ")
	n.No.write(b, indent+"        ")
}

// String returns the name of the group's condition.
func (g *Group) String() string { return fmt.Sprintf("condition_%d", g.Number) }

// label is the text of a node: its question, or its answer with the merged actions.
func (n *Node) label() string {
	switch {
	case !n.Leaf():
		return n.Ask.String() + " ?"
	case n.Settled:
		return n.answer()
	}
	return n.merge() + " = " + n.answer()
}

func (n *Node) merge() string {
	names := make([]string, len(n.Met))
	for i, g := range n.Met {
		names[i] = g.Action.String()
	}
	return "merge(" + strings.Join(names, ", ") + ")"
}

func (n *Node) answer() string {
	if n.Action == Nothing {
		return "Deny by default"
	}
	return n.Action.String()
}
