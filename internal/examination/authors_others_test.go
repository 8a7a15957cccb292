package examination_test

import (
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// mistakesOfGateway are those of compilers of Gateway API's policies.
var mistakesOfGateway = map[string]mistaken{
	"the first policy alone":             {knows: firstPolicy},
	"the last policy alone":              {knows: lastPolicy},
	"an empty list of sources is absent": emptyIsAbsent("sources"),
	"absent sources let nobody in":       absentIsEmpty("rules", "sources"),
	"one source":                         firstOf("sources"),
	"the last source":                    lastOf("sources"),
	"one rule":                           firstOf("rules"),
	"one port":                           firstOf("ports"),
	"ports are not read":                 drops("networkAttributes"),
	"a source or a port":                 split("rules", "sources", "networkAttributes"),
	"the port of a Service":              {takes: otherInbound},
	"expressions of a selector":          drops("matchExpressions"),
	"labels of a selector":               drops("matchLabels"),
	"one label of a selector":            firstKeyOf("matchLabels"),
	"one expression of a selector":       firstOf("matchExpressions"),
	"NotIn is In":                        texts(func(s string) string { return strings.Replace(s, "NotIn", "In", 1) }, "operator"),
	"DoesNotExist is Exists":             texts(func(s string) string { return strings.Replace(s, "DoesNotExist", "Exists", 1) }, "operator"),
	"one value of an expression":         firstOf("values"),
	"a service account of the own namespace": {reads: func(p object) {
		each("", p["spec"], func(key string, of object) {
			if key == "serviceAccount" {
				delete(of, "namespace")
			}
		})
	}},
	"a service account of the namespace default": {reads: func(p object) {
		each("", p["spec"], func(key string, of object) {
			if key == "serviceAccount" && of["namespace"] == nil {
				of["namespace"] = "default"
			}
		})
	}},
	"names by their beginning":  comparesAs(policy.Exact, policy.Prefix),
	"names in any case":         inAnyCase(attribute.URISAN, attribute.Identity),
	"the namespace of a policy": {takes: func(in *policy.Inbound) { in.Workload.Namespace = "default" }},
	"no policy closes":          {closes: true},
}

// mistakesOfLinkerd are those of compilers of Linkerd's policies.
var mistakesOfLinkerd = map[string]mistaken{
	"the first policy alone": {knows: firstPolicy},
	"the last policy alone":  {knows: lastPolicy},
	"options are not read":   {knows: withoutOptions("linkerd")},
	"a Server selects every pod": {reads: func(p object) {
		each("", p["spec"], func(key string, of object) {
			if key == "podSelector" {
				delete(of, "matchLabels")
			}
		})
	}},
	"expressions of a selector":         drops("matchExpressions"),
	"the access policy of a Server":     drops("accessPolicy"),
	"the protocol of a Server":          drops("proxyProtocol"),
	"one of several authentications":    firstOf("requiredAuthenticationRefs"),
	"no authentication":                 sets("requiredAuthenticationRefs", []any{}),
	"one identity":                      firstOf("identities"),
	"one reference":                     firstOf("identityRefs"),
	"one network":                       firstOf("networks"),
	"exceptions of networks":            drops("except"),
	"a block with the mask of the host": compares(policy.CIDR, hostBits),
	"IPv4 in IPv6":                      compares(policy.CIDR, mapped),
	"networks are not read": {reads: func(p object) {
		if spec, ok := p["spec"].(object); ok && p["kind"] == "NetworkAuthentication" {
			spec["networks"] = []any{object{"cidr": "0.0.0.0/0"}, object{"cidr": "::/0"}}
		}
	}},
	"one rule of a route":       firstOf("rules"),
	"one match of a route":      firstOf("matches"),
	"one host of a route":       firstOf("hostnames"),
	"hosts of a route":          drops("hostnames"),
	"headers of a route":        drops("headers"),
	"one header of a route":     firstOf("headers"),
	"parameters of a route":     drops("queryParams"),
	"the method of a route":     drops("method"),
	"the path of a route":       drops("path"),
	"an exact path is a prefix": texts(func(s string) string { return strings.Replace(s, "Exact", "PathPrefix", 1) }, "type"),
	"a prefix is an exact path": texts(func(s string) string { return strings.Replace(s, "PathPrefix", "Exact", 1) }, "type"),
	"one parent of a route":     firstOf("parentRefs"),
	"the namespace of a reference": {reads: func(p object) {
		each("", p["spec"], func(key string, of object) {
			if key != "" {
				delete(of, "namespace")
			}
		})
	}},
	"unauthenticated TLS": {reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			if of["unauthenticatedTLS"] == true {
				delete(of, "unauthenticatedTLS")
				of["identities"] = []any{"*"}
			}
		})
	}},
	"unauthenticated callers": {reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			if of["unauthenticated"] == true {
				delete(of, "unauthenticated")
				of["meshTLS"] = object{"unauthenticatedTLS": true}
			}
		})
	}},
	"an audit denies":                        texts(func(s string) string { return strings.Replace(s, "audit", "deny", 1) }, "accessPolicy"),
	"a suffix of identities is a whole name": comparesAs(policy.Regex, policy.Exact),
	"an expression matches a part":           compares(policy.Regex, func(is policy.Is) policy.Condition { is.Match.Value = ".*(?:" + is.Match.Value + ").*"; return is }),
	"names by their beginning":               comparesAs(policy.Exact, policy.Prefix),
	"another port":                           {takes: otherInbound},
	"the namespace of an inbound":            {takes: func(in *policy.Inbound) { in.Workload.Namespace = "default" }},
}

// mistakesOfCilium are those of compilers of Cilium's policies.
var mistakesOfCilium = map[string]mistaken{
	"the first policy alone":            {knows: firstPolicy},
	"the last policy alone":             {knows: lastPolicy},
	"what is allowed is not denied":     {orders: allowsOutweigh},
	"the namespace of a selector":       withoutLabel("pod.namespace"),
	"the name of a cluster":             withoutLabel("policy.cluster"),
	"the account of a selector":         withoutLabel("serviceaccount"),
	"options are not read":              {knows: withoutOptions("cilium")},
	"an empty list of blocks is absent": emptyIsAbsent("fromCIDR", "fromCIDRSet"),
	"expressions of a selector":         drops("matchExpressions"),
	"one label of a selector":           firstKeyOf("matchLabels"),
	"labels of a selector":              drops("matchLabels"),
	"callers or ports":                  split("ingress", "fromEndpoints", "toPorts"),
	"ports are not read":                drops("toPorts"),
	"callers are not read":              drops("fromEndpoints"),
	"one port":                          firstOf("ports"),
	"one list of ports":                 firstOf("toPorts"),
	"the end of a range":                drops("endPort"),
	"the protocol of a port":            sets("protocol", "ANY"),
	"denies":                            drops("ingressDeny"),
	"one rule":                          firstOf("ingress"),
	"the last rule":                     lastOf("ingress"),
	"one block":                         firstOf("fromCIDR"),
	"exceptions of a block":             drops("except"),
	"a block with the mask of the host": compares(policy.CIDR, hostBits),
	"IPv4 in IPv6":                      compares(policy.CIDR, mapped),
	"rules of HTTP":                     drops("rules"),
	"one rule of HTTP":                  firstOf("http"),
	"headers":                           drops("headers"),
	"matches of headers":                drops("headerMatches"),
	"one header":                        firstOf("headers", "headerMatches"),
	"hosts":                             drops("host"),
	"methods in lower case":             texts(strings.ToLower, "method"),
	"an expression matches a part":      compares(policy.Regex, func(is policy.Is) policy.Condition { is.Match.Value = ".*(?:" + is.Match.Value + ").*"; return is }),
	"an expression matches a beginning": compares(policy.Regex, func(is policy.Is) policy.Condition { is.Match.Value = "(?:" + is.Match.Value + ").*"; return is }),
	"the world is all": {reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			if items, ok := of["fromEntities"].([]any); ok {
				for i := range items {
					if items[i] == "world" {
						items[i] = "all"
					}
				}
			}
		})
	}},
	"the cluster is all": {reads: func(p object) {
		each("", p["spec"], func(_ string, of object) {
			if items, ok := of["fromEntities"].([]any); ok {
				for i := range items {
					if items[i] == "cluster" {
						items[i] = "all"
					}
				}
			}
		})
	}},
	"one entity":                          firstOf("fromEntities"),
	"the default of a policy":             drops("enableDefaultDeny"),
	"an empty list of callers is absent":  emptyIsAbsent("fromEndpoints"),
	"an empty list of entities is absent": emptyIsAbsent("fromEntities"),
	"authentication":                      drops("authentication"),
	"no policy closes":                    {closes: true},
	"the namespace of a policy":           {takes: func(in *policy.Inbound) { in.Workload.Namespace = "default" }},
}
