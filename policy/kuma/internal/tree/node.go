// Package tree has the decision tree of Option 3, MeshTrafficPermission with
// conditions. Rules of one action are one group. Each inner node asks the condition of
// one group. Each leaf merges the actions of the groups whose condition was met on the
// way to it.
//
// It guarantees that a tree decides as its rules do, pruned or not: the heaviest action
// that applies wins (Deny over AllowWithShadowDeny over Allow), and a request without
// an action is denied. Its text and its drawing show every node.
//
// It knows neither policies nor inbounds, and [Node.Prune] is its only optimization.
package tree

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// Rule is an action with its conditions. One condition is enough.
type Rule struct {
	Action Action
	// When has the conditions. A rule without conditions applies to no request.
	When []policy.Condition
}

// Group is all rules of one action.
type Group struct {
	// Number counts the groups from 1, in the order of their first rules.
	Number int
	Action Action
	// When has the conditions of all its rules, in order, and is never empty.
	When policy.Or
}

// Condition returns what the group asks of a request.
func (g *Group) Condition() policy.Condition {
	if len(g.When) == 1 {
		return g.When[0]
	}
	return g.When
}

// Node is an inner node, which asks a group, or a leaf, which answers. The zero value
// is the leaf of a tree without rules.
type Node struct {
	// Ask is the group that an inner node asks; nil for a leaf.
	Ask     *Group
	Yes, No *Node
	// Action is the answer of a leaf. Met has the groups it is merged from, by number.
	Action Action
	Met    []*Group
	// Settled is true for a leaf that stands for several leaves with other groups. Met
	// is empty then.
	Settled bool
}

// Leaf reports whether the node answers.
func (n *Node) Leaf() bool { return n.Ask == nil }

// Groups puts the conditions of each action into one group. A rule without conditions
// adds nothing, and a group without conditions is left out.
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

// Build returns the full tree, which asks every group on every way. With three actions
// it has seven inner nodes and eight leaves.
func Build(groups []*Group) *Node { return build(groups, nil) }

func build(ask, met []*Group) *Node {
	if len(ask) == 0 {
		leaf := &Node{Met: met}
		for _, g := range met {
			leaf.Action = max(leaf.Action, g.Action)
		}
		return leaf
	}
	// Without the cut of the capacity, both ways would append to one array.
	yes := append(met[:len(met):len(met)], ask[0])
	return &Node{Ask: ask[0], Yes: build(ask[1:], yes), No: build(ask[1:], met)}
}

// Prune returns the tree without the questions whose answer changes nothing. A node
// whose two ways answer alike is replaced by one of them, and a condition that always
// holds is not asked. The receiver is not changed.
//
// Deny and Nothing stay apart although both refuse: a policy denies, or none does.
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

// settle drops the groups of each leaf.
func (n *Node) settle() *Node {
	if n.Leaf() {
		return &Node{Action: n.Action, Settled: true}
	}
	return &Node{Ask: n.Ask, Yes: n.Yes.settle(), No: n.No.settle()}
}

// Decide returns the action for one request.
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

// Action is what a rule does to the requests that meet one of its conditions. A
// heavier action has a greater value, so that the merged action is the greatest.
type Action uint8

// The actions, the lightest first. Nothing is the action of a request without a
// rule: it is denied by "default".
const (
	Nothing Action = iota
	Allow
	AllowWithShadowDeny
	Deny
)

var actionNames = [...]string{Nothing: "Nothing", Allow: "Allow", AllowWithShadowDeny: "AllowWithShadowDeny", Deny: "Deny"}

// String returns the name used in policies.
func (a Action) String() string { return actionNames[a] }

// UnmarshalText reads the name used in policies. An unknown name is an error that
// lists the known ones. Nothing is no name that a policy can use.
func (a *Action) UnmarshalText(text []byte) error {
	for i, name := range actionNames {
		if name == string(text) && Action(i) != Nothing {
			*a = Action(i)
			return nil
		}
	}
	return fmt.Errorf("action %q is unknown: use Deny, Allow or AllowWithShadowDeny", text)
}

// Denies reports whether a request is refused.
func (a Action) Denies() bool { return a == Deny || a == Nothing }

// DeniesInShadow reports whether the shadow refuses a request: it would be refused
// if every AllowWithShadowDeny were a Deny.
func (a Action) DeniesInShadow() bool { return a != Allow }
