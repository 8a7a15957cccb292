package matrix

import (
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/feature"
)

// nearlyLabeled finds a label that a selector asks for, where the workload has another key that becomes the same one.
func nearlyLabeled(same func(key string) string) is {
	return selectsBy(func(q question, key, value string) bool {
		for own, has := range ownWorkload(q).Labels {
			if own != key && has == value && same(own) == same(key) {
				return true
			}
		}
		return false
	})
}

// selectsBy finds a label that a selector asks for.
func selectsBy(holds func(q question, key, value string) bool) is {
	return inSpecs(func(q question, _ string, v any) bool {
		of, _ := v.(map[string]any)
		labels, _ := of["matchLabels"].(map[string]any)
		for key, value := range labels {
			if text, ok := value.(string); ok && holds(q, key, text) {
				return true
			}
		}
		return false
	})
}

// behindOthers finds a list whose last item is none of the many in front of it.
func behindOthers(key string, many int) is {
	return inSpecs(func(_ question, at string, v any) bool {
		items, _ := v.([]any)
		return at == key && len(items) > many && !slices.ContainsFunc(items[:len(items)-1], func(item any) bool { return reflect.DeepEqual(item, items[len(items)-1]) })
	})
}

// rareForms are forms of values that few policies have, lists that are longer than most, and fields that seldom stand together.
// A compiler that is open for one of them is right for all that users usually write.
var rareForms = map[feature.Profile]map[string]is{
	"": {
		"peers of three trust domains": func(q question) bool {
			domains := map[string]bool{}
			for _, p := range q.Peers {
				domains[strings.Split(p.Identity, "/")[2]] = true
			}
			return len(domains) > 2
		},
		"what counts behind 64 policies":             lastSaysMore(64),
		"a pod of a StatefulSet":                     func(q question) bool { return numbered.MatchString(ownWorkload(q).Name) },
		"a policy that a controller does not accept": has(`"status":"False"`),
		"an annotation without a value":              has(`"annotations":\{[^}]*":""`),
		"a policy from before 2020":                  has(`"creationTimestamp":"201[6-9]`),
	},
	feature.GEP3779: {
		"a capital letter in a SPIFFE ID":                                      text("spiffe", "/.*[A-Z]"),
		"two dashes in a SPIFFE ID":                                            text("spiffe", "--"),
		"a digit in front of an account":                                       text("spiffe", "/[0-9]"),
		"an account with a dot":                                                text("name", `^[^:/]+\.[^/]+$`),
		"a namespace of digits":                                                text("namespace", "^[0-9]+$"),
		"a label that looks like a number":                                     text("", oddLabel),
		"an underscore in a label":                                             text("", "^[A-Z]+_[a-z]+[.][A-Z]$"),
		"a label of digits":                                                    text("", "^[0-9]+$"),
		"a key of a label in other letters":                                    nearlyLabeled(strings.ToLower),
		"a key of a label without its prefix":                                  nearlyLabeled(func(key string) string { return key[strings.LastIndex(key, "/")+1:] }),
		"a key of a label with other signs":                                    nearlyLabeled(strings.NewReplacer("/", "_", ".", "_", "-", "_").Replace),
		"an empty label that is asked for, where the workload has another one": selectsBy(func(q question, key, value string) bool { return value == "" && ownWorkload(q).Labels[key] != "" }),
		"an empty label that is asked for, where the workload has none": selectsBy(func(q question, key, value string) bool {
			_, has := ownWorkload(q).Labels[key]
			return value == "" && !has
		}),
		"an expression of an empty value and another one": inSpecs(func(_ question, key string, v any) bool {
			values, _ := v.([]any)
			return key == "values" && len(values) > 1 && slices.Contains(values, any(""))
		}),
		"a namespace of the cluster itself": func(q question) bool { return ownWorkload(q).Namespace == "kube-system" },
		"an expression of 17 values":        long("values", 17),
		"a selector of 9 expressions":       long("matchExpressions", 9),
		"an expression of 101 values":       long("values", 101),
		"41 sources":                        long("sources", 41),
		"41 rules":                          long("rules", 41),
	},
	feature.KumaMTP: {
		"a method with a dash":                   text("method", "-"),
		"a method with a digit":                  text("method", "[0-9]"),
		"a method with an underscore":            text("method", "_"),
		"an escape in a path":                    text("value", "^/.*%"),
		"an underscore in a path":                text("value", "^/.*_"),
		"an at sign in a path":                   text("value", "^/.*@"),
		"a server name that begins with a digit": text("value", "^[0-9][a-z.]*$"),
		"two dashes in a SPIFFE ID":              text("value", "^spiffe:.*--"),
		"the method *":                           text("method", `^\*$`),
		"a bar in a method":                      text("method", `\|`),
		"a dot in a method":                      text("method", `\.`),
		"a star in a path":                       text("value", `^/.*\*`),
		"a brace in a path":                      text("value", "^/.*{"),
		"a bar in a path":                        text("value", `^/.*\|`),
		"a bracket in a path":                    text("value", `^/.*\[`),
		"a quotation mark in a path":             text("value", "^/.*'"),
	},
	feature.IstioAuthz: {
		"a method in small letters":              text("methods", "^[a-z]+$"),
		"a list without a value":                 withoutValue,
		"a host with a port":                     text("hosts", ":(80|443)$"),
		"a host that ends in a dot":              text("hosts", `[.]$`),
		"an address in capital letters":          text("ipBlocks", ":.*[A-F]"),
		"a block with an address within it":      unmasked("ipBlocks"),
		"a method with a dash":                   text("methods", "-"),
		"a method with a digit that is excluded": text("notMethods", "[0-9]"),
		"an escape in a path":                    text("paths", "%"),
		"an escape in an excluded path":          text("notPaths", "%"),
		"a colon in a path":                      text("paths", ":"),
		"an underscore in a path":                text("paths", "_"),
		"a host with an underscore":              text("hosts", "_"),
		"a host that is an address":              text("hosts", "^[0-9.]+$"),
		"an excluded host with a port":           text("notHosts", ":"),
		"an excluded block of IPv6":              text("notIpBlocks", ":"),
		"a remote block of IPv6":                 text("remoteIpBlocks", ":"),
		"a block of everything":                  text("ipBlocks", "/0$"),
		"a principal in capital letters":         text("principals", "[A-Z]"),
		"an excluded principal in capitals":      text("notPrincipals", "[A-Z]"),
		"a subject with an at sign":              text("requestPrincipals", "@"),
		"a value with a blank":                   text("values", " "),
		"a value with an at sign":                text("values", "@"),
		"an excluded value with an at sign":      text("notValues", "@"),
		"17 blocks":                              long("ipBlocks", 17),
		"17 hosts":                               long("hosts", 17),
		"17 methods":                             long("methods", 17),
		"17 paths":                               long("paths", 17),
		"41 paths":                               long("paths", 41),
		"101 principals":                         long("principals", 101),
		"41 items of from":                       long("from", 41),
		"41 rules":                               long("rules", 41),
		"17 principals that are excluded":        long("notPrincipals", 17),
		"9 conditions of a rule":                 long("when", 9),
		"17 paths that are excluded":             long("notPaths", 17),
		"17 hosts that are excluded":             long("notHosts", 17),
		"17 methods that are excluded":           long("notMethods", 17),
		"17 ports that are excluded":             long("notPorts", 17),
		"17 namespaces that are excluded":        long("notNamespaces", 17),
		"17 blocks that are excluded":            long("notIpBlocks", 17),
		"17 remote blocks that are excluded":     long("notRemoteIpBlocks", 17),
		"17 values that are excluded":            long("notValues", 17),
		"principals beside excluded blocks":      hasBoth("source", "principals", "notIpBlocks"),
		"namespaces beside excluded principals":  hasBoth("source", "namespaces", "notPrincipals"),
		"excluded trust domains beside blocks":   hasBoth("source", "notTrustDomains", "ipBlocks"),
		"excluded subjects beside principals":    hasBoth("source", "notRequestPrincipals", "principals"),
		"accounts beside excluded blocks":        hasBoth("source", "serviceAccounts", "notIpBlocks"),
		"audiences beside a header":              hasBoth("jwtRules", "audiences", "fromHeaders"),
		"a block of 9 to 15 bits":                masked("ipBlocks", ".", 9, 15),
		"a block of 17 to 23 bits":               masked("ipBlocks", ".", 17, 23),
		"a block of 25 to 30 bits":               masked("ipBlocks", ".", 25, 30),
		"a block of IPv6 of 33 to 63 bits":       masked("remoteIpBlocks", ":", 33, 63),
		"a block of IPv6 of 65 to 127 bits":      masked("remoteIpBlocks", ":", 65, 127),
		"a block of 9 to 15 bits in when":        masked("values", ".", 9, 15),
		"a block of 17 to 23 bits in when":       masked("values", ".", 17, 23),
		"a block of 25 to 30 bits in when":       masked("values", ".", 25, 30),
		"a block of IPv6 in when":                masked("values", ":", 33, 127),
		"an excluded block of 9 to 30 bits":      masked("notValues", ".", 9, 30),
		"a digit in the name of a header":        text("key", `^request\.headers\[.*[0-9]`),
		"a digit in the name of a claim":         text("key", `^request\.auth\.claims\[.*[0-9]`),
		"a capital letter in a claim":            text("key", `^request\.auth\.claims\[.*[A-Z]`),
	},
	feature.CiliumIngress: {
		"a list without a value":           withoutValue,
		"an address in capital letters":    text("fromCIDR", ":.*[A-F]"),
		"a block with an address in it":    unmasked("fromCIDR"),
		"a label that looks like a number": text("", oddLabel),
		"a method with a dash":             text("method", "-"),
		"an escape in a path":              text("path", "%"),
		"an underscore in a host":          text("host", "_"),
		"a header with a dot":              text("name", `^[^/]*\.`),
		"a header's value with a blank":    text("value", " "),
		"17 blocks":                        long("fromCIDR", 17),
		"17 HTTP rules":                    long("http", 17),
		"41 HTTP rules":                    long("http", 41),
		"41 rules":                         long("ingress", 41),
		"101 blocks":                       long("fromCIDR", 101),
		"9 headers of a rule":              long("headers", 9),
		"9 matches of headers":             long("headerMatches", 9),
		"17 exceptions":                    long("except", 17),
		"41 exceptions":                    long("except", 41),
		"17 ports that are denied":         longDenied("ports", 17),
		"a block of 9 to 15 bits":          masked("fromCIDR", ".", 9, 15),
		"a block of 17 to 23 bits":         masked("fromCIDR", ".", 17, 23),
		"a block of 25 to 30 bits":         masked("fromCIDR", ".", 25, 30),
		"a block of IPv6 of 33 to 63":      masked("fromCIDR", ":", 33, 63),
		"a block of IPv6 of 65 to 127":     masked("fromCIDR", ":", 65, 127),
		"a set of 9 to 15 bits":            masked("cidr", ".", 9, 15),
		"a set of 17 to 23 bits":           masked("cidr", ".", 17, 23),
		"a set of 25 to 30 bits":           masked("cidr", ".", 25, 30),
		"a set of IPv6 of 33 to 127":       masked("cidr", ":", 33, 127),
	},
	feature.LinkerdAuthz: {
		"a reference behind 16 others":      behindOthers("identityRefs", 16),
		"a block behind 16 others":          behindOthers("networks", 16),
		"a list without a value":            withoutValue,
		"an address in capital letters":     text("cidr", ":.*[A-F]"),
		"a label that looks like a number":  text("", oddLabel),
		"an underscore in a path":           text("value", "^/.*_"),
		"an at sign in a value":             text("value", "^[^/]*@"),
		"a parameter with an underscore":    text("name", "_"),
		"the method CONNECT":                text("method", "CONNECT"),
		"a gRPC service with an underscore": text("service", "_"),
		"a network of everything in IPv6":   text("cidr", "^::/0$"),
		"17 identities":                     long("identities", 17),
		"17 matches":                        long("matches", 17),
		"41 matches":                        long("matches", 41),
		"101 identities":                    long("identities", 101),
		"9 headers of a match":              long("headers", 9),
		"9 parameters of a match":           long("queryParams", 9),
		"17 exceptions":                     long("except", 17),
		"41 exceptions":                     long("except", 41),
		"identities beside accounts":        hasBoth("meshTLS", "identities", "serviceAccounts"),
		"unauthenticated that is false":     isFalse("unauthenticated"),
		"unauthenticatedTLS that is false":  isFalse("unauthenticatedTLS"),
		"path, method and parameter":        hasAll("matches", "path", "method", "queryParams"),
		"path, method and header":           hasAll("matches", "path", "method", "headers"),
		"path, header and parameter":        hasAll("matches", "path", "headers", "queryParams"),
		"four fields of a match":            hasAll("matches", "path", "method", "headers", "queryParams"),
		"three parameters":                  long("queryParams", 3),
		"four headers":                      long("headers", 4),
		"three exceptions":                  long("except", 3),
		"an exception of IPv6":              text("except", ":"),
		"three parents":                     long("parentRefs", 3),
		"a brace in a path":                 text("value", "^/.*{"),
		"a star in a path":                  text("value", `^/.*\*`),
		"a network of 9 to 15 bits":         masked("cidr", ".", 9, 15),
		"a network of 17 to 23 bits":        masked("cidr", ".", 17, 23),
		"a network of 25 to 30 bits":        masked("cidr", ".", 25, 30),
		"a network of IPv6 of 33 to 63":     masked("cidr", ":", 33, 63),
		"a network of IPv6 of 65 to 127":    masked("cidr", ":", 65, 127),
	},
}

// oddLabel finds values of labels that readers take for numbers, for truths, or for nothing.
const oddLabel = `^(1[.]10|1[.]0|on|off|yes|no|null|007|010|1e3|0x10|1_000)$`

// withoutValue finds a field that is there and has no value.
var withoutValue = inSpecs(func(_ question, key string, v any) bool { return key != "" && v == nil })

// unmasked finds a block of IPv4 that is written with an address within it.
func unmasked(field string) is {
	return inSpecs(func(_ question, key string, v any) bool {
		s, _ := v.(string)
		block, err := netip.ParsePrefix(s)
		return err == nil && key == field && block.Addr().Is4() && block.Masked() != block
	})
}

// lastSaysMore finds a policy behind so many others, which says what none of them says.
func lastSaysMore(many int) is {
	return func(q question) bool {
		if len(q.Policies) <= many {
			return false
		}
		last := q.Policies[len(q.Policies)-1]
		return !slices.ContainsFunc(q.Policies[:many], func(p map[string]any) bool {
			return metadata(p)["namespace"] == metadata(last)["namespace"] && metadata(p)["mesh"] == metadata(last)["mesh"] && reflect.DeepEqual(p["spec"], last["spec"])
		})
	}
}

// numbered is the name of a pod of a StatefulSet.
var numbered = regexp.MustCompile(`-[0-9]+$`)

// text finds a text that stands under a key, or in a list there. Without a key it may stand anywhere.
func text(field, pattern string) is {
	p := regexp.MustCompile(pattern)
	return inSpecs(func(_ question, key string, v any) bool {
		s, ok := v.(string)
		return ok && (field == "" || key == field) && p.MatchString(s)
	})
}

// masked finds a block of one family, which has such a sign, with so many bits.
func masked(field, sign string, least, most int) is {
	return inSpecs(func(_ question, key string, v any) bool {
		s, _ := v.(string)
		block, err := netip.ParsePrefix(s)
		return err == nil && key == field && strings.Contains(s, sign) && block.Bits() >= least && block.Bits() <= most
	})
}

// isFalse finds a field that states what is so where it is absent.
func isFalse(field string) is {
	return inSpecs(func(_ question, key string, v any) bool { return key == field && v == false })
}

// hasAll finds an object that has all of the fields.
func hasAll(of string, all ...string) is {
	return inSpecs(func(_ question, key string, v any) bool {
		fields, ok := v.(map[string]any)
		return ok && key == of && !slices.ContainsFunc(all, func(field string) bool { return fields[field] == nil })
	})
}

// long finds a list of so many items at least.
func long(field string, least int) is {
	return inSpecs(func(_ question, key string, v any) bool { return isLong(key, v, field, least) })
}

// longDenied is long for a list in a rule of Cilium that denies.
func longDenied(field string, least int) is {
	var within func(key string, v any) bool
	within = func(key string, v any) bool {
		switch v := v.(type) {
		case []any:
			return isLong(key, v, field, least) || slices.ContainsFunc(v, func(item any) bool { return within("", item) })
		case map[string]any:
			for key, item := range v {
				if within(key, item) {
					return true
				}
			}
		}
		return false
	}
	return inSpecs(func(_ question, key string, v any) bool { return key == "ingressDeny" && within("", v) })
}

func isLong(key string, v any, field string, least int) bool {
	items, ok := v.([]any)
	return ok && key == field && len(items) >= least
}
