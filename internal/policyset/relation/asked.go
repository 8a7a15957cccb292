package relation

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/renaming"
	"github.com/meshproof/meshproof/internal/policyset/tree"
	"github.com/meshproof/meshproof/policy/language"
)

// askedLabel is a label that a selector asks for. Its key is as the selector has it.
type askedLabel struct{ key, value string }

// askedLabels returns the labels that selectors ask for and that a workload has.
func (m *relation) askedLabels(c *cases.Case, policies []any) (out []askedLabel) {
	asked := map[askedLabel]bool{}
	tree.Visit("", policies, func(key string, v any) {
		labels, _ := v.(map[string]any)
		for _, label := range tree.Keys(labels) {
			if text, ok := labels[label].(string); ok && slices.Contains(labelMaps, key) && !strings.Contains(label, "kuma.io/") && !renaming.IsGivenLabel(label) {
				asked[askedLabel{label, text}] = true
			}
		}
		if of, ok := v.(map[string]any); ok && key == "matchExpressions" {
			label, _ := of["key"].(string)
			values, _ := of["values"].([]any)
			for _, value := range values {
				if text, ok := value.(string); ok && !renaming.IsGivenLabel(label) {
					asked[askedLabel{label, text}] = true
				}
			}
		}
	})
	own := c.Inbounds[m.inbound]
	for _, l := range slices.SortedFunc(maps.Keys(asked), func(a, b askedLabel) int { return strings.Compare(a.key+"="+a.value, b.key+"="+b.value) }) {
		has := func(labels map[string]string) bool { return labels[withoutSource(l.key)] == l.value }
		if has(own.Workload.Labels) || own.Tags[l.key] == l.value || slices.ContainsFunc(c.Options.Peers, func(p language.Peer) bool { return has(p.Workload.Labels) }) {
			out = append(out, l)
		}
	}
	return out
}

// missedLabel adds a policy that says what another one says, for other callers, and asks for a label that the workload nearly has: its
// key is another one that a compiler may take for the same, or one of the two is empty. A compiler that reads a missing label as an
// empty one, or compares keys in any case or without their prefix, selects by it otherwise.
func (m *relation) missedLabel(c *cases.Case, policies []any) []any {
	of := slices.DeleteFunc(slices.Clone(policies), func(p any) bool {
		return !slices.ContainsFunc(selections([]any{p}, 1), func(labels map[string]any) bool { return m.selectsOwn(c, labels) })
	})
	if len(of) == 0 || len(policies) > 20 {
		return policies
	}
	twin := tree.OtherCallers(tree.Clone(choice.Pick(m.Chooser, of...)), m.Choose(1<<20))
	metadata := tree.Metadata(twin)
	metadata["name"] = m.Letters(6)
	tree.ForgetDisplayName(metadata)
	for _, labels := range selections([]any{twin}, 1) {
		key := choice.Pick(m.Chooser, tree.Keys(labels)...)
		switch m.rank / 14 % 4 {
		case 0, 1:
			near := m.nearKey(withoutSource(key))
			if near == "" || slices.ContainsFunc(c.Inbounds, func(in cases.Inbound) bool { return in.Workload.Labels[near] != "" }) {
				return policies
			}
			labels[near] = labels[key]
			delete(labels, key)
		case 2:
			labels[choice.Pick(m.Chooser, key, "zz"+m.Letters(4))] = ""
		default:
			m.askForEmpty(c, twin, labels)
		}
	}
	return append(slices.Clone(policies), twin)
}

// askForEmpty has a policy ask for an empty label that the workload has, and sometimes lacks. Linkerd takes no two Servers of one port, so
// that the policy does not select the workload there.
func (m *relation) askForEmpty(c *cases.Case, policy any, labels map[string]any) {
	empty, isLinkerd := "zz"+m.Letters(4), m.profile == feature.LinkerdAuthz
	operators := []string{"Exists", "In", "In", "NotIn"}
	if isLinkerd {
		operators = []string{"DoesNotExist", "NotIn"}
	}
	expression := map[string]any{"key": empty, "operator": choice.Pick(m.Chooser, operators...)}
	if isLinkerd || expression["operator"] != "NotIn" || m.OneIn(3) {
		m.relabel(c, func(own map[string]string) { own[empty] = "" })
	}
	switch expression["operator"] {
	case "In", "NotIn":
		expression["values"] = choice.Pick(m.Chooser, []any{""}, []any{"", "x"}, []any{"x", ""})
	}
	for _, key := range []string{"selector", "podSelector", "endpointSelector"} {
		for _, of := range tree.Objects([]any{policy})[key] {
			if !ofIstio([]any{policy}) {
				expressions, _ := of["matchExpressions"].([]any)
				of["matchExpressions"] = append(slices.Clone(expressions), expression)
				return
			}
		}
	}
	labels[empty] = ""
}

// nearKey returns a key that a compiler may take for another one: in the other case, with another prefix or none, or with other signs. It is
// "" where the labels of Kubernetes have none.
func (m *relation) nearKey(key string) string {
	prefix, name, isPrefixed := strings.Cut(key, "/")
	if !isPrefixed {
		prefix, name = "", key
	}
	prefixed := func(name string) string { return strings.TrimPrefix(prefix+"/"+name, "/") }
	other := m.Letters(4) + ".example/" + name
	if isPrefixed {
		other = name
	}
	keys := slices.DeleteFunc([]string{
		prefixed(strings.ToUpper(name[:min(1, len(name))]) + name[min(1, len(name)):]), prefixed(strings.ToUpper(name)), prefixed(strings.ToLower(name)),
		other, other, strings.NewReplacer("/", "_", ".", "_", "-", "_").Replace(key), strings.NewReplacer(".", "-", "_", "-").Replace(key),
	}, func(like string) bool { return like == key || len(validation.IsQualifiedName(like)) > 0 })
	if len(keys) == 0 {
		return ""
	}
	return choice.Pick(m.Chooser, keys...)
}
