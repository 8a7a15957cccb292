package manifestdiff

import (
	"slices"
	"strings"
)

// ownRules are the fields of a rule of Kyverno that have a say about what the rule asks for alone, or say what that is.
var ownRules = fields("name match exclude context preconditions celPreconditions validate mutate verifyImages generate skipBackgroundRequests")

// asksForOthers reports whether an object of Kyverno says, rule by rule, which kinds of objects it is about, and none of them is one of the policies. An
// exception, and an object that deletes, says it once (match in api/kyverno/v1/match_resources_types.go).
func (c *comparison) asksForOthers(o object) bool {
	if o.group != "kyverno.io" {
		return false
	}
	switch o.kind {
	case "ClusterPolicy", "Policy":
		rules := mappings(fieldOf(o.fields, "spec", "rules"))
		return len(rules) > 0 && !slices.ContainsFunc(rules, func(rule map[string]any) bool { return !c.isAboutOthers(rule) })
	case "ClusterCleanupPolicy", "CleanupPolicy", "PolicyException":
		return c.matchesOthers(fieldOf(o.fields, "spec", "match"))
	default:
		return false
	}
}

// isAboutOthers reports whether a rule is asked for other kinds than those of policies alone, changes nothing else, and makes nothing that may
// stand in the place of a policy.
func (c *comparison) isAboutOthers(rule map[string]any) bool {
	for key := range rule {
		if !ownRules[key] {
			return false
		}
	}
	if generated, is := rule["generate"].(map[string]any); is {
		kind, _ := generated["kind"].(string)
		if generated["foreach"] != nil || !c.isKindOfOthers(kind) {
			return false
		}
	}
	return fieldOf(rule, "mutate", "targets") == nil && c.matchesOthers(rule["match"])
}

// matchesOthers reports whether each filter of a match has kinds, and none of policies.
func (c *comparison) matchesOthers(match any) bool {
	filters := slices.Concat(mappings(fieldOf(match, "any")), mappings(fieldOf(match, "all")))
	if fieldOf(match, "resources") != nil {
		filters = append(filters, match.(map[string]any))
	}
	return len(filters) > 0 && !slices.ContainsFunc(filters, func(filter map[string]any) bool {
		kinds := textsOf(fieldOf(filter, "resources", "kinds"))
		return len(kinds) == 0 || slices.ContainsFunc(kinds, func(kind string) bool { return !c.isKindOfOthers(kind) })
	})
}

// isKindOfOthers reports whether a kind, such as Pod or apps/v1/Deployment, is written out and is none of the policies'.
func (c *comparison) isKindOfOthers(kind string) bool {
	if kind == "" || strings.ContainsAny(kind, "*?{}$") {
		return false
	}
	words := strings.FieldsFunc(kind, func(r rune) bool { return r == '/' || r == '.' })
	return !slices.ContainsFunc(slices.Concat(c.recentPolicies.all, c.oldPolicies.all), func(policy object) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(word, policy.kind) })
	})
}

// permitting are the fields of a project of Argo CD that have a say in which objects of a repository may be applied.
var permitting = []string{"destinations", "clusterResourceWhitelist", "namespaceResourceWhitelist"}

// permitsAll reports whether a project of Argo CD permits each kind and namespace (AppProjectSpec in pkg/apis/application/v1alpha1/types.go). One without a list of kinds
// of the cluster permits none of them. The repositories that it permits say nothing of one policy alone.
func (o object) permitsAll() bool {
	spec, _ := fieldOf(o.fields, "spec").(map[string]any)
	for key, value := range spec {
		if key != "description" && key != "roles" && key != "sourceRepos" && !(slices.Contains(permitting, key) && permitsAny(value)) {
			return false
		}
	}
	return permitsAny(spec["destinations"]) && permitsAny(spec["clusterResourceWhitelist"])
}

// permitsAny reports whether an item of a list stands for everything. That of the own cluster stands for the cluster which the folder is about.
func permitsAny(list any) bool {
	items, _ := list.([]any)
	return slices.ContainsFunc(items, func(item any) bool {
		fields, _ := item.(map[string]any)
		for key, value := range fields {
			isOwn := key == "server" && value == "https://kubernetes.default.svc" || key == "name" && value == "in-cluster"
			if value != "*" && !isOwn {
				return false
			}
		}
		return fields["namespace"] == "*" || fields["group"] == "*" && fields["kind"] == "*"
	})
}
