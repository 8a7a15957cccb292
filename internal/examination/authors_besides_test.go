package examination_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// lostBeside leaves a field out where another one stands beside it.
func lostBeside(field, other string) mistaken {
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			if of[other] != nil {
				delete(of, field)
			}
		})
	}}
}

// oneOfName reads one of the items of a list that have one name: the first one, or the last one.
func oneOfName(list string, last bool) mistaken {
	nameOf := func(item any) string {
		if of, ok := item.(object); ok {
			item = of["name"]
		}
		name, _, _ := strings.Cut(fmt.Sprint(item), " ")
		return strings.ToLower(strings.TrimSuffix(name, ":"))
	}
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			items, _ := of[list].([]any)
			var out []any
			for _, item := range items {
				i := slices.IndexFunc(out, func(other any) bool { return nameOf(other) == nameOf(item) })
				switch {
				case i < 0:
					out = append(out, item)
				case last:
					out[i] = item
				}
			}
			if len(out) < len(items) {
				of[list] = out
			}
		})
	}}
}

// withoutWholeBlocks leaves a list of blocks out that has all addresses of a kind.
func withoutWholeBlocks(fields ...string) mistaken {
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			for _, field := range fields {
				items, _ := of[field].([]any)
				if slices.ContainsFunc(items, func(item any) bool { return strings.HasSuffix(fmt.Sprint(item), "/0") }) {
					of[field] = []any{"192.0.2.99"}
				}
			}
		})
	}}
}

// literal takes a sign of an expression for itself.
func literal(sign string, fields ...string) mistaken {
	return texts(func(s string) string { return strings.ReplaceAll(s, sign, `\`+sign) }, fields...)
}

// sharedExceptions takes the exceptions of each block out of all blocks of a policy.
func sharedExceptions(p object) {
	var all []any
	each("", p["spec"], func(_ string, of object) {
		exceptions, _ := of["except"].([]any)
		all = append(all, exceptions...)
	})
	each("", p["spec"], func(_ string, of object) {
		block, err := netip.ParsePrefix(fmt.Sprint(of["cidr"]))
		if err != nil {
			return
		}
		var own []any
		for _, e := range all {
			if inner, err := netip.ParsePrefix(fmt.Sprint(e)); err == nil && inner.Bits() >= block.Bits() && block.Contains(inner.Addr()) && !slices.Contains(own, e) {
				own = append(own, e)
			}
		}
		if len(own) > 0 {
			of["except"] = own
		}
	})
}

// portsBetween takes a list of ports for the range from the first one to the last one.
func portsBetween(p object) {
	each("", p["spec"], func(_ string, of object) {
		ports, _ := of["ports"].([]any)
		numbers := []int{}
		for _, port := range ports {
			if n, ok := port.(int); ok {
				numbers = append(numbers, n)
			}
		}
		if len(numbers) < 2 || slices.Max(numbers)-slices.Min(numbers) > 1000 {
			return
		}
		var all []any
		for n := slices.Min(numbers); n <= slices.Max(numbers); n++ {
			all = append(all, n)
		}
		of["ports"] = all
	})
}

// exactPaths changes the values of exact paths.
func exactPaths(change func(string) string) mistaken {
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(key string, of object) {
			if path, ok := of["value"].(string); ok && key == "path" && of["type"] == "Exact" && len(path) > 1 {
				of["value"] = change(path)
			}
		})
	}}
}

// lostIdentities leaves identities that begin in some way out where others stand beside them.
func lostIdentities(begins string) mistaken {
	return mistaken{reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			items, _ := of["identities"].([]any)
			rest := slices.DeleteFunc(slices.Clone(items), func(item any) bool { return strings.HasPrefix(fmt.Sprint(item), begins) })
			if len(rest) > 0 {
				of["identities"] = rest
			}
		})
	}}
}

// mistakesBeside are those about two parts that stand beside each other, by the dialect.
var mistakesBeside = map[string]map[string]mistaken{
	"istio": {
		"a token that is excluded, beside a name":             lostBeside("notRequestPrincipals", "principals"),
		"a token that is excluded, beside names that are too": lostBeside("notRequestPrincipals", "notPrincipals"),
		"a name beside a token that is excluded":              lostBeside("principals", "notRequestPrincipals"),
		"names that are excluded, beside a token":             lostBeside("notPrincipals", "requestPrincipals"),
		"a token beside names that are excluded":              lostBeside("requestPrincipals", "notPrincipals"),
		"all addresses of a kind":                             withoutWholeBlocks("ipBlocks", "remoteIpBlocks"),
		"all addresses of a kind are excluded":                withoutWholeBlocks("notIpBlocks"),
		"all remote addresses of a kind are excluded":         withoutWholeBlocks("notRemoteIpBlocks"),
		"a condition on all addresses of a kind":              withoutWholeBlocks("values"),
		"a condition without all addresses of a kind":         withoutWholeBlocks("notValues"),
	},
	"cilium": {
		"the first match of a header":   oneOfName("headerMatches", false),
		"the last match of a header":    oneOfName("headerMatches", true),
		"the first line of a header":    oneOfName("headers", false),
		"the last line of a header":     oneOfName("headers", true),
		"a match beside a line":         lostBeside("headerMatches", "headers"),
		"exceptions of another block":   {reads: sharedExceptions},
		"a plus of a path":              literal("+", "path"),
		"a plus of a host":              literal("+", "host"),
		"a dot of a method":             literal(".", "method"),
		"a question mark of a host":     literal("?", "host"),
		"a number of times in a host":   literal("{", "host"),
		"a path beside a host":          lostBeside("path", "host"),
		"a host beside a path":          lostBeside("host", "path"),
		"a host beside a header's line": lostBeside("host", "headers"),
	},
	"gateway": {
		"the ports between two":          {reads: portsBetween},
		"the last value of NotIn":        lastOf("values"),
		"an expression beside a label":   lostBeside("matchExpressions", "matchLabels"),
		"a label beside an expression":   lostBeside("matchLabels", "matchExpressions"),
		"sources beside ports":           lostBeside("sources", "networkAttributes"),
		"an account beside an ID":        {reads: firstKindOfSource},
		"a namespace of every account":   {reads: ownNamespaceOfStar},
		"expressions with several parts": lastOf("matchExpressions"),
	},
	"linkerd": {
		"an expression beside a label":    lostBeside("matchExpressions", "matchLabels"),
		"a label beside an expression":    lostBeside("matchLabels", "matchExpressions"),
		"a slash at the end of a path":    exactPaths(func(path string) string { return strings.TrimSuffix(path, "/") }),
		"a slash behind a path":           exactPaths(func(path string) string { return strings.TrimSuffix(path, "/") + "/" }),
		"a path in small letters":         exactPaths(strings.ToLower),
		"headers beside a method":         lostBeside("headers", "method"),
		"parameters beside a path":        lostBeside("queryParams", "path"),
		"the last one of several headers": lastOf("headers"),
		"a wildcard beside a name":        lostIdentities("*"),
		"a SPIFFE ID beside a name":       lostIdentities("spiffe:"),
	},
	"kuma": {
		"a caller beside a path":                lostBeside("spiffeID", "path"),
		"a path beside a caller":                lostBeside("path", "spiffeID"),
		"a caller in the spelling of the text":  lostBeside("spiffeId", "path"),
		"a path in the spelling of the text":    lostBeside("path", "spiffeId"),
		"a method beside a path":                lostBeside("method", "path"),
		"a section beside labels":               lostBeside("sectionName", "labels"),
		"labels beside a section":               lostBeside("labels", "sectionName"),
		"a slash at the end of an exact path":   exactPaths(func(path string) string { return strings.TrimSuffix(path, "/") + "/" }),
		"an exact path in small letters":        exactPaths(strings.ToLower),
		"denies beside what is allowed":         lostBeside("deny", "allow"),
		"the last condition of several":         lastOf("conditions"),
		"a shadow beside what is denied at all": lostBeside("allowWithShadowDeny", "deny"),
	},
}

// firstKindOfSource reads the sources that are of the kind of the first one.
func firstKindOfSource(p object) {
	each("", p["spec"], func(_ string, of object) {
		sources, _ := of["sources"].([]any)
		if len(sources) == 0 {
			return
		}
		kindOf := func(source any) any { of, _ := source.(object); return of["type"] }
		of["sources"] = slices.DeleteFunc(slices.Clone(sources), func(source any) bool { return kindOf(source) != kindOf(sources[0]) })
	})
}

// ownNamespaceOfStar takes every account of a namespace for those of the policy's own.
func ownNamespaceOfStar(p object) {
	each("", p["spec"], func(key string, of object) {
		if key == "serviceAccount" && of["name"] == "*" {
			delete(of, "namespace")
		}
	})
}
