package clusterrole

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// applying are the verbs by which a tool applies a policy: one for a new one, and one of the others for a changed one.
var applying = []string{"create", "patch", "update"}

// Forbids says that a role gives a right to write policies of the kind of a policy, and not the one that this policy needs: a tool
// that has no other role applies the rest. It is "" where the role gives all, or none.
func Forbids(o, p clusterobject.Object, isNew bool) string {
	if !o.IsOfRights() || o.Kind != "ClusterRole" && (o.Kind != "Role" || p.IsNamespaced() && o.Namespace != p.Namespace) {
		return ""
	}
	some, given := false, map[string]bool{}
	for _, rule := range fieldvalue.Mappings(fieldvalue.Lookup(o.Fields, "rules")) {
		if !hasAnyOf(rule["apiGroups"], p.Group) || !hasAnyOf(rule["resources"], ResourceOf(p)) {
			continue
		}
		names := fieldvalue.Texts(rule["resourceNames"])
		for _, verb := range applying {
			isNamed := len(names) == 0 || verb != "create" && slices.Contains(names, p.Name) // a rule with names never lets create
			given[verb] = given[verb] || isNamed && hasAnyOf(rule["verbs"], verb)
			some = some || hasAnyOf(rule["verbs"], verb)
		}
	}
	switch {
	case !some:
		return ""
	case isNew && !given["create"]:
		return o.String() + " gives no right to create it, and a tool with that role applies the others"
	case !isNew && !given["patch"] && !given["update"]:
		return o.String() + " gives no right to change it, and a tool with that role applies the others"
	default:
		return ""
	}
}

// hasAnyOf reports whether a list of a rule has a word, or the one that stands for all.
func hasAnyOf(list any, word string) bool {
	return slices.ContainsFunc(fieldvalue.Texts(list), func(text string) bool { return text == word || text == "*" })
}

// ResourceOf is the name of the kind of an object in the addresses of an API server, such as authorizationpolicies.
func ResourceOf(o clusterobject.Object) string {
	kind := strings.ToLower(o.Kind)
	if stem, ok := strings.CutSuffix(kind, "y"); ok {
		return stem + "ies"
	}
	return kind + "s"
}
