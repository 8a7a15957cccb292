package manifestdiff

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// harmlessOfDeliveries are the fields of the objects of tools by which these tools apply what is in a folder
// as it is written, by the API groups of the objects. "[]" stands behind a list.
var harmlessOfDeliveries = map[string]map[string]bool{
	"argoproj.io": fields(`spec.project spec.destination spec.info spec.revisionHistoryLimit spec.syncPolicy.automated spec.syncPolicy.retry spec.syncPolicy.managedNamespaceMetadata
		spec.source.kustomize.version spec.source.kustomize.images spec.sources[].kustomize.version spec.sources[].kustomize.images
		spec.source.repoURL spec.source.path spec.source.targetRevision spec.source.directory.recurse
		spec.sources[].repoURL spec.sources[].path spec.sources[].targetRevision spec.sources[].directory.recurse`),
	"kustomize.toolkit.fluxcd.io": fields(`spec.interval spec.retryInterval spec.timeout spec.path spec.prune spec.sourceRef spec.wait spec.force
		spec.dependsOn spec.healthChecks spec.healthCheckExprs spec.serviceAccountName spec.decryption spec.validation`),
	"source.toolkit.fluxcd.io": fields(`spec.interval spec.timeout spec.url spec.ref spec.secretRef spec.provider spec.verify spec.endpoint
		spec.bucketName spec.region spec.insecure spec.certSecretRef spec.proxySecretRef spec.recurseSubmodules spec.type spec.passCredentials`),
	// They look for images, and tell people what has happened.
	"image.toolkit.fluxcd.io":        fields("spec"),
	"notification.toolkit.fluxcd.io": fields("spec"),
}

// idleOptions begin the options of a synchronization of Argo CD by which nothing is left out and nothing is changed.
var idleOptions = []string{"CreateNamespace=", "ServerSideApply=", "PruneLast=", "PrunePropagationPolicy=", "ApplyOutOfSyncOnly=", "FailOnSharedResource=", "Validate=", "SkipDryRunOnMissingResource="}

// isOfForeignChart reports whether an object applies a chart that is no folder of a repository.
func (o object) isOfForeignChart() bool {
	if o.kind == "Application" && o.group == "argoproj.io" {
		if fieldvalue.Lookup(o.fields, "spec", "sourceHydrator") != nil {
			return false // It takes the place of the sources.
		}
		sources, _ := fieldvalue.Lookup(o.fields, "spec", "sources").([]any)
		if source := fieldvalue.Lookup(o.fields, "spec", "source"); source != nil {
			sources = append([]any{source}, sources...)
		}
		return len(sources) > 0 && !slices.ContainsFunc(sources, func(source any) bool {
			// A source with a ref alone is one of values.
			says := func(key string) bool { text, _ := fieldvalue.Lookup(source, key).(string); return text != "" }
			return !says("chart") && (!says("ref") || says("path"))
		})
	}
	if o.kind != "HelmRelease" || o.group != "helm.toolkit.fluxcd.io" {
		return false
	}
	source := fieldvalue.Lookup(o.fields, "spec", "chart", "spec", "sourceRef", "kind")
	of := fieldvalue.Lookup(o.fields, "spec", "chartRef", "kind")
	return source == "HelmRepository" && of == nil || source == nil && of == "OCIRepository"
}

// compareDeliveries names the objects and the files of tools that may leave a policy out, or change it, where
// policies have changed: what is left out hides nothing that another policy lets in now.
func (c *comparison) compareDeliveries() (out []Change) {
	const effect = "may leave policies out or change them, and some of them have changed: write out what is applied"
	folders := map[string]bool{}
	for _, doc := range c.recent.Policies {
		folders[filepath.Dir(objectOf(doc).file())] = true
	}
	for _, o := range c.recentObjects.all {
		if o.category != unknown || o.isOfKustomize() || o.kind == "" || !o.isOfTool() || o.isOfForeignChart() || c.isAskedForOthers(o) || c.asksForOthers(o) {
			continue
		}
		if o.kind == "AppProject" && o.group == "argoproj.io" && (!c.addsPlaces() || o.permitsAll()) {
			continue // It asks for kinds, namespaces and sources, and a change of it is named.
		}
		if harmless, known := harmlessOfDeliveries[o.group]; !known {
			out = append(out, o.change(effect))
		} else if field := unknownField("spec", c.withoutIdle(o), harmless); field != "" {
			out = append(out, Change{o.doc.Place(""), o.String(), field + " " + effect})
		} else if o.kind == "Application" && len(folders) > 1 && c.recent.leavesFoldersOut(o) {
			out = append(out, o.change("without spec.source.directory.recurse leaves folders out, and policies have changed: write out what is applied"))
		}
	}
	for _, o := range c.recentObjects.all {
		if field := o.leavesOut(); field != "" {
			out = append(out, Change{o.doc.Place(field), o.String(), effect})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.recent.Files)) {
		out = append(out, Change{name, toolFile, effect})
	}
	return out
}

// withoutIdle returns the spec of an object without the differences of other kinds that Argo CD ignores, without the placeholders that Flux replaces (postBuild), which are
// named where they stand, and without the labels and annotations that Flux gives all objects (commonMetadata) and that would pass on each policy: it gives them to the
// metadata of an object alone, and to no template (ssautil.SetCommonMetadata in kustomize-controller).
func (c *comparison) withoutIdle(o object) map[string]any {
	spec, _ := fieldvalue.Lookup(o.fields, "spec").(map[string]any)
	if differences := fieldvalue.Mappings(spec["ignoreDifferences"]); o.group == "argoproj.io" && len(differences) > 0 {
		if !slices.ContainsFunc(differences, func(of map[string]any) bool { kind, _ := of["kind"].(string); return !c.isKindOfOthers(kind) }) {
			spec = maps.Clone(spec)
			delete(spec, "ignoreDifferences")
		}
	}
	common, _ := spec["commonMetadata"].(map[string]any)
	if o.group != "kustomize.toolkit.fluxcd.io" {
		return spec
	}
	if !slices.ContainsFunc(c.recentPolicies.all, object.losesCharacters) {
		spec = maps.Clone(spec)
		delete(spec, "postBuild")
	}
	if namespace, _ := spec["targetNamespace"].(string); namespace != "" && c.areOf(namespace, o) {
		spec = maps.Clone(spec)
		delete(spec, "targetNamespace")
	}
	for field, value := range common {
		settings, is := value.(map[string]any)
		if !is || field != "labels" && field != "annotations" || c.anyMatters(field, settings) {
			return spec
		}
	}
	spec = maps.Clone(spec)
	delete(spec, "commonMetadata")
	return spec
}

// losesCharacters reports whether a policy has what Flux takes for an escaped character where it replaces placeholders: it drops the first one of these two, also where
// no placeholder follows (scanEscaped in fluxcd/pkg/envsubst).
func (o object) losesCharacters() bool {
	return fieldvalue.Any(o.fields, func(value any) bool {
		text, _ := value.(string)
		return slices.ContainsFunc([]string{"$$", `\\`, `\/`}, func(escaped string) bool { return strings.Contains(text, escaped) })
	})
}

// areOf reports whether each policy in the folder that an object of Flux takes names a namespace, and the folder takes nothing from elsewhere.
func (c *comparison) areOf(namespace string, o object) bool {
	known := false
	for _, at := range o.takes() {
		at = cleanFolder(at)
		for _, side := range []Side{c.recent, c.old} {
			isIn := func(doc manifest.Document) bool {
				return at == "." || isBelow(pathIn(side.Root, metadata.FileOf(doc)), at)
			}
			known = known || slices.ContainsFunc(side.Placed, isIn)
			if slices.ContainsFunc(side.Policies, func(doc manifest.Document) bool {
				return isIn(doc) && (!objectOf(doc).hasNamespace() || objectOf(doc).written() != namespace)
			}) {
				return false
			}
			for _, of := range side.kustomizations() {
				folder := pathIn(side.Root, filepath.Dir(of.file()))
				if isIn(of.doc) && slices.ContainsFunc(of.takenNames(), func(name string) bool {
					return isElsewhere(folder, name) || at != "." && !isBelow(filepath.Join(folder, name), at)
				}) {
					return false
				}
			}
		}
	}
	return known
}

// isAskedForOthers reports whether an object has webhooks, and an API server asks each of them for objects of other groups alone than those of the policies.
func (c *comparison) isAskedForOthers(o object) bool {
	if o.group != "admissionregistration.k8s.io" || !strings.HasSuffix(o.kind, "WebhookConfiguration") {
		return false
	}
	webhooks := fieldvalue.Mappings(fieldvalue.Lookup(o.fields, "webhooks"))
	return len(webhooks) > 0 && !slices.ContainsFunc(webhooks, func(webhook map[string]any) bool {
		rules := fieldvalue.Mappings(webhook["rules"])
		return len(rules) == 0 || slices.ContainsFunc(rules, func(rule map[string]any) bool {
			groups := fieldvalue.Texts(rule["apiGroups"])
			return len(groups) == 0 || slices.Contains(groups, "*") || slices.ContainsFunc(slices.Concat(c.recentPolicies.all, c.oldPolicies.all), func(policy object) bool { return slices.Contains(groups, policy.group) })
		})
	})
}

// addsPlaces reports whether a policy is of another kind, namespace or folder than all policies before.
func (c *comparison) addsPlaces() bool {
	place := func(root string, o object) [4]string {
		return [4]string{o.group, o.kind, o.namespace, filepath.Dir(pathIn(root, o.file()))}
	}
	before := map[[4]string]bool{}
	for _, o := range c.oldPolicies.all {
		before[place(c.old.Root, o)] = true
	}
	return slices.ContainsFunc(c.recentPolicies.all, func(o object) bool { return !before[place(c.recent.Root, o)] })
}

// leavingOut begin the settings of Argo CD by which it leaves kinds out, or parts of them.
var leavingOut = []string{"resource.exclusions", "resource.inclusions", "resource.customizations", "resource.compareoptions"}

// leavesOut returns the field by which the configuration of Argo CD leaves kinds out, or parts of them; "" where it has none.
func (o object) leavesOut() string {
	if o.kind != "ConfigMap" || !begins(o.name, []string{"argocd-"}) {
		return ""
	}
	data, _ := fieldvalue.Lookup(o.fields, "data").(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if begins(key, leavingOut) {
			return fieldpath.Child("data", key)
		}
	}
	return ""
}

// isOfTool reports whether an object is of a tool that applies manifests, or tells it how.
func (o object) isOfTool() bool {
	return o.mutates() || o.boundsPolicies() || o.version == "builtin" || o.kind == "Kptfile" || o.group == "kpt.dev" || isWithin(o.group, toolDomains)
}

// unknownField returns the first field that is not in a table, "" where there is none.
func unknownField(path string, value any, known map[string]bool) string {
	if known[path] {
		return ""
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if field := unknownField(joined(path, key), value[key], known); field != "" {
				return field
			}
		}
		return ""
	case []any:
		for _, item := range value {
			if option, _ := item.(string); path == "spec.syncPolicy.syncOptions" && begins(option, idleOptions) {
				continue
			}
			if field := unknownField(path+"[]", item, known); field != "" {
				return field
			}
		}
		return ""
	default:
		return path
	}
}
