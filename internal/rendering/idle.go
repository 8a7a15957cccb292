package rendering

import (
	"fmt"
	"path/filepath"
	"regexp"
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

// taken are names of files that tools read for themselves. Such a tool applies nothing of what stands there, and Argo CD takes
// a folder with some of them for a chart.
var taken = regexp.MustCompile(`(?i)^([._].*|(kustomization|chart|values\S*|requirements|fleet|helmfile|skaffold|werf|qbec|kptfile|cloudbuild|appveyor|codeship-\S*)(\.(ya?ml|json))?)$`)

// IsTakenFile reports whether a tool takes a file of this name for its own.
func IsTakenFile(name string) bool { return taken.MatchString(filepath.Base(name)) }

// Idle warns of each policy that a tool may not apply as it is written, or that an API server refuses for its metadata.
func Idle(policies []manifest.Document) (out []policy.Warning) {
	for _, doc := range policies {
		warn := func(field, format string, of ...any) {
			out = append(out, policy.Warning{
				Kind: warning.NotApplied, Place: doc.Place(field), Policy: metadata.IdentityOf(doc).String(),
				Message: fmt.Sprintf(format, append([]any{metadata.IdentityOf(doc)}, of...)...),
			})
		}
		if name := filepath.Base(metadata.FileOf(doc)); IsTakenFile(name) {
			warn("", "a tool may not apply %s: it takes a file called %s for its own: give the file another name", name)
		}
		if at, found := doc.Lookup("metadata.deletionTimestamp"); found && says(at, nil) {
			warn("metadata.deletionTimestamp", "%s is about to go, and what is said of it here holds no longer then")
		}
		if field, why := metadata.SettingsProblem(doc); field != "" {
			warn(field, "an API server refuses %s, and what is said of it here holds nowhere then: %s: %s", field, why)
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
				warn(field, "%[2]s may not apply %[1]s, and what is said of it here may then hold nowhere: take out %[3]s", one.tool, one.key)
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
