package examination_test

import (
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// mistakesOfAuthors are told by the cases of each dialect. Most of them are named by what the compiler does not read.
var mistakesOfAuthors = map[string]map[string]mistaken{
	"istio": mistakesOfIstio, "kuma": mistakesOfKuma, "gateway": mistakesOfGateway, "linkerd": mistakesOfLinkerd, "cilium": mistakesOfCilium,
}

// mistakesOfIstio are those of compilers of Istio's policies.
var mistakesOfIstio = map[string]mistaken{
	"the first policy alone":                      {knows: firstPolicy},
	"the last policy alone":                       {knows: lastPolicy},
	"what is allowed is not denied":               {orders: allowsOutweigh},
	"an allow does not close":                     {orders: denialsAlone},
	"a star in the middle of a value is any text": compares(policy.Exact, inMiddle),
	"the mesh config is not read":                 {knows: withoutOptions("istio")},
	"a path ends with a star behind its slash":    texts(func(s string) string { return strings.ReplaceAll(s, "/*", "*") }, "paths", "notPaths"),
	"the end of a value is looked for anywhere":   comparesAs(policy.Suffix, policy.Contains),
	"a prefix is looked for anywhere":             comparesAs(policy.Prefix, policy.Contains),
	"one source":                                  firstOf("from"),
	"the last source":                             lastOf("from"),
	"one operation":                               firstOf("to"),
	"one condition":                               firstOf("when"),
	"one value of a condition":                    firstOf("values"),
	"one rule":                                    firstOf("rules"),
	"the last rule":                               lastOf("rules"),
	"one principal":                               firstOf("principals"),
	"one path":                                    firstOf("paths"),
	"notPaths":                                    drops("notPaths"),
	"notPrincipals":                               drops("notPrincipals"),
	"notMethods":                                  drops("notMethods"),
	"notPorts":                                    sets("notPorts", []any{"1"}),
	"notHosts":                                    drops("notHosts"),
	"notNamespaces":                               drops("notNamespaces"),
	"notIpBlocks":                                 drops("notIpBlocks"),
	"notRemoteIpBlocks":                           drops("notRemoteIpBlocks"),
	"notRequestPrincipals":                        sets("notRequestPrincipals", []any{"nobody/none"}),
	"notValues":                                   drops("notValues"),
	"notServiceAccounts":                          sets("notServiceAccounts", []any{"nobody/none"}),
	"a source or an operation":                    split("rules", "from", "to"),
	"a source or a condition":                     split("rules", "from", "when"),
	"an operation or a condition":                 split("rules", "to", "when"),
	"ports of an operation":                       drops("ports"),
	"methods in lower case":                       texts(strings.ToLower, "methods", "notMethods"),
	"a method in any case":                        inAnyCase(attribute.Method),
	"a path in any case":                          inAnyCase(attribute.Path),
	"a name in any case":                          inAnyCase(attribute.URISAN),
	"a host with its case":                        {compares: func(is policy.Is) policy.Condition { is.Match.AnyCase = false; return is }},
	"a block without its mask":                    texts(withoutMask, "ipBlocks", "remoteIpBlocks", "notIpBlocks", "notRemoteIpBlocks"),
	"a block with the mask of the host":           compares(policy.CIDR, hostBits),
	"IPv4 in IPv6":                                compares(policy.CIDR, mapped),
	"remote blocks are of the connection":         renames("remoteIpBlocks", "ipBlocks"),
	"blocks are of the remote address":            renames("ipBlocks", "remoteIpBlocks"),
	"the port of a Service":                       {compares: onPort},
	"an expression matches a part":                compares(policy.Regex, func(is policy.Is) policy.Condition { is.Match.Value = ".*(?:" + is.Match.Value + ").*"; return is }),
	"present is the empty text":                   comparesAs(policy.Present, policy.Exact),
	"present is anything":                         compares(policy.Present, func(policy.Is) policy.Condition { return policy.Always }),
	"a template is a prefix": compares(policy.Template, func(is policy.Is) policy.Condition {
		p, _, _ := strings.Cut(is.Match.Value, "{")
		return is.Attribute.Prefix(p)
	}),
	"an empty list of rules lets all in": {reads: func(p object) {
		if spec, ok := p["spec"].(object); ok && p["kind"] == "AuthorizationPolicy" {
			if items, _ := spec["rules"].([]any); len(items) == 0 {
				spec["rules"] = []any{object{}}
			}
		}
	}},
	"an empty rule is none": {reads: func(p object) {
		if spec, ok := p["spec"].(object); ok {
			if items, _ := spec["rules"].([]any); len(items) == 1 {
				if rule, _ := items[0].(object); len(rule) == 0 {
					delete(spec, "rules")
				}
			}
		}
	}},
	"no policy closes":                    {closes: true},
	"a deny is an allow":                  sets("action", "ALLOW"),
	"an audit is a deny":                  texts(func(s string) string { return strings.ReplaceAll(s, "AUDIT", "DENY") }, "action"),
	"a dry run is enforced":               deletes("annotations"),
	"one label of a selector":             firstKeyOf("matchLabels"),
	"no selector":                         drops("selector"),
	"requestPrincipals":                   drops("requestPrincipals"),
	"a namespace of a policy is not read": deletes("namespace"),
	"names of one trust domain": {compares: func(is policy.Is) policy.Condition {
		is.Match.Value = strings.Replace(is.Match.Value, "spiffe://trust-domain.mesh/", "spiffe://cluster.local/", 1)
		return is
	}},
	"a service account by its name alone": texts(func(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }, "serviceAccounts", "notServiceAccounts"),
	"namespaces by their beginning":       texts(func(s string) string { return s + "*" }, "namespaces"),
	"an exact value is a prefix":          comparesAs(policy.Exact, policy.Prefix),
}

// mistakesOfKuma are those of compilers of Kuma's policies.
var mistakesOfKuma = map[string]mistaken{
	"the first policy alone":           {knows: firstPolicy},
	"the last policy alone":            {knows: lastPolicy},
	"an allow goes in front of a deny": {orders: allowsFirst},
	"escaped characters of a value":    {compares: unescaped},
	"denies are not read":              drops("deny"),
	"one deny":                         firstOf("deny"),
	"one allow":                        firstOf("allow"),
	"the last allow":                   lastOf("allow"),
	"a shadow denies":                  renames("allowWithShadowDeny", "deny"),
	"a shadow is not read":             drops("allowWithShadowDeny"),
	"an allow in place of the shadow":  renames("allowWithShadowDeny", "allow"),
	"a shadow of from denies":          texts(func(s string) string { return strings.Replace(s, "AllowWithShadowDeny", "Deny", 1) }, "action"),
	"a shadow of from allows":          texts(func(s string) string { return strings.Replace(s, "AllowWithShadowDeny", "Allow", 1) }, "action"),
	"paths by bytes":                   compares(policy.Segments, func(is policy.Is) policy.Condition { return is.Attribute.Prefix(is.Match.Segment()) }),
	"paths with a slash behind":        compares(policy.Segments, func(is policy.Is) policy.Condition { return is.Attribute.Prefix(is.Match.Segment() + "/") }),
	"paths are not read":               drops("path"),
	"methods are not read":             drops("method"),
	"server names are not read":        drops("sni"),
	"names by their beginning":         comparesAs(policy.Exact, policy.Prefix),
	"prefixes are whole names":         comparesAs(policy.Prefix, policy.Exact),
	"names in any case":                inAnyCase(attribute.Identity, attribute.URISAN),
	"the section is not read":          drops("sectionName"),
	"the name of a Dataplane":          drops("name"),
	"one label of a target":            firstKeyOf("labels"),
	"one tag of a target":              firstKeyOf("tags"),
	"no target":                        drops("targetRef"),
	"the mesh of a policy":             deletes("mesh"),
	"labels of a policy":               deletes("labels"),
	"the namespace of a policy":        deletes("namespace"),
	"one item of from":                 firstOf("from"),
	"the last item of from":            lastOf("from"),
	"an action of from is not read":    sets("action", "Allow"),
	"the zone of an inbound":           {takes: func(in *policy.Inbound) { in.Workload.Zone, in.Workload.Origin = "", "" }},
	"tags of an inbound":               {takes: func(in *policy.Inbound) { in.Tags = nil }},
	"another port":                     {takes: otherInbound},
	"one rule":                         firstOf("rules"),
}
