package rendering

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// idle are the labels and annotations by which a tool does not apply an object, or not as it is written, with
// the tool and the values that say so; nil for any value but false.
var idle = []struct {
	key, tool string
	values    []string
}{
	{"helm.sh/hook", "Helm", nil},
	{"argocd.argoproj.io/hook", "Argo CD", nil},
	{"config.kubernetes.io/local-config", "kustomize", nil},
	{"kustomize.toolkit.fluxcd.io/reconcile", "Flux", []string{"disabled"}},
	{"kustomize.toolkit.fluxcd.io/ssa", "Flux", []string{"Ignore", "IfNotPresent"}},
	{"kapp.k14s.io/noop", "kapp", nil},
	{"kapp.k14s.io/exists", "kapp", nil},
	{"kapp.k14s.io/update-strategy", "kapp", []string{"skip"}},
	{"configmanagement.gke.io/managed", "Config Sync", []string{"disabled"}},
	{"client.lifecycle.config.k8s.io/mutation", "Config Sync", []string{"ignore"}},
	{"configsync.gke.io/cluster-name-selector", "Config Sync", nil},
	{"configmanagement.gke.io/cluster-selector", "Config Sync", nil},
	{"configmanagement.gke.io/namespace-selector", "Config Sync", nil},
	{"addonmanager.kubernetes.io/mode", "the addon manager", []string{"EnsureExists"}},
	{"kluctl.io/ignore", "kluctl", nil},
}

// Idle warns of each policy that a tool may not apply as it is written, or that an API server refuses for its metadata.
func Idle(policies []manifest.Document) (out []policy.Warning) {
	for _, doc := range policies {
		if field, why := metadata.SettingsProblem(doc); field != "" {
			out = append(out, policy.Warning{
				Kind: warning.NotApplied, Place: doc.Place(field), Policy: metadata.IdentityOf(doc).String(),
				Message: fmt.Sprintf("an API server refuses %s, and what is said of it here holds nowhere then: %s: %s", metadata.IdentityOf(doc), field, why),
			})
		}
		for _, head := range []string{"metadata.labels", "metadata.annotations"} {
			if settings, found := doc.Lookup(head); !found || len(settings.Keys()) == 0 {
				continue
			}
			for _, one := range idle {
				field := fmt.Sprintf("%s[%q]", head, one.key)
				value, found := doc.Lookup(field)
				if !found || !says(value, one.values) {
					continue
				}
				out = append(out, policy.Warning{
					Kind: warning.NotApplied, Place: doc.Place(field), Policy: metadata.IdentityOf(doc).String(),
					Message: fmt.Sprintf("%s may not apply %s, and what is said of it here may then hold nowhere: take out %s", one.tool, metadata.IdentityOf(doc), one.key),
				})
			}
		}
	}
	return out
}

// says reports whether a setting has one of the values.
func says(setting manifest.Document, values []string) bool {
	var value any
	if setting.Decode(&value) != nil {
		return true
	}
	text := fmt.Sprint(value)
	if values == nil {
		return text != "false" && value != nil
	}
	return slices.ContainsFunc(values, func(of string) bool { return strings.EqualFold(of, text) })
}
