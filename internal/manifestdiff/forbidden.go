package manifestdiff

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// applying are the verbs by which a tool applies a policy: one for a new one, and one of the others for a changed one.
var applying = []string{"create", "patch", "update"}

// forbids says that a role gives a right to write policies of the kind of a policy, and not the one that this policy needs: a tool
// that has no other role applies the rest. It is "" where the role gives all, or none.
func (o object) forbids(p placedPolicy) string {
	if !o.isOfRights() || o.kind != "ClusterRole" && (o.kind != "Role" || p.hasNamespace() && o.namespace != p.namespace) {
		return ""
	}
	some, given := false, map[string]bool{}
	for _, rule := range fieldvalue.Mappings(fieldvalue.Lookup(o.fields, "rules")) {
		if !hasAnyOf(rule["apiGroups"], p.group) || !hasAnyOf(rule["resources"], p.resource()) {
			continue
		}
		names := fieldvalue.Texts(rule["resourceNames"])
		for _, verb := range applying {
			isNamed := len(names) == 0 || verb != "create" && slices.Contains(names, p.name) // a rule with names never lets create
			given[verb] = given[verb] || isNamed && hasAnyOf(rule["verbs"], verb)
			some = some || hasAnyOf(rule["verbs"], verb)
		}
	}
	switch {
	case !some:
		return ""
	case len(p.was) == 0 && !given["create"]:
		return o.String() + " gives no right to create it, and a tool with that role applies the others"
	case len(p.was) > 0 && !given["patch"] && !given["update"]:
		return o.String() + " gives no right to change it, and a tool with that role applies the others"
	default:
		return ""
	}
}

// hasAnyOf reports whether a list of a rule has a word, or the one that stands for all.
func hasAnyOf(list any, word string) bool {
	return slices.ContainsFunc(fieldvalue.Texts(list), func(text string) bool { return text == word || text == "*" })
}

// resource is the name of the kind of an object in the addresses of an API server, such as authorizationpolicies.
func (o object) resource() string {
	kind := strings.ToLower(o.kind)
	if stem, ok := strings.CutSuffix(kind, "y"); ok {
		return stem + "ies"
	}
	return kind + "s"
}
