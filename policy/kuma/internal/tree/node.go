package tree

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// Rule is an action and the conditions of which one at least has to be met.
type Rule struct {
	Action Action
	// When are ORed; a rule without any applies to no request.
	When []policy.Condition
}

// Group is all rules of one action.
type Group struct {
	// Number counts the groups from 1, in the order of their first rules.
	Number int
	Action Action
	// When are the conditions of all its rules, in order; one at least.
	When policy.Or
}

// Condition returns what the group asks of a request.
func (g *Group) Condition() policy.Condition {
	if len(g.When) == 1 {
		return g.When[0]
	}
	return g.When
}

// Node is an inner node, which asks, or a leaf, which answers. The zero value is
// the leaf of a tree without rules.
type Node struct {
	// Ask is the group whose condition an inner node asks; nil for a leaf.
	Ask     *Group
	Yes, No *Node
	// Action is a leaf's answer, and Met the groups it is merged from, by number.
	Action Action
	Met    []*Group
	// Settled is set on a leaf that stands for several, whose groups therefore
	// differ; Met is empty then.
	Settled bool
}

// Leaf reports whether the node answers.
func (n *Node) Leaf() bool { return n.Ask == nil }

// Groups gathers the conditions of equal actions. A rule without conditions adds
// nothing, and a group without rules is left out.
func Groups(rules []Rule) []*Group {
	var groups []*Group
	var byAction [len(actionNames)]*Group
	var sizes [len(actionNames)]int
	for _, r := range rules {
		sizes[r.Action] += len(r.When)
	}
	for _, r := range rules {
		if len(r.When) == 0 || r.Action == Nothing {
			continue
		}
		g := byAction[r.Action]
		if g == nil {
			g = &Group{Number: len(groups) + 1, Action: r.Action, When: make(policy.Or, 0, sizes[r.Action])}
			byAction[r.Action] = g
			groups = append(groups, g)
		}
		g.When = append(g.When, r.When...)
	}
	return groups
}

// Build returns the full tree, which asks every group on every way: with three
// actions it has seven inner nodes and eight leaves.
func Build(groups []*Group) *Node { return build(groups, nil) }

func build(ask, met []*Group) *Node {
	if len(ask) == 0 {
		leaf := &Node{Met: met}
		for _, g := range met {
			leaf.Action = max(leaf.Action, g.Action)
		}
		return leaf
	}
	// The capacity is cut off so that the two ways do not share what they append.
	yes := append(met[:len(met):len(met)], ask[0])
	return &Node{Ask: ask[0], Yes: build(ask[1:], yes), No: build(ask[1:], met)}
}

// Prune returns the tree without the questions whose answer changes nothing: a
// node whose two ways answer alike gives way to one of them, and a condition that
// always holds is not asked. The receiver is left as it is.
//
// A Deny and a request that no rule applies to are told apart although both are
// refused: the first has an author.
func (n *Node) Prune() *Node {
	if n.Leaf() {
		return n
	}
	if slices.Contains(n.Ask.When, policy.Condition(policy.Always)) {
		return n.Yes.Prune()
	}
	yes, no := n.Yes.Prune(), n.No.Prune()
	if yes.answersAs(no) {
		return yes.settle()
	}
	return &Node{Ask: n.Ask, Yes: yes, No: no}
}

// answersAs reports whether two trees ask the same and answer the same.
func (n *Node) answersAs(m *Node) bool {
	if n.Leaf() || m.Leaf() {
		return n.Leaf() && m.Leaf() && n.Action == m.Action
	}
	return n.Ask == m.Ask && n.Yes.answersAs(m.Yes) && n.No.answersAs(m.No)
}

// settle drops from each leaf what it was merged from.
func (n *Node) settle() *Node {
	if n.Leaf() {
		return &Node{Action: n.Action, Settled: true}
	}
	return &Node{Ask: n.Ask, Yes: n.Yes.settle(), No: n.No.settle()}
}

// Decide walks the tree with one request.
func (n *Node) Decide(r *policy.Request) Action {
	for !n.Leaf() {
		if n.Ask.When.Holds(r) {
			n = n.Yes
		} else {
			n = n.No
		}
	}
	return n.Action
}

// asked returns the groups that the tree asks, by number.
func (n *Node) asked() []*Group {
	var out []*Group
	var walk func(*Node)
	walk = func(n *Node) {
		if n.Leaf() {
			return
		}
		if !slices.Contains(out, n.Ask) {
			out = append(out, n.Ask)
		}
		walk(n.Yes)
		walk(n.No)
	}
	walk(n)
	slices.SortFunc(out, func(a, b *Group) int { return a.Number - b.Number })
	return out
}
