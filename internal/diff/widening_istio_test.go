package diff

import (
	"fmt"
	"strings"
	"testing"
)

// Each row of Istio's policies widens access to a workload that can exist, or may do so: the
// verdict says it. No row says anything of policies that stay.
func TestWideningOfIstio(t *testing.T) {
	t.Parallel()
	document := func(kind, name, namespace, annotations, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: security.istio.io/v1, kind: %s, metadata: {name: %s, namespace: %s, annotations: {%s}}, spec: {%s}}\n", kind, name, namespace, annotations, spec)
	}
	ap := func(name, namespace, spec string) string {
		return document("AuthorizationPolicy", name, namespace, "", spec)
	}
	pa := func(name, namespace, spec string) string {
		return document("PeerAuthentication", name, namespace, "", spec)
	}
	ra := func(name, namespace, spec string) string {
		return document("RequestAuthentication", name, namespace, "", spec)
	}
	const (
		root    = "istio-system"
		dry     = `"istio.io/dry-run": "true"`
		all     = "rules: [{}]"
		friend  = "rules: [{from: [{source: {principals: [trust-domain.mesh/ns/a/sa/b]}}]}]"
		deny    = "action: DENY, rules: [{}]"
		one     = "selector: {matchLabels: {app: a}}, "
		two     = "selector: {matchLabels: {app: a, env: x}}, "
		login   = `jwtRules: [{issuer: i, jwksUri: "https://i/keys"}]`
		another = `jwtRules: [{issuer: i, jwksUri: "https://i/keys"}, {issuer: j, jwksUri: "https://j/keys"}]`
	)
	rule := func(text string) string { return "rules: [{" + text + "}]" }
	denied := func(text string) string { return "action: DENY, rules: [{" + text + "}]" }
	to := func(text string) string { return "to: [{operation: {" + text + "}}]" }
	from := func(text string) string { return "from: [{source: {" + text + "}}]" }
	when := func(key, values string) string { return fmt.Sprintf("when: [{key: %q, %s}]", key, values) }
	const three, strict = "selector: {matchLabels: {tier: t}}, ", "selector: {matchLabels: {env: x}}, mtls: {mode: STRICT}"
	const staff = `principals: [trust-domain.mesh/ns/a/sa/b], requestPrincipals: ["*"], notRequestPrincipals: ["i/*"]`
	older := func(name, date, spec string) string {
		return strings.Replace(pa(name, "default", spec), "metadata: {", "metadata: {creationTimestamp: '"+date+"T00:00:00Z', ", 1)
	}
	disabled := pa("m", root, "mtls: {mode: DISABLE}") + ap("none", root, "") + ap("p", "default", one+friend)
	for name, tt := range map[string]struct{ same, old, recent string }{
		"the last ALLOW is lost":                    {"", ap("p", "default", friend), "---\n"},
		"the only DENY, of plaintext, is lost":      {"", ap("p", "default", denied(from(`notPrincipals: ["*"]`))), "---\n"},
		"an ALLOW of another namespace":             {"", ap("p", "default", friend), ap("p", "other", friend)},
		"an ALLOW of the root goes to one":          {"", ap("p", root, friend), ap("p", "default", friend)},
		"a DENY is lost":                            {ap("p", "default", all), ap("d", "default", deny), ""},
		"a DENY becomes a dry run":                  {ap("p", "default", all), ap("d", "default", deny), document("AuthorizationPolicy", "d", "default", dry, deny)},
		"the only ALLOW becomes a dry run":          {"", ap("p", "default", friend), document("AuthorizationPolicy", "p", "default", dry, friend)},
		"a DENY becomes an AUDIT":                   {ap("p", "default", all), ap("d", "default", deny), ap("d", "default", "action: AUDIT, rules: [{}]")},
		"a DENY selects less":                       {ap("p", "default", all), ap("d", "default", one+deny), ap("d", "default", two+deny)},
		"a DENY selects others":                     {ap("p", "default", all), ap("d", "default", one+deny), ap("d", "default", "selector: {matchLabels: {app: b}}, "+deny)},
		"an ALLOW selects less, and is the only":    {"", ap("p", "default", one+friend), ap("p", "default", two+friend)},
		"one rule more":                             {"", ap("p", "default", friend), ap("p", "default", "rules: [{from: [{source: {principals: [trust-domain.mesh/ns/a/sa/b]}}]}, {to: [{operation: {paths: [/open]}}]}]")},
		"a star at the end":                         {"", ap("p", "default", rule(from("principals: [trust-domain.mesh/ns/a/sa/b]"))), ap("p", "default", rule(from(`principals: ["trust-domain.mesh/ns/a/sa/b*"]`)))},
		"a star at the start":                       {"", ap("p", "default", rule(from("principals: [trust-domain.mesh/ns/a/sa/b]"))), ap("p", "default", rule(from(`principals: ["*/ns/a/sa/b"]`)))},
		"a namespace more":                          {"", ap("p", "default", rule(from("namespaces: [a]"))), ap("p", "default", rule(from("namespaces: [a, b]")))},
		"no principal becomes one":                  {"", ap("p", "default", denied(from(`notPrincipals: ["*"]`))+""), ap("p", "default", denied(from(`notPrincipals: ["*"], namespaces: [a]`)))},
		"an account of another namespace":           {"", ap("p", "default", rule(from("serviceAccounts: [a/x]"))), ap("p", "default", rule(from("serviceAccounts: [b/x]")))},
		"a larger block":                            {"", ap("p", "default", rule(from("ipBlocks: [10.1.0.0/16]"))), ap("p", "default", rule(from("ipBlocks: [10.0.0.0/15]")))},
		"an exception of a block is lost":           {"", ap("p", "default", rule(from("ipBlocks: [10.1.0.0/16], notIpBlocks: [10.1.9.0/24]"))), ap("p", "default", rule(from("ipBlocks: [10.1.0.0/16]")))},
		"a remote block":                            {"", ap("p", "default", rule(from("remoteIpBlocks: [10.1.0.0/16]"))), ap("p", "default", rule(from("remoteIpBlocks: [10.1.0.0/16, 10.2.0.1]")))},
		"a trust domain":                            {"", ap("p", "default", rule(from("trustDomains: [trust-domain.mesh]"))), ap("p", "default", rule(from("trustDomains: [trust-domain.mesh, partner.mesh]")))},
		"a port more":                               {"", ap("p", "default", rule(to(`ports: ["9090"]`))), ap("p", "default", rule(to(`ports: ["9090", "9091"]`)))},
		"another port for a DENY":                   {ap("p", "default", all), ap("d", "default", denied(to(`ports: ["9090"]`))), ap("d", "default", denied(to(`ports: ["9091"]`)))},
		"a port that is not":                        {ap("p", "default", all), ap("d", "default", denied(to(`notPorts: ["9090"]`))), ap("d", "default", denied(to(`notPorts: ["9090", "9091"]`)))},
		"a path":                                    {"", ap("p", "default", rule(to("paths: [/a]"))), ap("p", "default", rule(to(`paths: ["/a*"]`)))},
		"a template takes slashes":                  {"", ap("p", "default", rule(to(`paths: ["/a/{*}/b"]`))), ap("p", "default", rule(to(`paths: ["/a/{**}"]`)))},
		"a path that is not":                        {ap("p", "default", all), ap("d", "default", denied(to(`notPaths: [/a]`))), ap("d", "default", denied(to(`notPaths: [/a, /b]`)))},
		"a path with an asterisk, on tcp":           {"", ap("p", "default", rule(to("paths: [/a]"))), ap("p", "default", rule(to("paths: [/a]"))+"") + ap("q", "default", rule(to(`ports: ["5432"]`)))},
		"a method":                                  {"", ap("p", "default", rule(to("methods: [GET]"))), ap("p", "default", rule(to(`methods: ["G*"]`)))},
		"any method becomes any protocol":           {"", ap("p", "default", rule(to(`methods: ["*"]`))), ap("p", "default", all)},
		"any method of a friend, on tcp":            {"", ap("p", "default", rule(from("namespaces: [a]")+", "+to(`methods: ["*"]`))), ap("p", "default", rule(from("namespaces: [a]")+", "+to(`ports: ["5432", "8080"]`)))},
		"a host with a port":                        {"", ap("p", "default", rule(to("hosts: [a.example]"))), ap("p", "default", rule(to(`hosts: ["a.example*"]`)))},
		"a header":                                  {"", ap("p", "default", rule(when("request.headers[x-role]", "values: [a]"))), ap("p", "default", rule(when("request.headers[x-role]", `values: ["*"]`)))},
		"a header that is not":                      {ap("p", "default", all), ap("d", "default", denied(when("request.headers[x-role]", "notValues: [a]"))), ap("d", "default", denied(when("request.headers[x-role]", "notValues: [a, b]")))},
		"a header that becomes another":             {"", ap("p", "default", rule(when("request.headers[x-a]", "values: [a]"))), ap("p", "default", rule(when("request.headers[x-b]", "values: [a]")))},
		"a server name":                             {"", ap("p", "default", rule(when("connection.sni", "values: [a.example]"))), ap("p", "default", rule(when("connection.sni", `values: ["*.example"]`)))},
		"a condition is lost":                       {"", ap("p", "default", "rules: [{"+from("namespaces: [a]")+", "+when("connection.sni", "values: [a.example]")+"}]"), ap("p", "default", rule(from("namespaces: [a]")))},
		"a condition on a DENY":                     {ap("p", "default", all), ap("d", "default", denied(from("namespaces: [a]"))), ap("d", "default", "action: DENY, rules: [{"+from("namespaces: [a]")+", "+when("source.ip", "values: [10.0.0.0/8]")+"}]")},
		"from and to of two rules become one":       {ap("p", "default", all), ap("d", "default", "action: DENY, rules: [{"+from("namespaces: [a]")+"}, {"+to("paths: [/x]")+"}]"), ap("d", "default", "action: DENY, rules: [{"+from("namespaces: [a]")+", "+to("paths: [/x]")+"}]")},
		"a token of any subject":                    {ra("l", "default", login), ap("p", "default", rule(from("requestPrincipals: [i/s]"))), ap("p", "default", rule(from(`requestPrincipals: ["i/*"]`)))},
		"a claim":                                   {ra("l", "default", login), ap("p", "default", rule(when("request.auth.claims[groups]", "values: [a]"))), ap("p", "default", rule(when("request.auth.claims[groups]", "values: [a, b]")))},
		"an issuer more":                            {ap("p", "default", rule(from(`requestPrincipals: ["*"]`))), ra("l", "default", login), ra("l", "default", another)},
		"tokens are not read any more":              {ap("p", "default", all), ra("l", "default", login), ""},
		"mTLS is permissive for a workload":         {ap("p", "default", all), pa("m", "default", one+"mtls: {mode: STRICT}"), pa("m", "default", one+"mtls: {mode: PERMISSIVE}")},
		"mTLS is permissive on a port":              {ap("p", "default", all), pa("m", "default", one+"mtls: {mode: STRICT}"), pa("m", "default", one+"mtls: {mode: STRICT}, portLevelMtls: {8080: {mode: PERMISSIVE}}")},
		"mTLS is off":                               {ap("p", "default", all), pa("m", "default", "mtls: {mode: STRICT}"), pa("m", "default", "mtls: {mode: DISABLE}")},
		"the mesh is permissive":                    {ap("p", "default", all), pa("m", root, "mtls: {mode: STRICT}"), pa("m", root, "mtls: {mode: PERMISSIVE}")},
		"strict mTLS goes to another namespace":     {ap("p", "default", all), pa("m", "default", "mtls: {mode: STRICT}"), pa("m", "other", "mtls: {mode: STRICT}")},
		"a custom authorizer is lost":               {"", ap("p", "default", friend), ap("p", "default", friend+"") + ap("q", "default", "rules: [{to: [{operation: {methods: [OPTIONS]}}]}]")},
		"a mode for fewer workloads":                {ap("p", "default", all), pa("m", "default", "mtls: {mode: PERMISSIVE}") + pa("'n'", "default", one+"mtls: {mode: STRICT}"), pa("m", "default", "mtls: {mode: PERMISSIVE}") + pa("'n'", "default", two+"mtls: {mode: STRICT}")},
		"a DENY that is kept, on other ports":       {ap("none", root, "") + ap("ports", root, denied(to(`notPorts: ["8443"]`))) + ap("p", "default", one+friend), ap("d", "default", three+deny), ""},
		"two modes of one workload by their age":    {disabled + older("'n'", "2024-05-01", three+"mtls: {mode: PERMISSIVE}"), older("o", "2024-01-01", "selector: {matchLabels: {env: x}}, mtls: {mode: DISABLE}"), ""},
		"a mode and tokens":                         {pa("m", root, "mtls: {mode: DISABLE}") + pa("'n'", "default", strict) + ra("corp", root, login) + ra("jwt", "default", three+`jwtRules: [{issuer: j, jwksUri: "https://j/keys"}]`), ap("p", "default", one+rule(from(staff)+", "+to("methods: [GET]"))), ap("p", "default", one+rule(from(staff)+", "+to("methods: [GET, POST]")))},
		"a DENY and an ALLOW, where names are read": {disabled + pa("'n'", "default", strict), ap("d", "default", three+deny), ""},
		"names are read of callers that one allows": {disabled + ap("d", "default", three+denied(from(`notPrincipals: ["*"]`))), "", pa("'n'", "default", strict)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if n := len(differenceOf(t, tt.same+tt.old, tt.same+tt.recent).widenings()); n == 0 {
				t.Errorf("nothing widens from\n%s\nto\n%s\nbeside\n%s", tt.old, tt.recent, tt.same)
			}
			if back := differenceOf(t, tt.same+tt.old, tt.same+tt.old).widenings(); len(back) > 0 {
				t.Errorf("no change widens: %q", back)
			}
		})
	}
}

// TestTokensBesideAPolicyOfTheSameWorkloads opens workloads that read the tokens of users, and have a policy with the selector of
// their RequestAuthentication.
func TestTokensBesideAPolicyOfTheSameWorkloads(t *testing.T) {
	t.Parallel()
	object := func(kind, name, label, spec string) string {
		return "---\n{apiVersion: security.istio.io/v1, kind: " + kind + ", metadata: {name: " + name + ", namespace: shop}, spec: {selector: {matchLabels: {" + label + "}}, " + spec + "}}\n"
	}
	same := object("RequestAuthentication", "tokens", "app: a", "jwtRules: [{issuer: 'https://login.example', jwksUri: 'https://login.example/keys'}]") +
		object("AuthorizationPolicy", "front", "app: a", "rules: [{from: [{source: {principals: [cluster.local/ns/shop/sa/front]}}], to: [{operation: {paths: [/front]}}]}]") +
		object("AuthorizationPolicy", "users", "role: r", "rules: [{from: [{source: {requestPrincipals: ['https://login.example/*']}}]}]") +
		object("AuthorizationPolicy", "admin", "tier: x", "action: DENY, rules: [{to: [{operation: {paths: [/admin]}}]}]")
	old := same + object("AuthorizationPolicy", "bob", "tier: x", "action: DENY, rules: [{from: [{source: {requestPrincipals: ['https://login.example/bob']}}], to: [{operation: {paths: [/orders]}}]}]")
	if n := widened(t, old, same); n == 0 {
		t.Error("no class of requests widens")
	}
}
