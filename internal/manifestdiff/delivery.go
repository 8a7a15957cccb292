package manifestdiff

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/delivery"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// harmlessOfDeliveries are the fields of the objects of tools by which these tools apply what is in a folder
// as it is written, by the API groups of the objects. "[]" stands behind a list.
var harmlessOfDeliveries = map[string]map[string]bool{
	"argoproj.io": fieldpath.SetOf(`spec.project spec.destination spec.info spec.revisionHistoryLimit spec.syncPolicy.automated spec.syncPolicy.retry spec.syncPolicy.managedNamespaceMetadata
		spec.source.kustomize.version spec.source.kustomize.images spec.sources[].kustomize.version spec.sources[].kustomize.images
		spec.source.repoURL spec.source.path spec.source.targetRevision spec.source.directory.recurse
		spec.sources[].repoURL spec.sources[].path spec.sources[].targetRevision spec.sources[].directory.recurse`),
	"kustomize.toolkit.fluxcd.io": fieldpath.SetOf(`spec.interval spec.retryInterval spec.timeout spec.path spec.prune spec.deletionPolicy spec.sourceRef spec.wait spec.force
		spec.dependsOn spec.healthChecks spec.healthCheckExprs spec.serviceAccountName spec.decryption spec.validation`),
	"source.toolkit.fluxcd.io": fieldpath.SetOf(`spec.interval spec.timeout spec.url spec.ref spec.secretRef spec.provider spec.verify spec.endpoint
		spec.bucketName spec.region spec.insecure spec.certSecretRef spec.proxySecretRef spec.recurseSubmodules spec.type spec.passCredentials`),
	// They look for images, and tell people what has happened.
	"image.toolkit.fluxcd.io":        fieldpath.SetOf("spec"),
	"notification.toolkit.fluxcd.io": fieldpath.SetOf("spec"),
}

// isOfForeignChart reports whether an object applies a chart that is no folder of a repository.
func isOfForeignChart(o clusterobject.Object) bool {
	if o.Kind == "Application" && o.Group == "argoproj.io" {
		sources := o.Sources()
		return len(sources) > 0 && !slices.ContainsFunc(sources, func(source map[string]any) bool {
			// A source with a ref alone is one of values.
			says := func(key string) bool { text, _ := source[key].(string); return text != "" }
			return !says("chart") && (!says("ref") || says("path"))
		})
	}
	if o.Kind != "HelmRelease" || o.Group != "helm.toolkit.fluxcd.io" {
		return false
	}
	source := fieldvalue.Lookup(o.Fields, "spec", "chart", "spec", "sourceRef", "kind")
	of := fieldvalue.Lookup(o.Fields, "spec", "chartRef", "kind")
	return source == "HelmRepository" && of == nil || source == nil && of == "OCIRepository"
}

// compareDeliveries names the objects and the files of tools that may leave a policy out, or change it, where
// policies have changed: what is left out hides nothing that another policy lets in now.
func (c *comparison) compareDeliveries() (out []Change) {
	const effect = "may leave policies out or change them, and some of them have changed: write out what is applied"
	folders := map[string]bool{}
	for _, doc := range c.recent.Policies {
		folders[filepath.Dir(clusterobject.Read(doc).File())] = true
	}
	for _, o := range c.recentObjects.All {
		if o.Category != clusterobject.Unknown || o.IsOfKustomize() || o.Kind == "" || !o.IsOfTool() || isOfForeignChart(o) || c.isAskedForOthers(o) || c.asksForOthers(o) {
			continue
		}
		if o.Kind == "AppProject" && o.Group == "argoproj.io" && (!c.addsPlaces() || permitsAll(o)) {
			continue // It asks for kinds, namespaces and sources, and a change of it is named.
		}
		if harmless, known := harmlessOfDeliveries[o.Group]; !known {
			out = append(out, changeOf(o, effect))
		} else if field := clusterobject.UnknownField("spec", c.withoutIdle(o), harmless); field != "" {
			out = append(out, Change{o.Doc.Place(""), o.String(), field + " " + effect})
		} else if o.Kind == "Application" && len(folders) > 1 && c.recent.folder().LeavesFoldersOut(o) {
			out = append(out, changeOf(o, "without spec.source.directory.recurse leaves folders out, and policies have changed: write out what is applied"))
		}
	}
	for _, o := range c.recentObjects.All {
		if field := leavesOut(o); field != "" {
			out = append(out, Change{o.Doc.Place(field), o.String(), effect})
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
func (c *comparison) withoutIdle(o clusterobject.Object) map[string]any {
	spec := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "spec"))
	if differences := fieldvalue.Mappings(spec["ignoreDifferences"]); o.Group == "argoproj.io" && len(differences) > 0 {
		if !slices.ContainsFunc(differences, func(of map[string]any) bool { kind, _ := of["kind"].(string); return !c.isKindOfOthers(kind) }) {
			spec = maps.Clone(spec)
			delete(spec, "ignoreDifferences")
		}
	}
	common := fieldvalue.Mapping(spec["commonMetadata"])
	if o.Group != "kustomize.toolkit.fluxcd.io" {
		return spec
	}
	if !slices.ContainsFunc(c.recentPolicies.All, losesCharacters) {
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
func losesCharacters(o clusterobject.Object) bool {
	return fieldvalue.Any(o.Fields, func(value any) bool {
		text, _ := value.(string)
		return slices.ContainsFunc([]string{"$$", `\\`, `\/`}, func(escaped string) bool { return strings.Contains(text, escaped) })
	})
}

// areOf reports whether each policy in the folder that an object of Flux takes names a namespace, and the folder takes nothing from elsewhere.
func (c *comparison) areOf(namespace string, o clusterobject.Object) bool {
	known := false
	for _, at := range o.Takes() {
		at = delivery.Clean(at)
		for _, side := range []Side{c.recent, c.old} {
			isIn := func(doc manifest.Document) bool {
				return at == "." || delivery.IsBelow(delivery.PathIn(side.Root, metadata.FileOf(doc)), at)
			}
			known = known || slices.ContainsFunc(side.Placed, isIn)
			if slices.ContainsFunc(side.Policies, func(doc manifest.Document) bool {
				return isIn(doc) && (!clusterobject.Read(doc).IsNamespaced() || clusterobject.Read(doc).Written() != namespace)
			}) {
				return false
			}
			for _, of := range side.folder().Kustomizations() {
				folder := delivery.PathIn(side.Root, filepath.Dir(of.File()))
				if isIn(of.Doc) && slices.ContainsFunc(of.TakenNames(), func(name string) bool {
					return delivery.IsElsewhere(folder, name) || at != "." && !delivery.IsBelow(filepath.Join(folder, name), at)
				}) {
					return false
				}
			}
		}
	}
	return known
}

// isAskedForOthers reports whether an object has webhooks, and an API server asks each of them for objects of other groups alone than those of the policies.
func (c *comparison) isAskedForOthers(o clusterobject.Object) bool {
	if o.Group != "admissionregistration.k8s.io" || !strings.HasSuffix(o.Kind, "WebhookConfiguration") {
		return false
	}
	webhooks := fieldvalue.Mappings(fieldvalue.Lookup(o.Fields, "webhooks"))
	return len(webhooks) > 0 && !slices.ContainsFunc(webhooks, func(webhook map[string]any) bool {
		rules := fieldvalue.Mappings(webhook["rules"])
		return len(rules) == 0 || slices.ContainsFunc(rules, func(rule map[string]any) bool {
			groups := fieldvalue.Texts(rule["apiGroups"])
			return len(groups) == 0 || slices.Contains(groups, "*") || slices.ContainsFunc(slices.Concat(c.recentPolicies.All, c.oldPolicies.All), func(policy clusterobject.Object) bool { return slices.Contains(groups, policy.Group) })
		})
	})
}

// addsPlaces reports whether a policy is of another kind, namespace or folder than all policies before.
func (c *comparison) addsPlaces() bool {
	place := func(root string, o clusterobject.Object) [4]string {
		return [4]string{o.Group, o.Kind, o.Namespace, filepath.Dir(delivery.PathIn(root, o.File()))}
	}
	before := map[[4]string]bool{}
	for _, o := range c.oldPolicies.All {
		before[place(c.old.Root, o)] = true
	}
	return slices.ContainsFunc(c.recentPolicies.All, func(o clusterobject.Object) bool { return !before[place(c.recent.Root, o)] })
}

// leavingOut begin the settings of Argo CD by which it leaves kinds out, or parts of them.
var leavingOut = []string{"resource.exclusions", "resource.inclusions", "resource.customizations", "resource.compareoptions"}

// leavesOut returns the field by which the configuration of Argo CD leaves kinds out, or parts of them; "" where it has none.
func leavesOut(o clusterobject.Object) string {
	if o.Kind != "ConfigMap" || !fieldvalue.HasAnyPrefix(o.Name, []string{"argocd-"}) {
		return ""
	}
	data := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "data"))
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if fieldvalue.HasAnyPrefix(key, leavingOut) {
			return fieldpath.Child("data", key)
		}
	}
	return ""
}
