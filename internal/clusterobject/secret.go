package clusterobject

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// What a manifest in a text has: the version of a kind, with a domain where it is no kind of the core, and a kind. A document of Kuma on Universal
// has a type.
var (
	carriedVersion = regexp.MustCompile(`apiVersion["']?\s*:\s*["']?(v1|(?:apps|autoscaling|batch|extensions|policy)/\w+|[a-z0-9-]+(?:\.[a-z0-9-]+)+/\w+)\b`)
	carriedKind    = regexp.MustCompile(`kind["']?\s*:\s*["']?(\w+)`)
	carriedType    = regexp.MustCompile(`(?:^|[\n{,])\s*["']?type["']?\s*:\s*["']?(?:Mesh|Dataplane)`)
	ofComponent    = regexp.MustCompile(`\.config\.k8s\.io/`)
)

// PlainText returns a text of a field of a ConfigMap or a Secret as it is written there: some fields are in base64.
func (o Object) PlainText(field, text string) string {
	if raw, err := base64.StdEncoding.DecodeString(text); err == nil && (field == "binaryData" || o.Kind == "Secret" && field == "data") {
		return string(raw)
	}
	return text
}

func isManifest(text string) bool {
	if carriedType.MatchString(text) {
		return true
	}
	ofCluster := func(found string) bool { return !ofComponent.MatchString(found) }
	kinds := carriedKind.FindAllStringSubmatch(text, -1)
	isKubeconfig := len(kinds) == 1 && kinds[0][1] == "Config"
	return len(kinds) > 0 && !isKubeconfig && slices.ContainsFunc(carriedVersion.FindAllString(text, -1), ofCluster)
}

// IsIdentity reports whether an object is a Secret of Kuma, which has its keys and authorities in such Secrets, or
// the token of an account, by which a program calls as that account; or whether it makes one.
func (o Object) IsIdentity() bool {
	if _, has := o.GivenLabels()["istio/multiCluster"]; has && o.HasKindOf(Config) { // it names another cluster
		return true
	}
	for _, field := range [][]string{{"type"}, {"spec", "target", "template", "type"}, {"spec", "template", "type"}} {
		of, _ := fieldvalue.Lookup(o.Fields, field...).(string)
		if o.HasKindOf(Config) && (strings.HasPrefix(of, "system.kuma.io/") || of == "kubernetes.io/service-account-token") {
			return true
		}
	}
	return false
}

// Secrets returns the names of the Secret that an object is, or makes.
func (o Object) Secrets() []string {
	target, _ := fieldvalue.Lookup(o.Fields, "spec", "target", "name").(string)
	sealed, _ := fieldvalue.Lookup(o.Fields, "spec", "template", "metadata", "name").(string)
	return []string{o.Name, target, sealed}
}

// secretTemplates say where an object has the Secret that it makes: one of External Secrets, and one of Sealed Secrets.
var secretTemplates = [][]string{nil, {"spec", "target", "template"}, {"spec", "template"}}

// GivenLabels returns the labels of an object, and those of the Secret that it makes.
func (o Object) GivenLabels() map[string]any {
	out := map[string]any{}
	for _, at := range secretTemplates {
		if at == nil || o.HasKindOf(Config) {
			labels := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, slices.Concat(at, []string{"metadata", "labels"})...))
			maps.Copy(out, labels)
		}
	}
	return out
}

// fillsMore reports whether an ExternalSecret fills more of what it makes than its data from a template, or the name of a label: a tool may read that by it.
func (o Object) fillsMore() bool {
	template := fieldvalue.Lookup(o.Fields, "spec", "target", "template")
	from, _ := fieldvalue.Lookup(template, "templateFrom").([]any)
	labels := fieldvalue.Mapping(fieldvalue.Lookup(template, "metadata", "labels"))
	return slices.ContainsFunc(from, func(one any) bool {
		target, literal := fieldvalue.Lookup(one, "target"), fmt.Sprint(fieldvalue.Lookup(one, "literal"))
		return target != nil && target != "Data" || isManifest(literal)
	}) || slices.ContainsFunc(slices.Collect(maps.Keys(labels)), func(key string) bool { return strings.Contains(key, "{{") })
}

// CarriesManifest reports whether a ConfigMap or a Secret, also one that an object makes, has the text of a manifest: a tool that reads such texts, such as
// a ClusterResourceSet, may apply it.
func (o Object) CarriesManifest() bool {
	for _, at := range secretTemplates {
		for _, field := range []string{"data", "stringData", "binaryData"} {
			values := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, slices.Concat(at, []string{field})...))
			for _, value := range values {
				text, _ := value.(string)
				if isManifest(o.PlainText(field, text)) {
					return true
				}
			}
		}
	}
	return false
}
