package lowering

import (
	"fmt"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
	"github.com/meshproof/meshproof/policy/kuma/internal/tree"
)

// Tree returns the full decision tree of an inbound to which the selection applies.
// Under every option the matchers are grouped by their action, and the groups are
// numbered in order of concatenation. A matcher that can never hold on the inbound is
// in no group.
//
// The legacy form has no such tree, and gives an error: its items are not grouped, for
// the last item that matches decides.
func Tree(sel selection.Selection, in policy.Inbound) (*tree.Node, error) {
	if sel.IsFrom() {
		return nil, fmt.Errorf("policy/kuma: tree of inbound %s: its policies are of the legacy form, of which the last item that matches decides; options 1, 2 and 3 have a tree", in)
	}
	l := lowering{layer: in.Protocol.Layer()}
	return l.tree(sel), nil
}

func (l *lowering) tree(sel selection.Selection) *tree.Node {
	rules := make([]tree.Rule, 0, len(sel.Policies))
	for i := range sel.Policies {
		for _, r := range sel.Policies[i].Rules {
			for list, matchers := range r.Lists {
				if len(matchers) == 0 {
					continue
				}
				lower := l.allowed
				if permission.Actions[list] == tree.Deny {
					lower = l.denied
				}
				rules = append(rules, tree.Rule{Action: permission.Actions[list], When: l.conditions(matchers, lower)})
			}
		}
	}
	return tree.Build(tree.Groups(rules))
}

// program prunes a full tree and lowers it. Each question becomes a rule: the questions
// on its yes are nested in it, and those on its no follow it. The origin of a verdict
// is the name of its action, for a group has conditions of many policies.
func (l *lowering) program(root *tree.Node) policy.Program {
	pruned := root.Prune()
	program := policy.Program{Gates: []policy.Gate{l.treeGate(pruned, tree.Action.Denies)}}
	if hasAction(root, tree.AllowWithShadowDeny) {
		program.Shadows = []policy.Gate{l.treeGate(pruned, tree.Action.DeniesInShadow)}
	}
	return program
}

func (l *lowering) treeGate(root *tree.Node, denies func(tree.Action) bool) policy.Gate {
	rules, verdict := treeRules(root, denies)
	return policy.Gate{Layer: l.layer, Rules: rules, Default: verdict}
}

func treeRules(n *tree.Node, denies func(tree.Action) bool) ([]policy.Rule, policy.Verdict) {
	if n.Leaf() {
		return nil, treeVerdict(n.Action, denies(n.Action))
	}
	then, met := treeRules(n.Yes, denies)
	otherwise, fallback := treeRules(n.No, denies)
	rules := []policy.Rule{{Verdict: met, When: n.Ask.Condition(), Then: then}}
	return append(rules, otherwise...), fallback
}

func treeVerdict(a tree.Action, denied bool) policy.Verdict {
	v := policy.Verdict{Effect: policy.Allow, Origin: a.String()}
	if denied {
		v.Effect = policy.Deny
	}
	if a == tree.Nothing {
		v.Origin = defaultOrigin
	}
	return v
}

// hasAction reports whether a leaf of the tree has the action.
func hasAction(n *tree.Node, a tree.Action) bool {
	if n.Leaf() {
		return n.Action == a
	}
	return hasAction(n.Yes, a) || hasAction(n.No, a)
}
