package manifestdiff

import (
	"regexp"
	"slices"
	"strings"
)

// What states a policy in the place of another object: the values of a chart that takes whole objects, a text of a ConfigMap, a template.
var (
	decisive   = regexp.MustCompile(`^\w*(NetworkPolicy|AuthorizationPolicy|TrafficPermission|Authentication|Authorization|Server)$`)
	statedKind = regexp.MustCompile(`(?:\\n|\b)(?:kind|type)["']?\s*:\s*["']?(\w+)`)
	// switchedOn finds where values in a text let a chart write a NetworkPolicy.
	switchedOn = regexp.MustCompile(`(?im)^[ \t]*networkpolic(?:y|ies):[ \t]*(?:true\b|\r?\n[ \t]+(?:(?:enabled|create):[ \t]*true\b|[\w-]+:[ \t]*\r?\n))`)
)

// carrying returns what finds the field of an object that has a policy of a group in it, and is none itself.
func carrying(group string) func(o object, _ options) string {
	return func(o object, _ options) string {
		if !o.mayHaveValues() || o.group == "apiextensions.k8s.io" {
			return ""
		}
		return o.fieldWith(func(value any) bool { return statesPolicy(value, group) })
	}
}

// carryingIn is [carrying] for a text that is not read.
func carryingIn(group string) func(text string, _ options) bool {
	return func(text string, _ options) bool { return statesPolicy(text, group) }
}

// statesPolicy reports whether a value is a policy of a group, or a text with one.
func statesPolicy(value any, group string) bool {
	if text, isText := value.(string); isText {
		return strings.Contains(text, group+"/v") && slices.ContainsFunc(statedKind.FindAllStringSubmatch(text, -1), func(found []string) bool { return decisive.MatchString(found[1]) })
	}
	version, _ := fieldOf(value, "apiVersion").(string)
	kind, _ := fieldOf(value, "kind").(string)
	return strings.HasPrefix(version, group+"/") && decisive.MatchString(kind)
}

// fieldWith returns the first key of an object below which a value meets a condition, "" for none.
func (o object) fieldWith(meets func(any) bool) string {
	fields, _ := o.fields.(map[string]any)
	for _, key := range o.doc.Keys() {
		if anyIn(fields[key], meets) {
			return key
		}
	}
	if len(fields) == 0 && meets(o.fields) {
		return firstItem
	}
	return ""
}

// closesByValues returns the field of an object by which a chart writes a NetworkPolicy of Kubernetes, "" for none.
func (o object) closesByValues() string {
	if !o.mayHaveValues() || o.group == "apiextensions.k8s.io" {
		return ""
	}
	return o.fieldWith(func(value any) bool {
		if text, isText := value.(string); isText {
			return closesIn(text, nil)
		}
		fields, _ := value.(map[string]any)
		for key, value := range fields {
			if name := strings.ToLower(key); (name == "networkpolicy" || name == "networkpolicies") && isSwitchedOn(value) {
				return true
			}
		}
		return statesPolicy(value, "networking.k8s.io")
	})
}

// isSwitchedOn reports whether a value lets a chart write an object: it is true, or says something and does not say that it is off.
func isSwitchedOn(value any) bool {
	fields, _ := value.(map[string]any)
	return value == true || len(fields) > 0 && fields["enabled"] != false && fields["create"] != false
}

// closesIn reports whether a text that is not read states a NetworkPolicy of Kubernetes, or lets a chart write one.
func closesIn(text string, _ options) bool {
	return statesPolicy(text, "networking.k8s.io") || switchedOn.MatchString(text)
}
