package diff

import (
	"fmt"
	"strings"
	"testing"
)

// The first rule that lets requests in is told by a note: what kept them out may stand in another folder.
func TestFirstRules(t *testing.T) {
	t.Parallel()
	istio := func(name, app, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: %s, namespace: shop}, spec: {selector: {matchLabels: {app: %s}}, %s}}\n", name, app, spec)
	}
	cilium := func(name, app, rule string) string {
		return fmt.Sprintf("---\n{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: %s, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: %s}}, ingress: [%s]}}\n", name, app, rule)
	}
	const (
		server = "---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: s, namespace: shop}, spec: {podSelector: {matchLabels: {app: web}}, port: 80}}\n"
		grant  = "---\n{apiVersion: policy.linkerd.io/v1alpha1, kind: AuthorizationPolicy, metadata: {name: a, namespace: shop}, spec: {targetRef: {group: policy.linkerd.io, kind: Server, name: s}, requiredAuthenticationRefs: [{kind: ServiceAccount, name: fe}]}}\n"
		deny   = "---\n{type: MeshTrafficPermission, mesh: default, name: p, spec: {}}\n"
		allow  = "---\n{type: MeshTrafficPermission, mesh: default, name: q, spec: {rules: [{default: {allow: [{spiffeId: {type: Prefix, value: 'spiffe://trust-domain.mesh/'}}]}}]}}\n"
	)
	db := istio("db", "db", "rules: []")
	for name, tt := range map[string]struct {
		old, recent string
		want        string
	}{
		"a first rule of Istio":            {db, db + istio("web", "web", "rules: [{}]"), "note: 2 classes of requests get in by a rule now"},
		"a first rule beside a deny":       {istio("d", "web", "action: DENY, rules: [{to: [{operation: {paths: [/a]}}]}]"), istio("d", "web", "action: DENY, rules: [{to: [{operation: {paths: [/a]}}]}]") + istio("web", "web", "rules: [{}]"), "note: "},
		"a first rule of Cilium":           {cilium("db", "db", "{}"), cilium("db", "db", "{}") + cilium("web", "web", "{fromEndpoints: [{matchLabels: {app: fe}}]}"), "note: "},
		"a first rule of Linkerd":          {strings.ReplaceAll(server, "web", "db"), strings.ReplaceAll(server, "web", "db") + strings.ReplaceAll(server+grant, "name: s", "name: t"), "note: "},
		"a first Server that is open":      {strings.ReplaceAll(server, "web", "db"), strings.ReplaceAll(server, "web", "db") + strings.NewReplacer("name: s", "name: t", "port: 80", "port: 80, accessPolicy: all-unauthenticated").Replace(server), "note: 1 class of requests gets in by a rule now"},
		"a first Server that only logs":    {strings.ReplaceAll(server, "web", "db"), strings.ReplaceAll(server, "web", "db") + strings.NewReplacer("name: s", "name: t", "port: 80", "port: 80, accessPolicy: audit").Replace(server), "note: "},
		"the first rule denies":            {db, db + istio("web", "web", "action: DENY, rules: [{}]"), ""},
		"a rule in the place of a rule":    {istio("web", "web", "rules: [{}]"), istio("web2", "web", "rules: [{}]"), ""},
		"a first rule of Kuma, which told": {deny, deny + allow, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := differenceOf(t, tt.old, tt.recent)
			got := strings.Join(d.firstTexts(), "\n")
			if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if strings.Contains(d.Markdown(), "by a rule now") != (tt.want != "") {
				t.Errorf("%s", d.Markdown())
			}
			if len(d.widenings()) > 0 != strings.Contains(name, "which told") {
				t.Errorf("%q", d.widenings())
			}
			d.ForgetNames()
			if text := strings.Join(d.firstTexts(), "\n"); text != got {
				t.Errorf("without names it is %q", text)
			}
		})
	}
}
