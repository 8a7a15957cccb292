package clusterobject

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/rendering"
)

// toolDomains end the domains of labels and annotations that other tools read.
var toolDomains = []string{"argoproj.io", "fluxcd.io", "k14s.io", "helm.sh", "configmanagement.gke.io", "configsync.gke.io", "fleet.cattle.io", "cattle.io", "kluctl.io", "config.k8s.io", "addonmanager.kubernetes.io", "config.kubernetes.io"}

// IsOfToolDomain reports whether a domain is that of such a tool, or below it.
func IsOfToolDomain(domain string) bool { return IsWithin(domain, toolDomains) }

// IsOfTool reports whether an object is of a tool that applies manifests, or tells it how.
func (o Object) IsOfTool() bool {
	return o.Mutates() || o.boundsPolicies() || o.Version == "builtin" || o.Kind == "Kptfile" || o.Group == "kpt.dev" || IsOfToolDomain(o.Group)
}

// TakenNames returns what a kustomization takes, as it is written: files, folders and repositories.
func (o Object) TakenNames() (out []string) {
	for _, key := range []string{"resources", "bases", "components"} {
		out = append(out, fieldvalue.Texts(fieldvalue.Lookup(o.Fields, key))...)
	}
	return out
}

// mutators are the API groups of objects by which an API server, or Kustomize, changes what it is given.
var mutators = []string{"admissionregistration.k8s.io", "kyverno.io", "mutations.gatekeeper.sh", "builtin"}

// Mutates reports whether an object changes others, as it says or by an expression.
func (o Object) Mutates() bool {
	return slices.Contains(mutators, o.Group) || strings.HasPrefix(o.Group, "policies.kyverno")
}

// IsOfKustomize reports whether a document tells Kustomize what to apply.
func (o Object) IsOfKustomize() bool {
	return !o.IsDelivery() && rendering.IsKustomization(o.Doc) // it may make such an object
}

// WithoutCommonMetadata returns the fields of an object, without the labels that Flux gives others by it: nothing selects by these.
func (o Object) WithoutCommonMetadata() any {
	spec, is := fieldvalue.Lookup(o.Fields, "spec").(map[string]any)
	if !is || o.Group != "kustomize.toolkit.fluxcd.io" {
		return o.Fields
	}
	fields, spec := maps.Clone(fieldvalue.Mapping(o.Fields)), maps.Clone(spec)
	delete(spec, "commonMetadata")
	fields["spec"] = spec
	return fields
}

// MovesTo reports whether an object gets another namespace than it names by a tool. Where it names none, each one counts that it may have, but that of a control plane. Kustomize gives a
// Namespace that name.
func (o Object) MovesTo(namespace any) bool {
	name, _ := namespace.(string)
	return name != "" && (o.IsNamespaced() || o.Kind == "Namespace") && (o.Written() != "" && o.Written() != name || o.Written() == "" && IsOfPlane(name))
}

// Takes returns the folders from which a tool takes manifests by an object.
func (o Object) Takes() (out []string) {
	switch {
	case o.Group == "kustomize.toolkit.fluxcd.io" && o.Kind == "Kustomization":
		at, _ := fieldvalue.Lookup(o.Fields, "spec", "path").(string)
		return []string{at}
	case o.Group == "helm.toolkit.fluxcd.io" && o.Kind == "HelmRelease":
		source := fieldvalue.Lookup(o.Fields, "spec", "chart", "spec", "sourceRef", "kind")
		if at, _ := fieldvalue.Lookup(o.Fields, "spec", "chart", "spec", "chart").(string); strings.HasPrefix(at, ".") || source == "GitRepository" || source == "Bucket" {
			out = append(out, at)
		}
	case o.Group == "argoproj.io" && o.Kind == "ApplicationSet":
		for _, made := range o.Applications() {
			out = append(out, made.Takes()...)
		}
	case o.Group == "argoproj.io" && o.Kind == "Application":
		for _, source := range o.Sources() {
			at, _ := source["path"].(string)
			isOfValues := source["chart"] != nil || source["ref"] != nil // of a chart, or of files for one
			if at != "" || !isOfValues {
				out = append(out, at)
			}
		}
	}
	return out
}

// Sources returns the sources of an Application of Argo CD, with the one from which a hydrator writes out what is applied.
func (o Object) Sources() []map[string]any {
	out := fieldvalue.Mappings(fieldvalue.Lookup(o.Fields, "spec", "sources"))
	for _, field := range [][]string{{"spec", "source"}, {"spec", "sourceHydrator", "drySource"}} {
		if source, ok := fieldvalue.Lookup(o.Fields, field...).(map[string]any); ok {
			out = append(out, source)
		}
	}
	return out
}

// Applications returns an Application of Argo CD, or those that an ApplicationSet makes: by its template, and by that with the template of a
// generator over it. Their parameters stand as they are written.
func (o Object) Applications() []Object {
	switch {
	case o.Group == "argoproj.io" && o.Kind == "Application":
		return []Object{o}
	case o.Group != "argoproj.io" || o.Kind != "ApplicationSet":
		return nil
	}
	template := fieldvalue.Lookup(o.Fields, "spec", "template")
	specs := []any{fieldvalue.Lookup(template, "spec")}
	fieldvalue.Any(fieldvalue.Lookup(o.Fields, "spec", "generators"), func(value any) bool {
		if own := fieldvalue.Lookup(value, "template", "spec"); own != nil {
			specs = append(specs, overlaid(own, specs[0]))
		}
		return false
	})
	var out []Object
	for _, spec := range specs {
		made := Object{Identity: o.Identity, Doc: o.Doc, Fields: map[string]any{"spec": spec}}
		made.Kind = "Application"
		out = append(out, made)
	}
	return out
}

// overlaid puts the fields of one value over those of another one.
func overlaid(own, other any) any {
	fields, isMapping := own.(map[string]any)
	below, areMappings := other.(map[string]any)
	if !isMapping || !areMappings {
		return own
	}
	out := maps.Clone(below)
	for key, value := range fields {
		out[key] = overlaid(value, below[key])
	}
	return out
}

// IsFleetFile reports whether a document says how Fleet applies the folder of its file.
func (o Object) IsFleetFile() bool {
	name := filepath.Base(o.File())
	return o.Kind == "" && (name == "fleet.yaml" || name == "fleet.yml")
}
