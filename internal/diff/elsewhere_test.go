package diff

import (
	"fmt"
	"strings"
	"testing"
)

// danglingChange is a change beside what stays the same, and whether it concerns something that is not there.
type danglingChange struct {
	same, old, recent string
	found             bool
}

func expectDangling(t *testing.T, common string, changes map[string]danglingChange) {
	t.Helper()
	for name, tt := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opens := strings.Join(differenceOf(t, common+tt.same+tt.old, common+tt.same+tt.recent).Opens, "\n")
			if found := strings.Contains(opens, "refer to what is not there"); found != tt.found {
				t.Errorf("found %t, want %t: %q", found, tt.found, opens)
			}
		})
	}
}

// What the policies of a workload refer to may stand in another folder. Where these policies change, nothing is known
// of what they let in.
func TestReferencesElsewhere(t *testing.T) {
	t.Parallel()
	ap := func(name, app, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: %s, namespace: shop}, spec: {selector: {matchLabels: {app: %s}}, %s}}\n", name, app, spec)
	}
	ra := func(issuer string) string {
		return fmt.Sprintf("---\n{apiVersion: security.istio.io/v1, kind: RequestAuthentication, metadata: {name: r, namespace: shop}, spec: {jwtRules: [{issuer: %s, jwksUri: \"https://x\"}]}}\n", issuer)
	}
	of := func(principals string) string {
		return "rules: [{from: [{source: {requestPrincipals: [" + principals + "]}}]}]"
	}
	claims := func(values string) string {
		return "rules: [{when: [{key: 'request.auth.claims[groups]', values: [" + values + "]}]}]"
	}
	const (
		custom = "action: CUSTOM, provider: {name: opa}, rules: [{}]"
		all    = "rules: [{}]"
		some   = "rules: [{from: [{source: {namespaces: [a]}}]}]"
		deny   = "action: DENY, rules: [{to: [{operation: {paths: [/admin]}}]}]"
	)
	expectDangling(t, "", map[string]danglingChange{
		"an unknown authorizer, and nothing changes":       {ap("c", "web", custom), ap("p", "web", some), ap("p", "web", some), false},
		"an unknown authorizer, and another name":          {ap("c", "web", custom), ap("p", "web", some), ap("q", "web", some), false},
		"an unknown authorizer, and another ALLOW":         {ap("c", "web", custom), ap("p", "web", some), ap("p", "web", all), true},
		"an unknown authorizer, and a narrower ALLOW":      {ap("c", "web", custom), ap("p", "web", all), ap("p", "web", some), false},
		"an unknown authorizer, and a DENY more":           {ap("c", "web", custom), ap("p", "web", all), ap("p", "web", all) + ap("d", "web", deny), false},
		"an unknown authorizer asks less":                  {ap("p", "web", all), ap("c", "web", custom), ap("c", "web", strings.Replace(custom, "{}", "{to: [{operation: {paths: [/a]}}]}", 1)), true},
		"an unknown authorizer is new, and all else stays": {ap("p", "web", some), "", ap("c", "web", custom), false},
		"an unknown authorizer is new, and an ALLOW opens": {"", ap("p", "web", some), ap("p", "web", all) + ap("c", "web", custom), true},
		"another unknown authorizer":                       {ap("p", "web", all), ap("c", "web", custom), ap("c", "web", strings.Replace(custom, "opa", "opb", 1)), true},
		"an unknown authorizer and token, and less":        {ap("c", "web", custom), ap("p", "web", of("i/a, i/b")), ap("p", "web", of("i/a")), true},
		"an unknown authorizer, and a DENY goes":           {ap("c", "web", custom), ap("d", "web", deny), "---\n", true},
		"an unknown authorizer, and another workload":      {ap("c", "web", custom), ap("p", "other", all), ap("p", "other", some), false},
		"a DENY of everybody becomes a CUSTOM":             {"", ap("p", "web", "action: DENY, rules: [{}]"), ap("p", "web", custom), true},
		"an ALLOW of nothing becomes a CUSTOM":             {"", ap("p", "web", "rules: []"), ap("p", "web", custom), true},
		"a principal of a token more, and none is read":    {"", ap("p", "web", of("i/a")), ap("p", "web", of("i/a, i/b")), true},
		"a claim more, and no token is read":               {"", ap("p", "web", claims("admin")), ap("p", "web", claims("admin, user")), true},
		"no token is read, and nothing changes":            {"", ap("p", "web", claims("admin")), ap("p", "web", claims("admin")), false},
		"no token is read, and another workload":           {ap("p", "web", claims("admin")), ap("q", "other", all), ap("q", "other", some), false},
		"an issuer whose tokens are not read":              {ra("i"), ap("p", "web", of("i/a")), ap("p", "web", of("i/a, 'partner/*'")), true},
		"a shorter name than the issuer's":                 {ra("i.x"), ap("p", "web", of("i.x/a")), ap("p", "web", of("i/a")), true},
		"a beginning of the issuer":                        {ra("issuer"), ap("p", "web", of("'iss*'")), ap("p", "web", of("issuer/a")), false},
		"an issuer with a slash":                           {ra("https://i/x"), ap("p", "web", of("'https://i/x/*'")), ap("p", "web", of("https://i/x/a")), false},
		"a principal less, of an issuer that is read":      {ra("i"), ap("p", "web", of("i/a, i/b")), ap("p", "web", of("i/a")), false},
		"any principal, and the issuer is read":            {ra("i"), ap("p", "web", of("'*'")), ap("p", "web", of("i/a")), false},
		"the end of a principal, and the issuer is read":   {ra("i"), ap("p", "web", of("'*/a'")), ap("p", "web", of("i/a")), false},
		"policies that are about neither":                  {"", ap("p", "web", all), ap("p", "web", some), false},
		"an unknown authorizer, and a state is stated":     {"---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n" + ap("c", "web", custom), ap("p", "web", some), ap("p", "web", some), false},
		"a principal that is refused, of an issuer unread": {ra("i"), ap("p", "web", "rules: [{from: [{source: {requestPrincipals: ['*'], notRequestPrincipals: [x/a]}}]}]"), ap("p", "web", of("'*'")), true},
	})
}

// An authentication of Linkerd may stand in another folder: the policies that require it let nobody in here.
func TestAuthenticationsElsewhere(t *testing.T) {
	t.Parallel()
	ap := func(name, refs string) string {
		return fmt.Sprintf("---\n{apiVersion: policy.linkerd.io/v1alpha1, kind: AuthorizationPolicy, metadata: {name: %s, namespace: shop}, spec: {targetRef: {group: policy.linkerd.io, kind: Server, name: web}, requiredAuthenticationRefs: [%s]}}\n", name, refs)
	}
	const (
		server    = "---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: web, namespace: shop}, spec: {podSelector: {matchLabels: {app: web}}, port: 8080}}\n"
		fe        = "{kind: ServiceAccount, name: fe}"
		mesh      = "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: m, namespace: other}"
		network   = "{group: policy.linkerd.io, kind: NetworkAuthentication, name: 'n', namespace: other}"
		elsewhere = "---\n{apiVersion: policy.linkerd.io/v1alpha1, kind: NetworkAuthentication, metadata: {name: 'n', namespace: other}, spec: {networks: [{cidr: 10.0.0.0/8}]}}\n"
	)
	expectDangling(t, server, map[string]danglingChange{
		"a policy with an authentication of elsewhere":          {"", "", ap("b", mesh), true},
		"a network of elsewhere":                                {"", "", ap("b", network), true},
		"a policy asks for less than fe and elsewhere":          {"", ap("b", fe+", "+network), ap("b", network), true},
		"another policy":                                        {ap("b", mesh), ap("a", fe), ap("a", "{kind: ServiceAccount, name: be}"), false},
		"nothing changes":                                       {ap("b", mesh), ap("a", network), ap("c", network), false},
		"the authentication is there":                           {elsewhere, "", ap("b", network), false},
		"the authentication of the policy is a service account": {"", "", ap("b", fe), false},
	})
}

// A sidecar of Istio trusts the last entry of x-forwarded-for, which every caller may write: a remote address is less
// than the address of the connection.
func TestWideningByTheRemoteAddress(t *testing.T) {
	t.Parallel()
	ap := func(name, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: %s, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, %s}}\n", name, spec)
	}
	from := func(source string) string { return "rules: [{from: [{source: {" + source + "}}]}]" }
	when := func(key string) string { return "rules: [{when: [{key: " + key + ", values: [10.0.0.0/8]}]}]" }
	all := ap("all", "rules: [{}]")
	for name, tt := range map[string]struct {
		old, recent   string
		widens, backs bool
	}{
		"an ALLOW":       {ap("p", from("ipBlocks: [10.0.0.0/8]")), ap("p", from("remoteIpBlocks: [10.0.0.0/8]")), true, true},
		"a condition":    {ap("p", when("source.ip")), ap("p", when("remote.ip")), true, true},
		"a DENY":         {all + ap("p", "action: DENY, "+from("ipBlocks: [10.0.0.0/8]")), all + ap("p", "action: DENY, "+from("remoteIpBlocks: [10.0.0.0/8]")), true, true},
		"one of two":     {ap("p", from("ipBlocks: [10.0.0.0/8], remoteIpBlocks: [10.0.0.0/8]")), ap("p", from("remoteIpBlocks: [10.0.0.0/8]")), true, false},
		"a larger one":   {ap("p", from("remoteIpBlocks: [10.0.0.0/9]")), ap("p", from("remoteIpBlocks: [10.0.0.0/8]")), true, false},
		"it is the same": {ap("p", from("remoteIpBlocks: [10.0.0.0/8]")), ap("p", from("remoteIpBlocks: [10.0.0.0/8]")), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if widens := widened(t, tt.old, tt.recent) > 0; widens != tt.widens {
				t.Errorf("widens: %t, want %t", widens, tt.widens)
			}
			if backs := widened(t, tt.recent, tt.old) > 0; backs != tt.backs {
				t.Errorf("back, widens: %t, want %t", backs, tt.backs)
			}
		})
	}
}
