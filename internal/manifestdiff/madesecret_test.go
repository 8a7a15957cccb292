package manifestdiff_test

import "testing"

// TestMadeSecrets has objects that make a Secret: what the Secret is by its labels and its texts counts as that of a Secret.
func TestMadeSecrets(t *testing.T) {
	t.Parallel()
	external := func(template string) string {
		return "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: e, namespace: shop}\nspec: {target: {name: e, template: {" + template + "}}, data: [{secretKey: a}]}\n"
	}
	sealed := func(template string) string {
		return "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: s, namespace: shop}\nspec: {encryptedData: {a: b}, template: {" + template + "}}\n"
	}
	for kind, of := range map[string]func(string) string{"ExternalSecret": external, "SealedSecret": sealed} {
		for _, tt := range []struct{ name, was, is, want string }{
			{"a text", "data: {a: b}", "data: {a: c}", ""},
			{"a label", "metadata: {labels: {team: a}}", "metadata: {labels: {team: b}}", ""},
			{"a cluster of Argo CD", "data: {a: b}", "metadata: {labels: {argocd.argoproj.io/secret-type: cluster}}", kind},
			{"a cluster of Argo CD that changes", "metadata: {labels: {argocd.argoproj.io/secret-type: cluster}}, data: {a: b}", "metadata: {labels: {argocd.argoproj.io/secret-type: cluster}}, data: {a: c}", kind},
			{"a cluster of Istio", "data: {a: b}", "metadata: {labels: {istio/multiCluster: 'true'}}", kind},
			{"a manifest", "data: {a: b}", "data: {a: \"apiVersion: security.istio.io/v1\\nkind: AuthorizationPolicy\\n\"}", kind},
			{"a manifest in another field", "stringData: {a: b}", "stringData: {a: \"apiVersion: security.istio.io/v1\\nkind: AuthorizationPolicy\\n\"}", kind},
		} {
			change{kind + ", " + tt.name, policy, of(tt.was), of(tt.is)}.expect(t, tt.want)
		}
	}
	for name, tt := range map[string]struct{ is, want string }{
		"a text from elsewhere":     {"templateFrom: [{configMap: {name: c, items: [{key: k}]}}]", ""},
		"a text by its name":        {"templateFrom: [{target: Data, literal: 'a: b'}]", ""},
		"labels":                    {"templateFrom: [{target: Labels, literal: 'argocd.argoproj.io/secret-type: cluster'}]", "ExternalSecret"},
		"a field of what is made":   {"templateFrom: [{target: spec.rules, literal: 'a: b'}]", "ExternalSecret"},
		"a manifest":                {"templateFrom: [{literal: \"a: |\\n  apiVersion: security.istio.io/v1\\n  kind: AuthorizationPolicy\\n\"}]", "ExternalSecret"},
		"a label that a text names": {"metadata: {labels: {'{{ .a }}': cluster}}", "ExternalSecret"},
	} {
		change{name, policy, external("data: {a: b}"), external(tt.is)}.expect(t, tt.want)
	}
}
