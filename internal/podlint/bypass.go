package podlint

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/podtemplate"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// bypassWarnings warns of each policy of a namespace that selects pods of the folder whose proxy connections pass by, and no others: nothing enforces it there.
func bypassWarnings(f *lab.Files, targets []capability.Target, pods podsByNamespace, like policy.Inbound) (out []policy.Warning) {
	told := map[string]bool{}
	for _, t := range targets {
		i := slices.IndexFunc(f.Policies, func(doc manifest.Document) bool { return doc.Place("") == t.Place })
		if i < 0 || told[t.Place] || !isOfNamespace(t, like) {
			continue
		}
		own := t.Fit(like).Workload.Namespace
		selected := slices.DeleteFunc(slices.Clone(pods.byNamespace[own]), func(template *podtemplate.Template) bool { return !wouldSelect(t, like, template, own) })
		past := ""
		port, asks := portAsked(t, like)
		if !asks {
			port = 0
		}
		for k, template := range selected {
			reason := template.Bypass(f.Policies[i], port, f.Others)
			if reason == "" {
				past = ""
				break
			}
			if k == 0 {
				past = template.Object + " has " + reason
			}
		}
		if past != "" {
			told[t.Place] = true
			out = append(out, policy.Warning{Kind: warning.SelectsNothing, Place: t.Place, Policy: t.Policy, Message: fmt.Sprintf("connections to all pods that the policy selects go past the proxy, or there is none: %s", past)})
		}
	}
	return out
}
