package assumption

import (
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/policy/manifest"
)

// meshConfig are the fields of a mesh config of Istio that say what a policy means, with the option that states each.
var meshConfig = map[string]string{
	"rootNamespace": "istio.rootNamespace", "trustDomain": "istio.trustDomain", "trustDomainAliases": "istio.trustDomainAliases",
	"pathNormalization": "istio.normalization", "extensionProviders": "istio.extensionProviders",
}

func statesMeshConfig(o clusterobject.Object, options Options) string {
	moved := !options.state(meshConfig["rootNamespace"]) // the root namespace is that of the control plane, unless the mesh config says otherwise
	unread := unstated(options)
	states := func(config any) bool {
		return slices.ContainsFunc(unread, func(key string) bool { return NamesField(config, key) })
	}
	if IsOfMeshConfig(o) {
		if moved && o.Kind == "ServiceMeshControlPlane" { // it has names of its own for these settings, and its namespace is the root namespace
			return "spec"
		}
		if states(fieldvalue.Lookup(o.Fields, "spec")) || moved && (isInstalledElsewhere(o) || installsElsewhere(o, "istiod", "istio-system")) {
			return "spec"
		}
	}
	config := MeshConfigOf(o)
	if moved && (runsImage(o, "pilot") || isLabelled(o, "app", "istiod") || o.Kind == "ConfigMap" && config != nil && fieldvalue.HasAnyPrefix(o.Name, []string{"istio"})) && o.Namespace != "istio-system" {
		return "metadata.namespace"
	}
	if states(config) {
		return "data.mesh"
	}
	return setsDefault(o, ofIstio(options))
}

// unstated returns the fields of a mesh config that no option states.
func unstated(options Options) []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(meshConfig)), func(key string) bool { return options.state(meshConfig[key]) })
}

// ofIstio has the settings of Istio that no option states, with their defaults.
func ofIstio(options Options) map[string]string {
	defaults := map[string]string{}
	for _, key := range unstated(options) {
		defaults[key] = ""
	}
	if !options.state(meshConfig["rootNamespace"]) {
		defaults["istioNamespace"] = "istio-system"
	}
	return defaults
}

// IsOfMeshConfig reports whether an object is of a kind that nobody reads here, and that may have a mesh config of Istio: one of an
// operator, or of a tool that installs a chart.
func IsOfMeshConfig(o clusterobject.Object) bool {
	return o.Category == clusterobject.Unknown && o.Group != "" && o.PodPlace() == ""
}

// MeshConfigOf returns the mesh config of Istio that a ConfigMap has: its fields, its text where it cannot be read, nil where it has none.
func MeshConfigOf(o clusterobject.Object) any {
	text, isText := fieldvalue.Lookup(o.Fields, "data", "mesh").(string)
	if !isText {
		return nil
	}
	docs, err := manifest.Parse("mesh", []byte(text))
	if err != nil {
		return text
	}
	var all []any
	for _, doc := range docs {
		all = append(all, fieldvalue.Decode(doc))
	}
	return all
}

// NamesField reports whether a value has a field, or a text that may have it, in the spelling of JSON or of protobuf.
func NamesField(value any, field string) bool {
	plain := func(text string) string { return strings.ToLower(strings.ReplaceAll(text, "_", "")) }
	found := false
	fieldvalue.EachText(value, func(text string) {
		found = found || plain(text) == plain(field) || strings.ContainsAny(text, "\n") && strings.Contains(plain(text), plain(field))
	})
	return found
}

// isInstalledElsewhere reports whether an operator puts the control plane of Istio into another namespace than istio-system.
func isInstalledElsewhere(o clusterobject.Object) bool {
	for _, field := range [][]string{{"spec", "namespace"}, {"spec", "values", "global", "istioNamespace"}, {"spec", "components", "base", "namespace"}, {"spec", "components", "pilot", "namespace"}} {
		if in := fieldvalue.Lookup(o.Fields, field...); in != nil && in != "istio-system" {
			return true
		}
	}
	return o.Kind == "IstioOperator" && o.Written() != "" && o.Namespace != "istio-system"
}
