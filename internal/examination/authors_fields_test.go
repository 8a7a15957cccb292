package examination_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// changesUnder changes the mappings that stand under a key, in policies of a kind, or of any kind.
func changesUnder(kind, key string, change func(of object)) mistaken {
	return mistaken{reads: func(p object) {
		if kind != "" && p["kind"] != kind {
			return
		}
		each("", p["spec"], func(under string, of object) {
			if under == key {
				change(of)
			}
		})
	}}
}

// mapping returns a value as a mapping, and items as a list. Both are nothing where it is another value.
func mapping(v any) object { of, _ := v.(object); return of }
func items(v any) []any    { of, _ := v.([]any); return of }

// restOf returns a list without some of its items.
func restOf(list any, drop func(item any) bool) []any {
	return slices.DeleteFunc(append([]any{}, items(list)...), drop)
}

// unbounded leaves the HTTP rules of a rule out where its callers stand in one of the fields.
func unbounded(kind string, fields ...string) mistaken {
	return changesUnder(kind, "ingress", func(rule object) {
		if slices.ContainsFunc(fields, func(field string) bool { return rule[field] != nil }) {
			for _, ports := range items(rule["toPorts"]) {
				delete(mapping(ports), "rules")
			}
		}
	})
}

// ofHeaders changes the values with which headers are compared.
func ofHeaders(change func(value string) string) mistaken {
	return compares(policy.Exact, func(is policy.Is) policy.Condition {
		if strings.Contains(is.String(), "header") {
			is.Match.Value = change(is.Match.Value)
		}
		return is
	})
}

// otherSizes takes one address for a block of the usual size, or such a block for its first address.
func otherSizes(single bool) mistaken {
	return mistaken{compares: func(is policy.Is) policy.Condition {
		if is.Attribute != attribute.SourceAddress || !strings.Contains(is.Match.Value, ":") {
			return is
		}
		address, isBlock := strings.CutSuffix(is.Match.Value, "/64")
		if block, err := netip.ParsePrefix(address + "/64"); single && err == nil && is.Match.Kind == policy.Exact {
			is.Match = policy.Match{Kind: policy.CIDR, Value: block.Masked().String()}
		}
		if !single && isBlock {
			is.Match = policy.Match{Kind: policy.Exact, Value: address}
		}
		return is
	}}
}

// ofAction changes the mappings under a key in policies of one action.
func ofAction(action, key string, change func(of object)) mistaken {
	return mistaken{reads: func(p object) {
		spec := mapping(p["spec"])
		if p["kind"] == "AuthorizationPolicy" && spec != nil && (spec["action"] == action || spec["action"] == nil && action == "ALLOW") {
			each("spec", spec, func(under string, of object) {
				if under == key {
					change(of)
				}
			})
		}
	}}
}

// excludesNobody has a field of an operation or a source exclude what never comes.
func excludesNobody(action, key, field, never string) mistaken {
	return ofAction(action, key, func(of object) {
		if of[field] != nil {
			of[field] = []any{never}
		}
	})
}

// losesPrefixes leaves out the values that end in a star, where others stand beside them.
func losesPrefixes(action, key, field string) mistaken {
	return ofAction(action, key, func(of object) {
		rest := restOf(of[field], func(item any) bool { return strings.HasSuffix(fmt.Sprint(item), "*") })
		if len(rest) > 0 {
			of[field] = rest
		}
	})
}

// ofMatcher changes the matcher of a field in the items of a list of Kuma.
func ofMatcher(list, field string, change func(matcher object)) mistaken {
	return changesUnder("", list, func(of object) {
		if matcher := mapping(of[field]); matcher != nil {
			change(matcher)
		}
	})
}

// typed reads matchers of one type as those of another one.
func typed(from, to string) func(matcher object) {
	return func(matcher object) {
		if matcher["type"] == from {
			matcher["type"] = to
		}
	}
}

// inSmallLetters reads the value of a matcher in small letters.
func inSmallLetters(matcher object) {
	if value, ok := matcher["value"].(string); ok {
		matcher["value"] = strings.ToLower(value)
	}
}

// literalDot takes a dot of an expression for itself where nothing repeats it.
func literalDot(expression string) string { return strings.ReplaceAll(expression, "./", `\./`) }

// mistakesInFields are those that one form of a field shows, by the dialect. A compiler that makes one of them is right about the field elsewhere.
var mistakesInFields = map[string]map[string]mistaken{
	"cilium": {
		"HTTP rules of a block":                    unbounded("", "fromCIDR"),
		"HTTP rules of a block with exceptions":    unbounded("", "fromCIDRSet"),
		"HTTP rules of entities":                   unbounded("", "fromEntities"),
		"HTTP rules of a clusterwide policy":       unbounded("CiliumClusterwideNetworkPolicy", "fromEndpoints", "fromEntities"),
		"ports of a clusterwide policy":            changesUnder("CiliumClusterwideNetworkPolicy", "ingress", func(rule object) { delete(rule, "toPorts") }),
		"denied ports of a clusterwide policy":     changesUnder("CiliumClusterwideNetworkPolicy", "ingressDeny", func(rule object) { delete(rule, "toPorts") }),
		"a rule of ICMP is one of all":             changesUnder("", "ingress", func(rule object) { delete(rule, "icmps") }),
		"a denial of ICMP is one of all":           changesUnder("", "ingressDeny", func(rule object) { delete(rule, "icmps") }),
		"expressions of a denied peer":             changesUnder("", "ingressDeny", func(rule object) { dropExpressions(rule["fromEndpoints"]) }),
		"the first denied port":                    changesUnder("", "ingressDeny", firstPorts),
		"names of denied ports":                    changesUnder("", "ingressDeny", withoutNamedPorts),
		"a dot of a path":                          texts(literalDot, "path"),
		"once or more is any number of times":      texts(func(s string) string { return strings.ReplaceAll(s, ".+", ".*") }, "path"),
		"a header's value up to a second colon":    ofHeaders(func(value string) string { before, _, _ := strings.Cut(value, ":"); return before }),
		"a header's value without quotation marks": ofHeaders(func(value string) string { return strings.Trim(value, `"`) }),
		"a header's value up to a comma":           ofHeaders(func(value string) string { before, _, _ := strings.Cut(value, ","); return before }),
		"one address of IPv6 is a block":           otherSizes(true),
		"a block of IPv6 is an address":            otherSizes(false),
	},
	"istio": {
		"paths that an authorizer is not asked about":   excludesNobody("CUSTOM", "operation", "notPaths", "/never"),
		"hosts that an authorizer is not asked about":   excludesNobody("CUSTOM", "operation", "notHosts", "never.example"),
		"methods that an authorizer is not asked about": excludesNobody("CUSTOM", "operation", "notMethods", "NEVER"),
		"ports that an authorizer is not asked about":   excludesNobody("CUSTOM", "operation", "notPorts", "1"),
		"callers that an authorizer is not asked about": excludesNobody("CUSTOM", "source", "notIpBlocks", "192.0.2.99"),
		"a star of methods is no field":                 starIsAbsent("methods"),
		"a star of hosts is no field":                   starIsAbsent("hosts"),
		"the first condition of a DENY":                 ofAction("DENY", "rules", func(rule object) { firstItem(rule, "when") }),
		"an empty rule of a DENY":                       ofAction("DENY", "spec", func(spec object) { spec["rules"] = restOf(spec["rules"], isEmpty) }),
		"a DENY of a port and HTTP on tcp":              ofAction("DENY", "operation", neverWithPorts),
		"prefixes of names beside whole ones":           losesPrefixes("ALLOW", "source", "principals"),
		"prefixes of excluded names":                    losesPrefixes("DENY", "source", "notPrincipals"),
		"prefixes of excluded namespaces":               losesPrefixes("DENY", "source", "notNamespaces"),
		"prefixes of excluded values":                   losesPrefixes("DENY", "when", "notValues"),
		"excluded values in small letters":              texts(strings.ToLower, "notValues"),
		"ports that are excluded, beside a path":        lostBeside("notPorts", "paths"),
	},
	"kuma": {
		"a prefix of a shadow":                    ofMatcher("allowWithShadowDeny", "spiffeID", typed("Prefix", "Exact")),
		"a whole name of a shadow":                ofMatcher("allowWithShadowDeny", "spiffeId", typed("Exact", "Prefix")),
		"a whole path of a shadow":                ofMatcher("allowWithShadowDeny", "path", typed("Exact", "Prefix")),
		"a name of a shadow in small letters":     ofMatcher("allowWithShadowDeny", "spiffeID", inSmallLetters),
		"a path of a shadow in small letters":     ofMatcher("allowWithShadowDeny", "path", inSmallLetters),
		"a prefix of an allow in capitals":        ofMatcher("allow", "spiffeID", typed("Prefix", "Exact")),
		"a prefix of a deny in capitals":          ofMatcher("deny", "spiffeID", typed("Prefix", "Exact")),
		"a denied name in small letters":          ofMatcher("deny", "spiffeId", inSmallLetters),
		"a denied beginning in small letters":     ofMatcher("deny", "spiffeID", inSmallLetters),
		"the path of a shadow is a prefix of all": ofMatcher("allowWithShadowDeny", "path", func(matcher object) { matcher["type"], matcher["value"] = "Prefix", "/" }),
	},
	"linkerd": {
		"a protocol that is said to be unknown": changesUnder("Server", "", func(spec object) {
			if spec["proxyProtocol"] == "unknown" {
				spec["proxyProtocol"] = "opaque"
			}
		}),
		"a path without a value": changesUnder("HTTPRoute", "path", func(path object) {
			if path["value"] == nil {
				path["value"] = "/nothing"
			}
		}),
		"a rule without matches": changesUnder("HTTPRoute", "", func(spec object) {
			spec["rules"] = restOf(spec["rules"], isEmpty)
		}),
	},
}

// dropExpressions leaves the expressions of selectors out.
func dropExpressions(selectors any) {
	for _, selector := range items(selectors) {
		delete(mapping(selector), "matchExpressions")
	}
}

// firstPorts reads the first port of each list of a rule.
func firstPorts(rule object) {
	for _, ports := range items(rule["toPorts"]) {
		firstItem(mapping(ports), "ports")
	}
}

// withoutNamedPorts reads the ports of a rule that are numbers.
func withoutNamedPorts(rule object) {
	for _, ports := range items(rule["toPorts"]) {
		mapping(ports)["ports"] = restOf(mapping(ports)["ports"], func(port any) bool { return fmt.Sprint(mapping(port)["port"]) > "9" })
	}
}

// firstItem reads the first item of a list alone.
func firstItem(of object, field string) {
	if list := items(of[field]); len(list) > 1 {
		of[field] = list[:1]
	}
}

// isEmpty reports whether an item of a list has no field.
func isEmpty(item any) bool { return len(mapping(item)) == 0 }

// starIsAbsent leaves out a field whose only value is a star.
func starIsAbsent(field string) mistaken {
	return changesUnder("", "operation", func(of object) {
		if list := items(of[field]); len(list) == 1 && list[0] == "*" {
			delete(of, field)
		}
	})
}

// neverWithPorts takes an operation that asks for a method on some ports for one of HTTP alone: on other ports it refuses nobody.
func neverWithPorts(of object) {
	if list := items(of["ports"]); len(list) > 1 && of["methods"] != nil {
		of["ports"] = list[:1]
	}
}
