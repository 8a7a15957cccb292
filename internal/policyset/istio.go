package policyset

import (
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// istioPolicies draws AuthorizationPolicies of Istio, and beside them its other kinds.
func (g *generator) istioPolicies() []resource {
	config := object{}
	if g.OneIn(3) {
		config["trustDomainAliases"] = []string{otherDomain.Name()}
	}
	if g.OneIn(3) {
		config["normalization"] = choice.Pick(g.Chooser, "NONE", "BASE", "DEFAULT", "MERGE_SLASHES", "DECODE_AND_MERGE_SLASHES")
	}
	asks, tokens := g.OneIn(4), g.OneIn(3)
	if asks {
		config["extensionProviders"] = g.istioProviders()
	}
	if len(config) > 0 {
		g.option("istio", config, nil)
	}
	policies := choice.Items(g.Chooser, 1, g.size.upTo(3), func() resource {
		p := resource{APIVersion: "security.istio.io/" + choice.Pick(g.Chooser, "v1", "v1", "v1beta1"), Kind: "AuthorizationPolicy"}
		p.Metadata = object{"name": g.policyName(), "namespace": choice.Pick(g.Chooser, append([]string{"istio-system"}, namespaces...)...)}
		p.Spec = object{}
		action := choice.Pick(g.Chooser, "", "ALLOW", "ALLOW", "DENY", "DENY", "AUDIT")
		if action != "" {
			p.Spec["action"] = action
		}
		if action != "AUDIT" && g.OneIn(5) {
			p.Metadata["annotations"] = object{"istio.io/dry-run": choice.Pick(g.Chooser, "true", "true", "false")}
		}
		if g.OneIn(3) {
			p.Spec["selector"] = object{"matchLabels": object{"app": choice.Pick(g.Chooser, names...)}}
		}
		least := 0
		if action == "DENY" {
			least = 1
		}
		// An absent and an empty list both let no caller in.
		if least > 0 || !g.OneIn(8) {
			p.Spec["rules"] = choice.Items(g.Chooser, least, g.size.upTo(3), g.istioRule)
		}
		return p
	})
	if asks {
		policies = append(policies, choice.Items(g.Chooser, 1, 2, func() resource { return g.istioCustom(tokens) })...)
	}
	if tokens {
		policies = append(policies, g.requestAuthentication())
	}
	if g.OneIn(3) {
		policies = append(policies, g.peerAuthentications()...)
	}
	return policies
}

// istioRule draws a rule. Without fields it matches every request.
func (g *generator) istioRule() object {
	rule := object{}
	if !g.OneIn(4) {
		rule["from"] = choice.Items(g.Chooser, 1, 2, func() object { return object{"source": g.istioSource()} })
	}
	if g.OneIn(2) {
		rule["to"] = choice.Items(g.Chooser, 1, 2, func() object { return object{"operation": g.istioOperation()} })
	}
	if g.OneIn(3) {
		rule["when"] = choice.Items(g.Chooser, 1, 2, g.istioCondition)
	}
	return rule
}

// blocks are addresses of callers and of workloads, whole and in blocks. Some are next to each other, and some lie
// within others.
var blocks = []string{"10.64.0.1", "10.64.0.0/24", "10.64.0.0/31", "10.64.0.2/31", "192.168.0.0/16", "192.168.7.7", "0.0.0.0/0"}

// callerBlock returns one of the blocks. A set that a compiler may not know has others too.
func (g *generator) callerBlock() string {
	if g.size != usualSize && g.OneIn(3) {
		return g.block().String()
	}
	return choice.Pick(g.Chooser, blocks...)
}

// conditions are the keys of conditions, with values that are alike.
var conditions = []struct {
	key    string
	values []string
}{
	{"source.namespace", []string{"a", "ab", "x", "a*", "*b"}},
	{"source.trustDomain", []string{"*", ownDomain.Name(), "*.mesh", "trust*"}},
	{"source.serviceAccount", []string{"a", "ab", "x", "a/x"}},
	{"source.principal", []string{"*/sa/x", "trust-domain.mesh/ns/a/sa/x", "trust-domain.mesh/ns/a*"}},
	{"source.ip", blocks},
	{"remote.ip", blocks},
	{"destination.ip", blocks},
	{"destination.port", []string{"8080", "8081", "9090"}},
	{"connection.sni", append([]string{"*", "*.example", "web*"}, serverNames...)},
	{"request.headers[x-role]", []string{"*", "admin", "adm*", "*min", "admin,user"}},
	{"request.headers[X-Role]", []string{"admin", "ADMIN"}},
	{"request.headers[x-b3-flags]", []string{"*", "1", "1*"}},
	{"request.headers[origin]", []string{"*", "https://shop.example", "*.example"}},
	{"request.headers[:path]", []string{"*?debug=1", "/a?*", "/a"}},
	{"request.headers[:authority]", []string{"web.example", "*:8080", "web*"}},
	{"request.auth.principal", []string{"*", "https://login.example/alice", "*/alice", "https://login.example/*"}},
	{"request.auth.claims[groups]", []string{"dev", "dev*", "*ops"}},
	{"request.auth.claims[team][name]", []string{"red", "r*"}},
	{"request.auth.claims[oauth2]", []string{"a", "b*"}},
	{"request.auth.claims[tenantId]", []string{"a", "b*"}},
	{"request.auth.audiences", []string{"shop", "bank", "ba*"}},
	{"request.auth.presenter", []string{"cli", "cl*"}},
}

func (g *generator) istioCondition() object {
	of := conditions[g.Choose(len(conditions))]
	values := func() []string {
		return choice.Items(g.Chooser, 1, 2, func() string {
			if strings.HasSuffix(of.key, ".ip") && g.OneIn(3) {
				return g.block().String()
			}
			return choice.Pick(g.Chooser, of.values...)
		})
	}
	condition := object{"key": of.key, choice.Pick(g.Chooser, "values", "notValues"): values()}
	if g.OneIn(6) {
		condition["values"], condition["notValues"] = values(), values()
	}
	return condition
}

// requestAuthentication takes the tokens of an issuer, some of them for an audience alone.
func (g *generator) requestAuthentication() resource {
	p := resource{APIVersion: "security.istio.io/v1", Kind: "RequestAuthentication", Spec: object{}}
	p.Metadata = object{"name": "tokens", "namespace": choice.Pick(g.Chooser, append([]string{"istio-system", "istio-system"}, namespaces...)...)}
	if g.OneIn(3) {
		p.Spec["selector"] = object{"matchLabels": object{"app": choice.Pick(g.Chooser, names...)}}
	}
	rule := object{"issuer": "https://login.example", "jwksUri": "https://login.example/keys"}
	if g.OneIn(3) {
		rule["audiences"] = []string{"shop"}
	}
	p.Spec["jwtRules"] = []object{rule}
	return p
}

// istioSource draws a source. One in five excludes something beside what it asks for: a compiler may read one field of a source, and leave.
func (g *generator) istioSource() object {
	source := g.istioCallers()
	if !g.OneIn(5) {
		return source
	}
	excluded := map[string]string{
		"notTrustDomains": choice.Pick(g.Chooser, ownDomain.Name(), otherDomain.Name()), "notIpBlocks": choice.Pick(g.Chooser, blocks...),
		"notRemoteIpBlocks": choice.Pick(g.Chooser, blocks...), "notServiceAccounts": choice.Pick(g.Chooser, "x", "a/x", "b/y"),
		"notPrincipals": choice.Pick(g.Chooser, "*/sa/x", "trust-domain.mesh/ns/a/sa/x"), "notNamespaces": choice.Pick(g.Chooser, "a", "ab", "b"),
	}
	for _, field := range choice.Shuffled(g.Chooser, slices.Sorted(maps.Keys(excluded))) {
		if _, has := source[field]; !has && standTogether(source, field) {
			source[field] = []string{excluded[field]}
			break
		}
	}
	return source
}

// standTogether reports whether Istio takes a field beside those of a source: service accounts stand beside no principals and no namespaces.
func standTogether(source object, field string) bool {
	isAccount := func(field string) bool { return strings.HasSuffix(field, "erviceAccounts") }
	isName := func(field string) bool {
		return strings.HasSuffix(field, "rincipals") && !strings.HasSuffix(field, "equestPrincipals") || strings.HasSuffix(field, "amespaces")
	}
	for other := range source {
		if isAccount(field) && isName(other) || isName(field) && isAccount(other) {
			return false
		}
	}
	return true
}

// istioCallers draws what a source asks for.
func (g *generator) istioCallers() object {
	principals := func() []string {
		return choice.Items(g.Chooser, 1, 2, func() string {
			return choice.Pick(g.Chooser, "*", "trust-domain.mesh/ns/a/*", "*/sa/x", "cluster.local/ns/a/sa/x", strings.TrimPrefix(choice.Pick(g.Chooser, identities...), tree.SPIFFEScheme))
		})
	}
	namespaces := func() []string {
		return choice.Items(g.Chooser, 1, 2, func() string { return choice.Pick(g.Chooser, "a", "ab", "b", "a*", "default") })
	}
	switch g.Choose(11) {
	case 5:
		return object{"trustDomains": choice.Items(g.Chooser, 1, 2, func() string { return choice.Pick(g.Chooser, "*", ownDomain.Name(), otherDomain.Name()) })}
	case 6:
		of := choice.Pick(g.Chooser, "ipBlocks", "remoteIpBlocks")
		source := object{of: choice.Items(g.Chooser, 1, 2, g.callerBlock)}
		if g.OneIn(2) {
			source["not"+strings.ToUpper(of[:1])+of[1:]] = []string{g.callerBlock()}
		}
		if g.OneIn(3) {
			source["notNamespaces"] = namespaces()
		}
		return source
	case 10:
		return object{choice.Pick(g.Chooser, "requestPrincipals", "notRequestPrincipals"): []string{choice.Pick(g.Chooser, "*", "https://login.example/alice", "*/bob")}}
	case 0, 7, 8, 9:
		return object{"principals": principals()}
	case 1:
		return object{"principals": principals(), "notNamespaces": namespaces()}
	case 2:
		return object{"notPrincipals": principals()}
	case 3:
		return object{choice.Pick(g.Chooser, "serviceAccounts", "notServiceAccounts"): choice.Items(g.Chooser, 1, 2, func() string { return choice.Pick(g.Chooser, "x", "a/x", "ab/x", "b/y") })}
	default:
		return object{"namespaces": namespaces()}
	}
}

func (g *generator) istioOperation() object {
	lists := map[string]func() string{
		"methods": func() string { return choice.Pick(g.Chooser, append([]string{"*", "P*", "*ST"}, methods...)...) },
		"paths": func() string {
			return choice.Pick(g.Chooser, append([]string{"*", "/a/*", "*/b", "/a/{*}", "/{**}/b"}, paths...)...)
		},
		"hosts": func() string {
			return choice.Pick(g.Chooser, "*", "web.example", "web.*", "*.EXAMPLE", "web.example:8080")
		},
		"ports": func() string { return choice.Pick(g.Chooser, "8080", "5432", "8081", "9090") },
	}
	operation := object{}
	for _, name := range choice.Shuffled(g.Chooser, []string{"methods", "paths", "ports", "hosts"})[:g.Number(1, 2)] {
		key := name
		if g.OneIn(4) {
			key = "not" + strings.ToUpper(name[:1]) + name[1:]
		}
		operation[key] = choice.Items(g.Chooser, 1, 2, lists[name])
	}
	return operation
}
