package assumption

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// What states a policy in the place of another object: the values of a chart that takes whole objects, a text of a ConfigMap, a template.
var (
	decisive   = regexp.MustCompile(`^\w*(NetworkPolicy|AuthorizationPolicy|TrafficPermission|Authentication|Authorization|Server)$`)
	statedKind = regexp.MustCompile(`(?:\\n|\b)(?:kind|type)["']?\s*[:=]\s*["']?(\w+)`)
)

// What lets a chart write a NetworkPolicy of Kubernetes.
var (
	// parameter is the path of such a value, as in the parameters of Argo CD.
	parameter = regexp.MustCompile(`(?i)\bnetworkpolic(?:y|ies)[\w.]*\.(?:enabled|create)$`)
	// switchedOn finds such values on one line, in a flag and in a parameter of a text.
	switchedOn = regexp.MustCompile(`(?i)networkpolic(?:y|ies)(?:enabled)?["']?\s*[:=]\s*true\b|\bnetworkpolic(?:y|ies)["']?\s*[:=]\s*\{[^{}]*\b(?:enabled|create)["']?\s*[:=]\s*true\b|` +
		`\bnetworkpolic(?:y|ies)[\w.]*\.(?:enabled|create)["']?(?:=|,?\s*["']?value["']?\s*[:=]\s*)["']?true\b`)
	// constructed finds a NetworkPolicy that a program makes: a resource of Terraform, and a constructor of Pulumi or cdk8s.
	constructed = regexp.MustCompile(`"kubernetes_network_policy(?:_v1)?"|(?:\bnew |\.)(?:Kube|New)?NetworkPolicy(?:V1)?\(`)
	// headOfSwitch finds the head of a mapping of such values in a text, and switchBelow those in the lines of the mapping.
	headOfSwitch = regexp.MustCompile(`(?im)^([ \t]*)networkpolic(?:y|ies):[ \t\r]*$`)
	switchBelow  = regexp.MustCompile(`(?m)^[ \t]+(?:enabled|create):[ \t]*(true|false)\b`)
	// ofSeveral finds that a mapping begins with another one, such as one for each policy.
	ofSeveral = regexp.MustCompile(`^[ \t]+[\w-]+:[ \t\r]*\n`)
)

// carrying returns what finds the field of an object that has a policy of a group in it, and is none itself.
func carrying(group string) func(o clusterobject.Object, _ Options) string {
	return func(o clusterobject.Object, _ Options) string {
		if !mayHaveValues(o) || o.Group == "apiextensions.k8s.io" {
			return ""
		}
		return fieldWith(o, func(value any) bool { return statesPolicy(value, group) })
	}
}

// carryingIn is [carrying] for a text that is not read.
func carryingIn(group string) func(text string, _ Options) bool {
	return func(text string, _ Options) bool { return statesPolicy(text, group) }
}

// closesIn is [statesNetworkPolicy] for a text that is not read.
func closesIn(text string, _ Options) bool { return statesNetworkPolicy(text) }

// statesPolicy reports whether a value is a policy of a group, or a text with one.
func statesPolicy(value any, group string) bool {
	if text, isText := value.(string); isText {
		return strings.Contains(text, group+"/v") && slices.ContainsFunc(statedKind.FindAllStringSubmatch(text, -1), func(found []string) bool { return decisive.MatchString(found[1]) })
	}
	version, _ := fieldvalue.Lookup(value, "apiVersion").(string)
	kind, _ := fieldvalue.Lookup(value, "kind").(string)
	return strings.HasPrefix(version, group+"/") && decisive.MatchString(kind)
}

// fieldWith returns the first key of an object whose field, or a value below, meets a condition, "" for none.
func fieldWith(o clusterobject.Object, meets func(any) bool) string {
	fields := fieldvalue.Mapping(o.Fields)
	for _, key := range o.Doc.Keys() {
		meetsPlain := func(value any) bool {
			if text, isText := value.(string); isText && o.Group == "" {
				value = o.PlainText(key, text)
			}
			return meets(value)
		}
		if fieldvalue.Any(map[string]any{key: fields[key]}, meetsPlain) {
			return key
		}
	}
	if len(fields) == 0 && meets(o.Fields) {
		return firstItem
	}
	return ""
}

// closesByValues returns the field of an object by which a chart writes a NetworkPolicy of Kubernetes, "" for none.
func closesByValues(o clusterobject.Object) string {
	if !mayHaveValues(o) || o.Group == "apiextensions.k8s.io" {
		return ""
	}
	return fieldWith(o, func(value any) bool {
		if text, isText := value.(string); isText {
			return statesNetworkPolicy(text)
		}
		fields := fieldvalue.Mapping(value)
		for key, value := range fields {
			name := strings.ToLower(key)
			if value == true && strings.Contains(name, "networkpolic") || (name == "networkpolicy" || name == "networkpolicies") && isSwitchedOn(value) {
				return true
			}
		}
		if name, _ := fields["name"].(string); parameter.MatchString(name) && fmt.Sprint(fields["value"]) == "true" {
			return true
		}
		return statesPolicy(value, "networking.k8s.io")
	})
}

// isSwitchedOn reports whether a value lets a chart write an object: it is true, or says something and does not say that it is off.
func isSwitchedOn(value any) bool {
	fields := fieldvalue.Mapping(value)
	return value == true || len(fields) > 0 && fields["enabled"] != false && fields["create"] != false
}

// statesNetworkPolicy reports whether a text that is not read states a NetworkPolicy of Kubernetes, or lets a chart write one. A template may have
// another text in the place of its apiVersion.
func statesNetworkPolicy(text string) bool {
	if !strings.Contains(strings.ReplaceAll(strings.ToLower(text), "_", ""), "networkpolic") {
		return false
	}
	isOne := func(found []string) bool { return found[1] == "NetworkPolicy" }
	if constructed.MatchString(text) || switchedOn.MatchString(text) || slices.ContainsFunc(statedKind.FindAllStringSubmatch(text, -1), isOne) {
		return true
	}
	return slices.ContainsFunc(headOfSwitch.FindAllStringSubmatchIndex(text, -1), func(at []int) bool {
		below := linesBelow(text[at[1]:], text[at[2]:at[3]])
		switches := switchBelow.FindAllStringSubmatch(below, -1)
		return slices.ContainsFunc(switches, func(found []string) bool { return found[1] == "true" }) || len(switches) == 0 && ofSeveral.MatchString(below)
	})
}

// linesBelow returns the lines at the beginning of a text that are indented deeper than a head.
func linesBelow(text, head string) string {
	var out strings.Builder
	for line := range strings.Lines(strings.TrimLeft(text, "\r\n")) {
		deeper, is := strings.CutPrefix(line, head)
		if strings.TrimSpace(line) != "" && (!is || deeper[0] != ' ' && deeper[0] != '\t') {
			break
		}
		out.WriteString(line)
	}
	return out.String()
}
