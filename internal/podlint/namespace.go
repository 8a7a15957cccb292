package podlint

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/podtemplate"
	"github.com/meshproof/meshproof/internal/spelling"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// namespaceWarnings warns of each policy of a namespace that nothing else in the folder is of, where another one with pods that it would select is spelt almost alike,
// and of each that names none where others do. Other folders may have workloads of any namespace: so there is no warning of other names, nor of a namespace
// with as many policies as the one that may be meant, unless the two have the same letters in another order.
func namespaceWarnings(f *lab.Files, targets []capability.Target, pods podsByNamespace, like policy.Inbound, unknown []string) (out []policy.Warning) {
	placement, known := podtemplate.Placements(f.Policies, f.Others)
	if !known || len(pods.byNamespace[""]) > 0 {
		return nil
	}
	told := map[string]bool{}
	for _, t := range targets {
		written, is := placement.OfPolicies[t.Place]
		if !is || told[t.Place] || !isOfNamespace(t, like) {
			continue
		}
		own := t.Fit(like).Workload.Namespace
		if placement.Others[own] || slices.Contains(unknown, own) {
			continue
		}
		var meant []string
		for _, namespace := range pods.namespaces {
			if slices.ContainsFunc(pods.byNamespace[namespace], func(template *podtemplate.Template) bool { return wouldSelect(t, like, template, own) }) {
				meant = append(meant, namespace)
			}
		}
		text := ""
		if written == "" {
			if len(meant) > 0 && !placement.IsChosen && placement.Policies[""] < len(placement.OfPolicies) {
				text = fmt.Sprintf("the policy names no namespace, and others do: unless somebody applies it elsewhere, it is of the namespace %s, and not of %s, where it would select pods", own, meant[0])
			}
		} else if namespace, close := spelling.Closest(own, meant); close && !differInNumber(own, namespace) && (placement.Policies[own] < placement.Policies[namespace] || placement.Policies[namespace] == 0 || haveSameLetters(own, namespace)) {
			text = fmt.Sprintf("nothing else in the folder is of the namespace %s, and the policy would select pods of %s: is that meant?", own, namespace)
		}
		if text != "" {
			told[t.Place] = true
			out = append(out, policy.Warning{Kind: warning.SelectsNothing, Place: t.Place, Policy: t.Policy, Message: text})
		}
	}
	return out
}

// haveSameLetters reports whether two names differ in the order of their letters alone: nobody names two namespaces so.
func haveSameLetters(a, b string) bool {
	return slices.Equal(slices.Sorted(slices.Values([]byte(a))), slices.Sorted(slices.Values([]byte(b))))
}

// wouldSelect reports whether a target would select the pods of a workload by their labels, if they were of its namespace.
func wouldSelect(t capability.Target, like policy.Inbound, template *podtemplate.Template, namespace string) bool {
	in := inboundLike(like, template)
	in.Workload.Namespace = namespace
	return maps.Equal(t.Fit(in).Workload.Labels, template.Labels)
}
