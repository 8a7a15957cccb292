package inspect

import (
	"net/http"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/tree"
)

// Tree is the answer about the decision tree of one inbound, which Option 3 compiles.
type Tree struct {
	Kind string `json:"kind"`
	// Conditions are what the nodes ask, by number.
	Conditions []TreeCondition `json:"conditions"`
	// Tree asks every condition on every way. Pruned has only the questions that matter.
	Tree   TreeNode `json:"tree"`
	Pruned TreeNode `json:"pruned"`
}

// TreeCondition is the conditions of all rules of one action. A request meets it with one of
// them.
type TreeCondition struct {
	Name   string   `json:"name"`
	Action string   `json:"action"`
	AnyOf  []string `json:"anyOf"`
}

// TreeNode is a question with its two ways, or an answer.
type TreeNode struct {
	Ask string    `json:"ask,omitempty"`
	Yes *TreeNode `json:"yes,omitempty"`
	No  *TreeNode `json:"no,omitempty"`
	// Action is the answer. Merged has the actions of the conditions that were met on the way,
	// an empty list for a request that met none. It is absent where several ways became one.
	Action string   `json:"action,omitempty"`
	Merged []string `json:"merged,omitzero"`
}

// decisionTree returns the tree of an inbound. The legacy form has none.
func (r *Resources) decisionTree(m *mesh, in policy.Inbound) (Tree, *tree.Node, *problem) {
	root, err := lowering.Tree(m.selectFor(in, r.opts), in)
	if err != nil {
		return Tree{}, nil, notFound("%v", err)
	}
	out := Tree{Kind: policyKind, Conditions: []TreeCondition{}, Tree: newTreeNode(root), Pruned: newTreeNode(root.Prune())}
	for node := root; !node.Leaf(); node = node.Yes {
		condition := TreeCondition{Name: node.Ask.String(), Action: node.Ask.Action.String()}
		for _, when := range node.Ask.When {
			condition.AnyOf = append(condition.AnyOf, when.String())
		}
		out.Conditions = append(out.Conditions, condition)
	}
	return out, root, nil
}

func newTreeNode(n *tree.Node) TreeNode {
	if !n.Leaf() {
		yes, no := newTreeNode(n.Yes), newTreeNode(n.No)
		return TreeNode{Ask: n.Ask.String(), Yes: &yes, No: &no}
	}
	leaf := TreeNode{Action: n.Action.String()}
	if n.Action == tree.Nothing {
		leaf.Action = tree.Deny.String()
	}
	if !n.Settled {
		leaf.Merged = []string{}
		for _, g := range n.Met {
			leaf.Merged = append(leaf.Merged, g.Action.String())
		}
	}
	return leaf
}

func (h handler) inboundTree(w http.ResponseWriter, req *http.Request) {
	m, d, refusal := h.resources.find(req.PathValue("mesh"), req.PathValue("name"))
	var in policy.Inbound
	if refusal == nil {
		in, refusal = findInbound(d, req.PathValue("inbound"))
	}
	var answer Tree
	if refusal == nil {
		answer, _, refusal = h.resources.decisionTree(m, in)
	}
	if refusal != nil {
		refusal.write(w)
		return
	}
	ok(w, answer)
}

// treeText is the pruned tree as the page shows it. It is empty where there is none, and under
// the options that compile no tree.
func (r *Resources) treeText(m *mesh, in policy.Inbound) string {
	_, root, refusal := r.decisionTree(m, in)
	if refusal != nil || root.Leaf() || r.opts.Option != permission.Option3 {
		return ""
	}
	return strings.TrimSuffix(root.Prune().String(), "\n")
}
