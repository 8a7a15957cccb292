package manifestdiff

import (
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// ownRules are the fields of a rule of Kyverno that have a say about what the rule asks for alone, or say what that is.
var ownRules = fieldpath.SetOf("name match exclude context preconditions celPreconditions validate mutate verifyImages generate skipBackgroundRequests")

// asksForOthers reports whether an object of Kyverno says, rule by rule, which kinds of objects it is about, and none of them is one of the policies. An
// exception, and an object that deletes, says it once (match in api/kyverno/v1/match_resources_types.go).
func (c *comparison) asksForOthers(o clusterobject.Object) bool {
	if o.Group != "kyverno.io" {
		return false
	}
	switch o.Kind {
	case "ClusterPolicy", "Policy":
		rules := fieldvalue.Mappings(fieldvalue.Lookup(o.Fields, "spec", "rules"))
		return len(rules) > 0 && !slices.ContainsFunc(rules, func(rule map[string]any) bool { return !c.isAboutOthers(rule) })
	case "ClusterCleanupPolicy", "CleanupPolicy", "PolicyException":
		match := fieldvalue.Lookup(o.Fields, "spec", "match")
		return c.matchesOthers(match) && (o.Kind == "PolicyException" || !c.matchesDeliveries(match))
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
		if generated["foreach"] != nil || !c.isKindOfOthers(kind) || c.delivers(kind) {
			return false
		}
	}
	if rule["mutate"] != nil && c.matchesDeliveries(rule["match"]) {
		return false
	}
	return fieldvalue.Lookup(rule, "mutate", "targets") == nil && c.matchesOthers(rule["match"])
}

// filtersOf returns the filters of a match.
func filtersOf(match any) []map[string]any {
	filters := slices.Concat(fieldvalue.Mappings(fieldvalue.Lookup(match, "any")), fieldvalue.Mappings(fieldvalue.Lookup(match, "all")))
	if fieldvalue.Lookup(match, "resources") != nil {
		filters = append(filters, match.(map[string]any))
	}
	return filters
}

// matchesDeliveries reports whether a filter of a match has a kind of objects that deliver policies: where a rule changes or deletes such an object, what the object delivers is left out.
func (c *comparison) matchesDeliveries(match any) bool {
	return slices.ContainsFunc(filtersOf(match), func(filter map[string]any) bool {
		return slices.ContainsFunc(fieldvalue.Texts(fieldvalue.Lookup(filter, "resources", "kinds")), c.delivers)
	})
}

// matchesOthers reports whether each filter of a match has kinds, and none of policies.
func (c *comparison) matchesOthers(match any) bool {
	filters := filtersOf(match)
	return len(filters) > 0 && !slices.ContainsFunc(filters, func(filter map[string]any) bool {
		kinds := fieldvalue.Texts(fieldvalue.Lookup(filter, "resources", "kinds"))
		return len(kinds) == 0 || slices.ContainsFunc(kinds, func(kind string) bool { return !c.isKindOfOthers(kind) })
	})
}

// writtenKind is a kind that is no pattern, with its group and version or without.
var writtenKind = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9./-]*$`)

func wordsOfKind(kind string) []string {
	return strings.FieldsFunc(kind, func(r rune) bool { return r == '/' || r == '.' })
}

// delivering are the kinds of objects by which tools apply manifests, or take them from somewhere.
var delivering = fieldpath.SetOf(`App Application ApplicationSet AppProject Bucket Bundle ClusterPolicy ExternalArtifact GitRepo GitRepository HelmChart HelmRelease KluctlDeployment Kustomization
	OCIRepository PackageInstall Policy RepoSync RootSync`)

// delivers reports whether objects of a kind may apply policies, refuse them or change them.
func (c *comparison) delivers(kind string) bool {
	words := wordsOfKind(kind)
	return slices.ContainsFunc(words, func(word string) bool { return delivering[word] }) ||
		slices.ContainsFunc(slices.Concat(c.recentObjects.All, c.oldObjects.All), func(o clusterobject.Object) bool {
			return slices.Contains(words, o.Kind) && o.IsOfTool() && !isIdleTool(o.Group)
		})
}

// isIdleTool reports whether the objects of a group of a tool apply nothing.
func isIdleTool(group string) bool { return harmlessOfDeliveries[group]["spec"] }

// isKindOfOthers reports whether a kind, such as Pod or apps/v1/Deployment, is written out and is none of the policies'.
func (c *comparison) isKindOfOthers(kind string) bool {
	if !writtenKind.MatchString(kind) {
		return false
	}
	words := wordsOfKind(kind)
	return !slices.ContainsFunc(slices.Concat(c.recentPolicies.All, c.oldPolicies.All), func(policy clusterobject.Object) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(word, policy.Kind) })
	})
}

// permitting are the fields of a project of Argo CD that have a say in which objects of a repository may be applied.
var permitting = []string{"destinations", "clusterResourceWhitelist", "namespaceResourceWhitelist"}

// permitsAll reports whether a project of Argo CD permits each kind and namespace (AppProjectSpec in pkg/apis/application/v1alpha1/types.go). One without a list of kinds
// of the cluster permits none of them. The repositories that it permits say nothing of one policy alone.
func permitsAll(o clusterobject.Object) bool {
	spec := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "spec"))
	for key, value := range spec {
		if key != "description" && key != "roles" && key != "sourceRepos" && !(slices.Contains(permitting, key) && permitsAny(value)) {
			return false
		}
	}
	// A destination with "!" is one that is denied (isDenyPattern in pkg/apis/application/v1alpha1).
	isDenied := func(value any) bool { text, _ := value.(string); return strings.HasPrefix(text, "!") }
	return !fieldvalue.Any(spec["destinations"], isDenied) && permitsAny(spec["destinations"]) && permitsAny(spec["clusterResourceWhitelist"])
}

// permitsAny reports whether an item of a list stands for everything. That of the own cluster stands for the cluster which the folder is about.
func permitsAny(list any) bool {
	items, _ := list.([]any)
	return slices.ContainsFunc(items, func(item any) bool {
		fields := fieldvalue.Mapping(item)
		for key, value := range fields {
			isOwn := key == "server" && value == "https://kubernetes.default.svc" || key == "name" && value == "in-cluster"
			if value != "*" && !isOwn {
				return false
			}
		}
		return fields["namespace"] == "*" || fields["group"] == "*" && fields["kind"] == "*"
	})
}
