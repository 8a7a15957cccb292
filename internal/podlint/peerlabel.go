package podlint

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/podtemplate"
	"github.com/meshproof/meshproof/internal/spelling"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// peerLabelWarnings warns of each label by which a policy names callers or callees, where no pods of the folder have it with that value, and a value that pods of the same
// namespace have is spelt almost alike. Other folders may have further pods there: so there is no warning of other values.
func peerLabelWarnings(f *lab.Files, pods podsByNamespace, unknown []string) (out []policy.Warning) {
	named := podtemplate.PeerLabels(f.Policies)
	for _, l := range named {
		if slices.Contains(unknown, l.Namespace) {
			continue
		}
		isNamed := func(value string) bool {
			return slices.ContainsFunc(named, func(n podtemplate.PeerLabel) bool {
				return n.Policy == l.Policy && n.Namespace == l.Namespace && n.Key == l.Key && n.Value == value
			})
		}
		var others []string
		has := false
		for _, template := range slices.Concat(pods.byNamespace[l.Namespace], pods.byNamespace[""]) {
			value, ok := template.Labels[l.Key]
			has = has || ok && value == l.Value
			if ok && template.Placed && !differInNumber(l.Value, value) && !isNamed(value) {
				others = append(others, value)
			}
		}
		meant, close := spelling.Closest(l.Value, others)
		if has || !close {
			continue
		}
		text := fmt.Sprintf("no pods of the folder have this label with the value %s in the namespace %s: did you mean %s?", l.Value, l.Namespace, meant)
		out = append(out, policy.Warning{Kind: warning.NoPeer, Place: l.Place, Policy: l.Policy, Message: text})
	}
	return out
}
