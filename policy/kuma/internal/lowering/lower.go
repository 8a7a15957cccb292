// Package lowering turns the MeshTrafficPermissions that apply to an inbound into a
// decision program, in the way of each of the three options and of the legacy form.
//
// It guarantees that every deny comes before every allow, and that a request which
// no matcher meets is denied by "default". It selects no policy.
package lowering

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
	"github.com/meshproof/meshproof/policy/kuma/internal/tree"
)

// defaultOrigin is the origin of a verdict that no policy gave.
const defaultOrigin = "default"

// Lower returns the decision program of the inbound of the selection. It
// has one gate of the inbound's layer, with every deny before every allow. The origin
// of a rule is the KRI of its policy. The other options have other origins; Option 3
// also has another shadow, and its rules nest.
//
// A tcp inbound shows neither path nor method. There an allow that asks for one never
// matches. A deny that asks for one keeps its identity and its server name, and denies
// everybody where it has neither. Package lint warns of each such matcher.
func Lower(sel selection.Selection, in policy.Inbound, opts permission.Options) policy.Program {
	if sel.IsFrom() {
		return lowerFrom(sel, in, opts)
	}
	l := lowering{layer: in.Protocol.Layer(), precise: opts.ShadowForm == permission.Precise}
	switch opts.Option {
	case permission.Option2:
		l.addLists(MergeLists(sel.Policies), permission.MergedOrigin)
	case permission.Option3:
		return l.program(l.tree(sel))
	default:
		for i := range sel.Policies {
			l.add(&sel.Policies[i])
		}
	}
	program := policy.Program{Gates: []policy.Gate{l.gate(l.denies, l.allows)}}
	if len(l.shadowDenies) > 0 {
		shadow := l.gate(l.shadowDenies)
		if l.precise {
			shadow = l.gate(l.denies, l.shadowDenies, l.plainAllows)
		}
		program.Shadows = []policy.Gate{shadow}
	}
	return program
}

// lowering collects the rules of each kind, in order of concatenation.
type lowering struct {
	layer   policy.Layer
	precise bool

	denies, shadowDenies []policy.Rule
	// allows has the rules of allow and of allowWithShadowDeny: both let requests in.
	allows []policy.Rule
	// plainAllows has the rules of allow alone. The precise shadow needs them.
	plainAllows []policy.Rule
}

func (l *lowering) add(p *permission.Policy) {
	for i := range p.Rules {
		l.addLists(&p.Rules[i].Lists, p.Origin)
	}
}

func (l *lowering) addLists(lists *[3][]permission.Matcher, origin string) {
	shadowed := l.conditions(lists[permission.AllowWithShadowDeny], l.allowed)
	allowed := l.conditions(lists[permission.Allow], l.allowed)
	l.denies = appendRule(l.denies, policy.Deny, origin, l.conditions(lists[permission.Deny], l.denied))
	l.shadowDenies = appendRule(l.shadowDenies, policy.Deny, origin, shadowed)
	if l.precise {
		l.plainAllows = appendRule(l.plainAllows, policy.Allow, origin, allowed)
	}
	l.allows = appendRule(l.allows, policy.Allow, origin, slices.Concat(allowed, shadowed))
}

// MergeLists concatenates each list of the confs, in order of concatenation. Kuma declares
// this for the fields of a conf (policyMerge: concat).
func MergeLists(ps []permission.Policy) *[3][]permission.Matcher {
	var merged [3][]permission.Matcher
	var sizes [3]int
	for i := range ps {
		for j := range ps[i].Rules {
			for list, matchers := range ps[i].Rules[j].Lists {
				sizes[list] += len(matchers)
			}
		}
	}
	for list, size := range sizes {
		if size > 0 {
			merged[list] = make([]permission.Matcher, 0, size)
		}
	}
	for i := range ps {
		for j := range ps[i].Rules {
			for list, matchers := range ps[i].Rules[j].Lists {
				merged[list] = append(merged[list], matchers...)
			}
		}
	}
	return &merged
}

func appendRule(rules []policy.Rule, effect policy.Effect, origin string, anyOf []policy.Condition) []policy.Rule {
	if len(anyOf) == 0 {
		return rules
	}
	var when policy.Condition = policy.Or(anyOf)
	if len(anyOf) == 1 {
		when = anyOf[0]
	}
	return append(rules, policy.Rule{Verdict: policy.Verdict{Effect: effect, Origin: origin}, When: when})
}

func (l *lowering) gate(phases ...[]policy.Rule) policy.Gate {
	return policy.Gate{
		Layer: l.layer, Rules: slices.Concat(phases...), Default: policy.Verdict{Effect: policy.Deny, Origin: defaultOrigin},
	}
}

// conditions lowers a list of matchers. A matcher that always holds stands for the
// whole list, and a matcher that never holds is left out.
func (l *lowering) conditions(matchers []permission.Matcher, lower func(*permission.Matcher) policy.Condition) []policy.Condition {
	if len(matchers) == 0 {
		return nil
	}
	out := make([]policy.Condition, 0, len(matchers))
	for i := range matchers {
		switch c := lower(&matchers[i]); c {
		case policy.Never:
		case policy.Always:
			return []policy.Condition{policy.Always}
		default:
			out = append(out, c)
		}
	}
	return out
}

// allowed lowers a matcher that lets requests pass.
func (l *lowering) allowed(m *permission.Matcher) policy.Condition {
	if l.layer == policy.L4 && m.NeedsL7() {
		return policy.Never
	}
	return m.When
}

// denied lowers a matcher that refuses requests.
func (l *lowering) denied(m *permission.Matcher) policy.Condition {
	if l.layer == policy.L7 || !m.NeedsL7() {
		return m.When
	}
	return m.OnConnection
}

// fromItems has the legacy items that govern an inbound, in order of concatenation.
type fromItems struct {
	// proxy has the items that govern every request. They come before those of a route.
	proxy []fromItem
	// routes has the items of the policies that target a route, by its name.
	routes map[string][]fromItem
}

// fromItem is an item and the policy that has it.
type fromItem struct {
	*permission.FromItem
	policy *permission.Policy
	index  int
}

func fromItemsOf(sel selection.Selection) fromItems {
	items := fromItems{routes: make(map[string][]fromItem)}
	for i := range sel.Policies {
		p := &sel.Policies[i]
		own := make([]fromItem, len(p.From))
		for k := range p.From {
			own[k] = fromItem{&p.From[k], p, k}
		}
		switch {
		case p.Target.Kind == target.Route:
			items.routes[p.Target.Name] = append(items.routes[p.Target.Name], own...)
		case items.proxy == nil:
			items.proxy = own
		default:
			items.proxy = append(items.proxy, own...)
		}
	}
	return items
}

// forRoute returns all items that govern a route.
func (i fromItems) forRoute(route string) []fromItem {
	return slices.Concat(i.proxy, i.routes[route])
}

func compiled(items []fromItem) []legacy.Item {
	out := make([]legacy.Item, len(items))
	for i, item := range items {
		out[i] = item.Compiled
	}
	return out
}

// Warn warns where the full compiler denies a client that the items admit, see
// [legacy.Compiler.Denied], and where released Kuma admits a client that the items deny, see [legacy.LostDeny].
func Warn(sel selection.Selection, in policy.Inbound, opts permission.Options) []policy.Warning {
	all := fromItemsOf(sel)
	lists := [][]fromItem{all.proxy}
	for _, route := range in.Routes {
		if len(all.routes[route.Name]) > 0 {
			lists = append(lists, all.forRoute(route.Name))
		}
	}
	var out []policy.Warning
	if lost, ok := LostDeny(sel); ok {
		out = append(out, lost)
	}
	for _, items := range lists {
		if by, a, b, denied := opts.LegacyCompiler.Denied(compiled(items)); denied {
			warning := items[by].policy.Warn(warning.ManyTags, items[by].Field,
				"legacyCompiler full denies a client whose certificate has both %s and %s, as that of a dataplane with two inbounds: this item admits it; use legacyCompiler compact", a, b)
			if !slices.Contains(out, warning) {
				out = append(out, warning)
			}
		}
	}
	return out
}

// LostDeny warns of a client that the items deny and that released Kuma admits, or may admit, see [legacy.LostDeny]. No release knows
// items of routes.
func LostDeny(sel selection.Selection) (policy.Warning, bool) {
	items := fromItemsOf(sel).proxy
	denier, allower, lost, err := legacy.LostDeny(compiled(items))
	var why string
	switch {
	case err != nil:
		why = fmt.Sprintf("may let in clients that this item denies, or one behind it: %v", err)
	case lost:
		why = fmt.Sprintf("lets in clients that this item denies: from[%d] of %s names them too, and Kuma asks it without this item", items[allower].index, items[allower].policy)
	default:
		return policy.Warning{}, false
	}
	return items[denier].policy.Warn(warning.LostDeny, items[denier].Field,
		"Kuma, since its patches of January 2026, %s; write rules, or set KUMA_MESH_TRAFFIC_PERMISSION_DISABLE_CLIQUES_ALGORITHM=true on the control plane", why), true
}

// lowerFrom returns the program of an inbound under the legacy form: a gate for the
// proxy, and gates for the routes with policies of their own. The first route that
// matches is taken, so that the routes in front of those are part of the program too.
func lowerFrom(sel selection.Selection, in policy.Inbound, opts permission.Options) policy.Program {
	how := legacy.Options{Compiler: opts.LegacyCompiler, Layer: in.Protocol.Layer(), Precise: opts.ShadowForm == permission.Precise}
	items := fromItemsOf(sel)
	gate, shadows := legacy.Gates(compiled(items.proxy), how)
	program := policy.Program{Gates: []policy.Gate{gate}, Shadows: shadows}
	targeted := 0
	for i, route := range in.Routes {
		if len(items.routes[route.Name]) > 0 {
			targeted = i + 1
		}
	}
	for _, route := range in.Routes[:targeted] {
		gate, shadows := legacy.Gates(compiled(items.forRoute(route.Name)), how)
		program.Routes = append(program.Routes, policy.Route{Name: route.Name, When: route.When, Gates: []policy.Gate{gate}, Shadows: shadows})
	}
	return program
}

// Check refuses a selection with too many legacy items for the full compiler: [Lower]
// would make a program of it that lets no caller in, and the error wraps a
// [*legacy.SizeError]. It refuses legacy policies whose order nobody knows too.
func Check(s selection.Selection, in policy.Inbound, opts permission.Options) error {
	if p := s.Circle(opts); p != nil {
		return p.Doc.Errorf("spec.targetRef", "%s: on %s, beside a policy that names the Dataplane and one that selects it by labels, Kuma has no order for one of every Dataplane, and the last item of from decides: write kind Mesh", p, in)
	}
	items := fromItemsOf(s)
	if err := opts.LegacyCompiler.Check(compiled(items.proxy)); err != nil {
		return fmt.Errorf("policy/kuma: inbound %s: %w", in, err)
	}
	for _, route := range in.Routes {
		if err := opts.LegacyCompiler.Check(compiled(items.forRoute(route.Name))); err != nil {
			return fmt.Errorf("policy/kuma: route %s of inbound %s: %w", route.Name, in, err)
		}
	}
	return nil
}

// Tree returns the full decision tree of the inbound of the selection.
// Under every option the matchers are grouped by their action, and the groups are
// numbered in order of concatenation. A matcher that can never hold on the inbound is
// in no group.
//
// The legacy form has no such tree, and gives an error: its items are not grouped, for
// the last item that matches decides.
func Tree(sel selection.Selection, in policy.Inbound) (*tree.Node, error) {
	if sel.IsFrom() {
		return nil, fmt.Errorf("policy/kuma: tree of inbound %s: its policies are of the legacy form, where the last item that matches decides; options 1, 2 and 3 have a tree", in)
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
