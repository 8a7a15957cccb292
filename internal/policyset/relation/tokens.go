package relation

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// tokenRules returns the rules of tokens in the policies of Istio, and the policies with one if there is none for the workload.
func (m *relation) tokenRules(c *cases.Case, policies []any) ([]map[string]any, []any) {
	if rules := tree.Objects(policies)["jwtRules"]; len(rules) > 0 {
		return rules, policies
	}
	issuer := "https://" + m.Letters(5) + ".example"
	rule := map[string]any{"issuer": issuer, "jwksUri": issuer + "/keys"}
	return []map[string]any{rule}, append(policies, map[string]any{
		"apiVersion": "security.istio.io/v1", "kind": "RequestAuthentication",
		"metadata": map[string]any{"name": m.Letters(6), "namespace": c.Inbounds[m.inbound].Workload.Namespace},
		"spec":     map[string]any{"jwtRules": []any{rule}},
	})
}

// tokensTogether writes what identity providers write: claims with odd names, an issuer that ends in a slash, and the usual place of a
// token written out. The forms take turns.
func (m *relation) tokensTogether(c *cases.Case, policies []any, form int) []any {
	rules, policies := m.tokenRules(c, policies)
	condition := func(key string, values ...any) {
		for _, rule := range tree.Objects(policies)["rules"] {
			if rule["from"] != nil || rule["to"] != nil || rule["when"] != nil || m.OneIn(3) {
				items, _ := rule["when"].([]any)
				rule["when"] = append(slices.Clone(items), map[string]any{"key": key, choice.Pick(m.Chooser, "values", "values", "notValues"): values})
			}
		}
	}
	switch form {
	case 0:
		sign := choice.Pick(m.Chooser, "_", ":", "-", "/", "//", ".", "https://x.example/")
		name := "[" + m.Letters(5) + sign + m.Letters(4) + "]"
		if m.OneIn(3) {
			name += "[" + m.Letters(3) + "]"
		}
		condition("request.auth.claims"+name, m.Letters(5))
	case 1:
		rule := choice.Pick(m.Chooser, rules...)
		issuer, _ := rule["issuer"].(string)
		if issuer == "" || strings.HasSuffix(issuer, "/") {
			break
		}
		rule["issuer"] = issuer + "/"
		condition("request.auth.principal", issuer+"//"+m.Letters(4)+choice.Pick(m.Chooser, "", "|", ":")+m.Letters(3))
		for _, source := range tree.Objects(policies)["source"] {
			for _, field := range []string{"requestPrincipals", "notRequestPrincipals"} {
				items, _ := source[field].([]any)
				for i, item := range items {
					if subject, ok := strings.CutPrefix(item.(string), issuer+"/"); ok {
						items[i] = issuer + "//" + subject
					}
				}
			}
		}
	case 2:
		for _, rule := range rules {
			bearer := map[string]any{"name": choice.Pick(m.Chooser, "Authorization", "authorization"), "prefix": "Bearer "}
			if rule["fromHeaders"] != nil || rule["fromParams"] != nil || rule["fromCookies"] != nil {
				continue
			}
			switch m.Choose(4) {
			case 0:
				rule["fromParams"] = []any{"access_token"}
			case 1:
				rule["fromHeaders"], rule["fromParams"] = []any{bearer}, []any{"access_token"}
			default:
				rule["fromHeaders"] = []any{bearer}
			}
		}
		condition("request.auth.principal", "*")
	}
	return policies
}

// stars writes stars where few policies have them: alone, in front and behind, in conditions and in lists of what must not be.
func (m *relation) stars(c *cases.Case, policies []any) {
	in := c.Inbounds[m.inbound]
	star := func(text string) any { return choice.Pick(m.Chooser, "*", text+"*", "*"+text, "*"+text) }
	conditions := []string{"source.principal", "source.namespace", "connection.sni", "request.headers[x-" + m.Letters(3) + "]"}
	fields := []string{"notNamespaces", "notPrincipals", "namespaces", "principals"}
	if len(tree.Objects(policies)["jwtRules"]) > 0 {
		conditions = append(conditions, "request.auth.principal", "request.auth.claims["+m.Letters(4)+"]", "request.auth.audiences", "request.auth.presenter")
		fields = append(fields, "notRequestPrincipals", "requestPrincipals", "notRequestPrincipals")
	}
	begin := func(field string) string {
		if strings.HasSuffix(strings.ToLower(field), "principals") && !strings.Contains(strings.ToLower(field), "request") {
			return in.Identity.TrustDomain().Name() + "/ns/" + m.Letters(3)
		}
		return "-" + m.Letters(4)
	}
	// One condition and one source are enough: many stars make more classes than are searched.
	if rules := tree.Objects(policies)["rules"]; len(rules) > 0 {
		rule, key := choice.Pick(m.Chooser, rules...), choice.Pick(m.Chooser, conditions...)
		items, _ := rule["when"].([]any)
		rule["when"] = append(slices.Clone(items), map[string]any{"key": key, choice.Pick(m.Chooser, "values", "notValues", "notValues"): []any{star(begin(key))}})
	}
	if sources := tree.Objects(policies)["source"]; len(sources) > 0 {
		source, field := choice.Pick(m.Chooser, sources...), choice.Pick(m.Chooser, fields...)
		if source[field] == nil && source["serviceAccounts"] == nil && source["notServiceAccounts"] == nil {
			source[field] = []any{star(begin(field))}
		}
	}
}

// dottedTemplates adds path templates whose segments have signs that mean something in a regular expression.
func (m *relation) dottedTemplates(policies []any) {
	sign := func() string { return choice.Pick(m.Chooser, ".", ".", ".", "+", "-", "$", "(a)") }
	for _, operation := range tree.Objects(policies)["operation"] {
		items, _ := operation["paths"].([]any)
		operation["paths"] = append(slices.Clone(items), choice.Pick[any](m.Chooser, "/{*}/"+m.Letters(3)+sign()+m.Letters(3), "/"+m.Letters(2)+sign()+m.Letters(1)+"/{**}", "/{**}/"+m.Letters(2)+sign()+m.Letters(2)))
	}
}

// authenticationsApart has policies of Linkerd refer to an authentication of another namespace, which the own namespace has by the same name with other content.
func (m *relation) authenticationsApart(policies []any) []any {
	if m.profile != feature.LinkerdAuthz {
		return policies
	}
	for _, p := range policies {
		of, _ := p.(map[string]any)
		spec, _ := of["spec"].(map[string]any)
		refs, _ := spec["requiredAuthenticationRefs"].([]any)
		for _, r := range refs {
			ref, _ := r.(map[string]any)
			namespace := ref["namespace"]
			if namespace == nil {
				namespace = tree.Metadata(p)["namespace"]
			}
			i := slices.IndexFunc(policies, func(other any) bool {
				o, _ := other.(map[string]any)
				return o["kind"] == ref["kind"] && tree.Metadata(other)["name"] == ref["name"] && tree.Metadata(other)["namespace"] == namespace
			})
			if i < 0 {
				continue
			}
			twin := tree.Clone(policies[i]).(map[string]any)
			tree.Metadata(twin)["namespace"] = m.Letters(6)
			switch ref["kind"] {
			case "NetworkAuthentication":
				twin["spec"] = map[string]any{"networks": []any{map[string]any{"cidr": m.Address().String() + "/24"}}}
			case "MeshTLSAuthentication":
				twin["spec"] = map[string]any{"identityRefs": []any{map[string]any{"kind": "ServiceAccount", "name": m.Letters(5), "namespace": m.Letters(5)}}}
			default:
				continue
			}
			if ref["namespace"] = tree.Metadata(twin)["namespace"]; m.OneIn(4) {
				delete(ref, "namespace")
			}
			return append(policies, twin)
		}
	}
	return policies
}
