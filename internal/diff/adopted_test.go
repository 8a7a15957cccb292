package diff

import (
	"strings"
	"testing"
)

// TestWideningOfCaseAndFolder has a case on one side and policy files on the other one. They are compared on the inbounds of the case,
// whichever side has it, and a policy that selects none of these is not asked.
func TestWideningOfCaseAndFolder(t *testing.T) {
	t.Parallel()
	policy := func(selector, caller string) string {
		return "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {" + selector + "rules: [{from: [{source: {principals: [" + caller + "]}}]}]}}\n"
	}
	caseOf := func(protocol, text string) string {
		return "case: c\nworkloads: [{name: web, namespace: shop, labels: {app: web}, inbounds: [{name: http, port: 8080, protocol: " + protocol + ", mtls: strict}]}]\npolicies: [" + strings.TrimSpace(text) +
			"]\nrequests: [{from: spiffe://trust-domain.mesh/ns/b/sa/b, to: web/http, want: deny}]\n"
	}
	inCase := func(caller string) string { return caseOf("http", policy("", caller)) }
	ofPath := func(text string) string {
		return strings.ReplaceAll(text, "rules: [{", "rules: [{to: [{operation: {paths: [/a]}}], ")
	}
	const (
		one   = "trust-domain.mesh/ns/a/sa/a"
		all   = "'*'"
		ofWeb = "selector: {matchLabels: {app: web}}, "
		ofDB  = "selector: {matchLabels: {app: db}}, "
	)
	for name, tt := range map[string]struct {
		old, recent     string
		widens, unasked bool
	}{
		"a case becomes a folder":               {inCase(one), policy("", one), false, false},
		"a case becomes a wider folder":         {inCase(one), policy("", all), true, false},
		"a case becomes a folder with a label":  {inCase(one), policy(ofWeb, all), true, false},
		"a case becomes one about others":       {inCase(one), policy("", one) + "---\n" + strings.Replace(policy(ofDB, all), "name: p", "name: q", 1), false, true},
		"a folder becomes a case":               {policy("", one), inCase(one), false, false},
		"a folder becomes a wider case":         {policy("", one), inCase(all), true, false},
		"a folder with a label becomes a wider": {policy(ofWeb, one), inCase(all), true, false},
		"a case with a path becomes a folder":   {caseOf("http", ofPath(policy(ofWeb, one))), ofPath(policy(ofWeb, one)), false, false},
		"a folder with a path becomes a case":   {ofPath(policy(ofWeb, one)), caseOf("http", ofPath(policy(ofWeb, one))), false, false},
		"a case with a path becomes a wider":    {caseOf("http", ofPath(policy(ofWeb, one))), ofPath(policy(ofWeb, all)), true, false},
		"a case of tcp becomes a folder":        {caseOf("tcp", policy(ofWeb, one)), policy(ofWeb, one), false, false},
		"a case of tcp becomes a wider folder":  {caseOf("tcp", policy(ofWeb, one)), policy(ofWeb, all), true, false},
		"a case of tcp becomes one with a path": {caseOf("tcp", policy(ofWeb, one)), ofPath(policy(ofWeb, one)), false, false},
		"a case of tcp becomes one of others":   {caseOf("tcp", policy(ofWeb, one)), policy(ofWeb, one) + "---\n" + strings.Replace(policy(ofDB, all), "name: p", "name: q", 1), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := differenceOf(t, tt.old, tt.recent)
			widens := false
			for _, c := range d.Cases {
				widens = widens || c.widens()
			}
			if widens != tt.widens || (len(d.Unasked) > 0) != tt.unasked {
				t.Errorf("widens: %v, not asked: %q", widens, d.Unasked)
			}
		})
	}
}
