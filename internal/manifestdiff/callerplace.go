package manifestdiff

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
	"github.com/meshproof/meshproof/internal/podtemplate"
)

// namespaceOfIdentity finds the namespace of an account in a name: of SPIFFE, and of Linkerd.
var namespaceOfIdentity = regexp.MustCompile(`/ns/([^/*]+)|^[^.]+\.([^.*]+)\.serviceaccount\.identity\.`)

// namespaceLabels end the keys of labels with the name of a namespace.
var namespaceLabels = []string{podtemplate.CiliumNamespace, "kubernetes.io/metadata.name"}

// placesOf returns the namespaces in which an object may be. The person or the tool that applies one without a namespace chooses it: each one counts that a
// document of the folder is in, that a tool applies to, or that policies have.
func (c *comparison) placesOf(o clusterobject.Object) []string {
	if o.Universal || o.Written() != "" {
		return []string{o.Namespace}
	}
	if c.allPlaces == nil {
		found := map[string]bool{"default": true}
		for _, other := range c.objects() {
			found[other.Written()] = true
			if other.Kind == "Namespace" && other.Group == "" {
				found[other.Name] = true
			}
			for _, name := range podtemplate.NamespacesAppliedTo(other.Fields) {
				found[name] = true
			}
			if name, _ := fieldvalue.Lookup(other.Fields, "namespace").(string); other.IsOfKustomize() {
				found[name] = true
			}
		}
		for _, policy := range c.policies() {
			found[policy.Written()] = true
			addNamespaces(found, "", policy.Fields)
		}
		delete(found, "")
		c.allPlaces = slices.Sorted(maps.Keys(found))
	}
	if slices.Contains(c.allPlaces, o.Namespace) {
		return c.allPlaces
	}
	return append([]string{o.Namespace}, c.allPlaces...)
}

// addNamespaces adds the namespaces that a value of a policy names: by a field of that name, by the label of a namespace, or in an identity.
func addNamespaces(found map[string]bool, key string, value any) {
	switch value := value.(type) {
	case string:
		if of := namespaceOfIdentity.FindStringSubmatch(value); of != nil {
			found[of[1]+of[2]] = true
		}
		isLabel := slices.ContainsFunc(namespaceLabels, func(label string) bool { return strings.HasSuffix(key, label) })
		if isLabel || strings.HasSuffix(strings.ToLower(key), "namespace") || strings.HasSuffix(strings.ToLower(key), "namespaces") {
			found[value] = true
		}
	case []any:
		for _, item := range value {
			addNamespaces(found, key, item)
		}
	case map[string]any:
		of, _ := value["key"].(string) // an expression of a selector, or a condition
		for key, item := range value {
			if key == "values" {
				key = of
			}
			addNamespaces(found, key, item)
		}
		if name, _ := value["name"].(string); value["kind"] == "Namespace" {
			found[name] = true
		}
	}
}

// mayLetInAny reports whether policies may let an account of one of some namespaces in.
func (c *comparison) mayLetInAny(namespaces []string, account string) bool {
	return slices.ContainsFunc(namespaces, func(of string) bool { return c.mayLetIn(of, account) })
}

// hasRightsInAny reports whether an account of one of some namespaces has rights that count.
func (c *comparison) hasRightsInAny(namespaces []string, account string) bool {
	return slices.ContainsFunc(namespaces, func(of string) bool { return c.hasRights(of, account) })
}
